"""What each host did for a study, from the rows of the store."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lsmtune.store.home import Home
from lsmtune.store.open_runs import LostRun, OpenRun
from lsmtune.store.records import StoredStudy, StoredTrial
from lsmtune.study.history import History
from lsmtune.trials import Role, Status


@dataclass(frozen=True, slots=True)
class HostUse:
    """What one host did for a study.

    `name` is None for the machine of the command. `runs` is the number of stored runs by role,
    without disturbed runs that ran again. `measured_s` is the time of all stored runs.
    `under_way` is the title of the run that the host got last, if its result is not stored.
    `lost` is the number of attempts that gave no result in time, and `last_reason` says why the
    last of them did not. `lost_s` is their time, without those whose result came late and counted.
    `baseline` is the objective of its baseline divided by that of all hosts, and `set_aside` says
    why its runs do not count any more.
    """

    name: str | None
    runs: Mapping[Role, int] = field(default_factory=dict)
    measured_s: float = 0.0
    under_way: str | None = None
    lost: int = 0
    lost_s: float = 0.0
    last_reason: str | None = None
    baseline: float | None = None
    set_aside: str | None = None


def hosts_of(home: Home, study: StoredStudy, history: History) -> tuple[HostUse, ...]:
    """Return what each host did for a stored study, and how its baseline compares."""
    found = hosts_used(history.runs, home.open_runs(study), home.lost_runs(study))
    standings = history.standings
    return tuple(
        replace(
            use,
            baseline=standings[use.name].level if len(standings) > 1 else None,
            set_aside=standings[use.name].why if standings[use.name].is_set_aside else None,
        )
        if use.name in standings
        else use
        for use in found
    )


def hosts_used(
    trials: Sequence[StoredTrial], open_runs: Sequence[OpenRun], lost_runs: Sequence[LostRun]
) -> tuple[HostUse, ...]:
    """Return what each host did, by name; the machine of the command is last.

    Nothing if the study used no hosts.
    """
    titles = _under_way(open_runs, lost_runs)
    names = {*(trial.host for trial in trials), *(row.host for row in lost_runs), *titles}
    if not names - {None}:
        return ()
    counted = {trial.attempt for trial in trials}
    uses = []
    for name in sorted(names, key=lambda name: (name is None, name or "")):
        ran = [trial for trial in trials if trial.host == name]
        lost = [row for row in lost_runs if row.host == name]
        wasted = (row for row in lost if row.attempt not in counted)
        uses.append(
            HostUse(
                name=name,
                runs=Counter(
                    sorted(t.role for t in ran if t.result.status is not Status.DISTURBED)
                ),
                measured_s=sum(trial.duration_s for trial in ran),
                under_way=None if name is None else titles.get(name),
                lost=len(lost),
                lost_s=sum(row.lost_s for row in wasted),
                last_reason=lost[-1].reason if lost else None,
            )
        )
    return tuple(uses)


def _under_way(open_runs: Iterable[OpenRun], lost_runs: Iterable[LostRun]) -> dict[str, str]:
    """Return the title of the last run of each host that may still give its result.

    The row of a lost attempt stays while its run has no result. A host may come back with it.
    """
    lost = {row.attempt: row for row in lost_runs}
    newest = {row.run: row.attempt for row in open_runs}
    titles = {}
    for row in open_runs:
        loss = lost.get(row.attempt)
        is_back = loss is not None and loss.back_at is not None
        if is_back or (loss is None and newest[row.run] == row.attempt):
            titles[row.host] = row.rerun.title
    return titles
