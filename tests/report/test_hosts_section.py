"""The hosts of a study: in words, and as a section of its page."""

from dataclasses import replace

from sample import study_view

from fakes.visible_text import visible_texts
from lsmtune.analysis.hosts_used import HostUse
from lsmtune.report.page import render_page
from lsmtune.report.text.hosts_text import host_columns, runs_text, short_host
from lsmtune.trials import Role

ALPHA = HostUse(
    "alpha-3f2a9b1c", {Role.BASE: 2, Role.TRIAL: 5, Role.VERIFY_BASE: 3, Role.VERIFY_BEST: 3},
    182.0,
)  # fmt: skip
BETA = HostUse(
    "beta-77e01d20", {Role.TRIAL: 1}, 14.0, "search 7 of 16", 2, 51.0, "the disk is full"
)


def texts(*hosts: HostUse) -> list[str]:
    return list(visible_texts(render_page(study_view(hosts=hosts))))


def test_page_lists_hosts_with_what_they_ran_and_lost() -> None:
    found = texts(ALPHA, BETA)
    page = " ".join(found)
    assert {"alpha-3f2a9b1c", "beta-77e01d20", "search 7 of 16"} <= set(found)
    assert "the disk is full" in page
    assert "2 hosts" in page
    assert "2 lost attempts" in page


def test_page_of_one_host_or_none_has_no_list_of_hosts() -> None:
    for hosts in ((), (ALPHA,)):
        assert "The runs of each host" not in texts(*hosts)


def test_a_pair_is_counted_once() -> None:
    assert runs_text(ALPHA) == "5 trials, 2 baseline runs, 3 pairs"


def test_columns_without_a_text_are_left_out() -> None:
    heads = [[column.head for column in host_columns(hosts)] for hosts in ([ALPHA], [ALPHA, BETA])]
    assert heads == [["runs", "time"], ["runs", "time", "under way", "lost", "last lost because"]]


def test_a_host_that_is_set_aside_has_its_baseline_and_the_reason() -> None:
    found = texts(replace(ALPHA, baseline=0.7), replace(BETA, baseline=1.4, set_aside="it differs"))
    assert {"0.70 \N{MULTIPLICATION SIGN}", "1.40 \N{MULTIPLICATION SIGN}"} <= set(found)
    assert "it differs" in " ".join(found)


def test_traceback_is_shown_by_its_last_line() -> None:
    host = HostUse("a", lost=1, last_reason="Traceback\n  File x\nKeyError: 'y'\n")
    (reason,) = (c.cell(host) for c in host_columns([host]) if c.head == "last lost because")
    assert reason == "KeyError: 'y'"


def test_long_name_of_a_host_keeps_its_id() -> None:
    assert short_host("alpha-3f2a9b1c") == "alpha-3f2a9b1c"
    long = short_host("ip-10-0-13-24.eu-central-1.compute.internal-3f2a9b1c")
    assert len(long) <= 20
    assert long.startswith("ip-10-0-13")
    assert long.endswith("3f2a9b1c")
