"""Lines of a LOG that name a cause: how often each was written, and the first of them."""

import re

from lsmtune.metrics.log_notices import Notice, NoticeLedger

DISABLED = "2026/11/21-21:17:44.881941 9854 [db/db_filesnapshot.cc:38] File Deletions Disabled"
SPACE = "No space left on device"
WANTED = {
    "no space": SPACE,
    "deletions off": "File Deletions Disabled",
    "timers": ("stats level: ", re.compile("level: [45]")),
}


def ledger(*lines: str) -> NoticeLedger:
    taken = NoticeLedger(WANTED)
    for line in lines:
        taken.take(line)
    return taken


def test_each_notice_is_counted_and_its_first_line_is_kept() -> None:
    first, long = f"{SPACE}: 000007.sst", f"{SPACE}: {'x' * 1000}"
    taken = ledger("nothing of interest", first, DISABLED, long)
    assert taken.notices == {
        "no space": Notice(2, first, last=3), "deletions off": Notice(1, DISABLED, last=2)
    }  # fmt: skip
    assert taken.count("no space") == 2
    assert taken.count("cache full") == 0
    assert len(ledger(long).notices["no space"].first) == 300


def test_a_line_with_two_notices_counts_once() -> None:
    taken = ledger(f"{SPACE}: {DISABLED}", f"{DISABLED}: {SPACE}")
    assert taken.count("no space") + taken.count("deletions off") == 2


def test_a_pattern_must_be_in_the_line_too() -> None:
    taken = ledger("stats level: 3", "stats level: 5")
    assert taken.notices == {"timers": Notice(1, "stats level: 5", last=1)}


def test_lines_that_show_what_a_log_contains_are_always_counted() -> None:
    taken = NoticeLedger()
    taken.take("Recovered from manifest file:db/MANIFEST-1 succeeded")
    taken.take(DISABLED)
    assert taken.notices.keys() == {"manifest read"}
