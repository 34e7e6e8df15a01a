"""What each host did for a study, from stored rows."""

from dataclasses import replace

from lsmtune.analysis.hosts_used import HostUse, hosts_used
from lsmtune.knobs.types import Config
from lsmtune.store.open_runs import LostRun, OpenRun, Rerun
from lsmtune.store.records import Asked, StoredTrial
from lsmtune.testing.scripted import measured
from lsmtune.trials import Protocol, Role, Status, TrialResult, TrialSpec
from lsmtune.workloads import Workload

SPEC = TrialSpec(settings={}, workload=Workload(), protocol=Protocol(), seed=1)


def ran(attempt: str | None, host: str | None, role: Role = Role.TRIAL) -> StoredTrial:
    return StoredTrial(
        0, role, Config({}), SPEC, measured(write_amp=2.0), "2026-01-01T00:00:00+00:00", 5.0,
        None, None, "s/00000", host, attempt,
    )  # fmt: skip


def given(attempt: str, host: str, title: str = "search 5 of 16") -> OpenRun:
    rerun = Rerun(title=title, base_settings={}, repeats=2)
    return OpenRun(
        attempt, host, Role.TRIAL, Config({}), SPEC, rerun, Asked(0), "2026-01-01T00:00:00+00:00"
    )


def lost(attempt: str, host: str, seconds: int, reason: str = "the host left") -> LostRun:
    return LostRun(
        attempt, host, Role.TRIAL, "2026-01-01T00:00:00+00:00",
        f"2026-01-01T00:00:{seconds:02}+00:00", reason,
    )  # fmt: skip


def use(uses: tuple[HostUse, ...], name: str | None) -> HostUse:
    (found,) = (one for one in uses if one.name == name)
    return found


def test_study_without_hosts_has_none() -> None:
    assert hosts_used([ran(None, None)], [], []) == ()


def test_runs_are_counted_by_host_and_role() -> None:
    trials = [
        ran("a.0", "alpha", Role.BASE), ran("b.0", "alpha"), ran("c.0", "beta"),
        ran("d.0", "alpha"), ran(None, None),
    ]  # fmt: skip
    uses = hosts_used(trials, [], [])
    assert [one.name for one in uses] == ["alpha", "beta", None]
    assert use(uses, "alpha").runs == {Role.BASE: 1, Role.TRIAL: 2}
    assert [one.measured_s for one in uses] == [15.0, 5.0, 5.0]
    assert all((one.lost, one.lost_s, one.last_reason) == (0, 0.0, None) for one in uses)


def test_disturbed_run_takes_time_but_is_no_run() -> None:
    again = TrialResult(status=Status.DISTURBED, reason="others used the CPU")
    (alpha,) = hosts_used([ran("a.0", "alpha"), replace(ran("b.0", "alpha"), result=again)], [], [])
    assert alpha.runs == {Role.TRIAL: 1}
    assert alpha.measured_s == 10.0


def test_lost_attempts_have_their_time_and_the_last_reason() -> None:
    rows = [lost("a.0", "alpha", 10), lost("b.0", "alpha", 5, "the disk is full")]
    (alpha,) = hosts_used([], [], rows)
    assert (alpha.lost, alpha.lost_s, alpha.last_reason) == (2, 15.0, "the disk is full")


def test_late_result_that_counted_is_no_lost_time() -> None:
    (alpha,) = hosts_used([ran("a.0", "alpha")], [], [lost("a.0", "alpha", 10)])
    assert (alpha.lost, alpha.lost_s) == (1, 0.0)


def test_clock_that_was_set_back_is_no_lost_time() -> None:
    row = replace(lost("a.0", "alpha", 0), ended_at="2025-12-31T23:00:00+00:00")
    assert row.lost_s == 0.0


def test_run_is_under_way_on_the_host_that_may_still_end_it() -> None:
    # alpha lost the run, and beta has it now.
    rows = [given("a.0", "alpha"), given("a.1", "beta")]
    uses = hosts_used([], rows, [lost("a.0", "alpha", 10)])
    assert [one.under_way for one in uses] == [None, "search 5 of 16"]
    # alpha came back with it.
    back = replace(lost("a.0", "alpha", 10), back_at="2026-01-01T00:01:00+00:00")
    uses = hosts_used([], rows, [back])
    assert [one.under_way for one in uses] == ["search 5 of 16", "search 5 of 16"]
    # A command was killed, and the next one did not find alpha.
    uses = hosts_used([], rows, [])
    assert [(one.name, one.under_way) for one in uses] == [("beta", "search 5 of 16")]


def test_host_has_the_run_that_it_got_last() -> None:
    rows = [given("a.0", "alpha"), given("b.0", "alpha", "search 6 of 16")]
    (alpha,) = hosts_used([], rows, [])
    assert alpha.under_way == "search 6 of 16"
