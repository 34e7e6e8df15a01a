"""Which hosts a study can use: a host that disagrees with the others or drifts is set aside."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp, inf, log, sqrt
from statistics import fmean
from typing import Literal

from lsmtune.objective import Objective, median_metrics
from lsmtune.store.records import StoredTrial
from lsmtune.trials import Status, TrialResult

MOST_APART = 0.25
"""Hosts whose baselines differ by more are other machines: they may rank configs differently."""
_SURE = 3.0
"""A difference must also exceed this number of standard deviations of the noise."""
_IN_A_ROW = 2
"""A host drifts if so many runs of its baseline in a row are far from its earlier ones."""
_FEWEST_REPEATS = 2
_NO_RUN = -1
_FEWEST_HOSTS = 3
"""Of two hosts that differ, nobody knows which one is wrong."""

Kind = Literal["used", "checked", "differs", "drifts", "fails"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What the runs of its baseline say of a host.

    It is `used`, to be `checked` by one more run, or set aside. `ratio` is its baseline divided by
    that of the other hosts, or its last runs divided by its earlier ones if it `drifts`. The runs
    of the host up to the number `last` count; all if it is None. `level` is the objective of its
    baseline divided by the mean of all hosts; None if it has not been measured.
    """

    kind: Kind
    ratio: float = 1.0
    last: int | None = None
    level: float | None = None

    @property
    def is_set_aside(self) -> bool:
        """Whether the host gets no more runs."""
        return self.kind not in ("used", "checked")

    def counts(self, number: int) -> bool:
        """Return whether the run of this number counts, if the host ran it."""
        return self.last is None or number <= self.last

    @property
    def why(self) -> str:
        """Why the host is set aside, after its name and a colon."""
        most = f"{MOST_APART:.0%}".replace("%", " %")
        if self.kind == "differs":
            return (
                f"the objective of its baseline is {self.ratio:.2f} × that of the other hosts, "  # noqa: RUF001
                f"and equal machines differ by at most {most}; its runs do not count"
            )
        if self.kind == "drifts":
            return (
                f"the objective of its baseline is now {self.ratio:.2f} × what it was before; its "  # noqa: RUF001
                "runs since then do not count"
            )
        return "it could not run the baseline; its runs since then do not count"


@dataclass(slots=True)
class _Host:
    """The baseline on one host: numbers and logarithms of its runs; the last ones may be `off`."""

    numbers: list[int] = field(default_factory=list)
    logs: list[float] = field(default_factory=list)
    off: list[float] = field(default_factory=list)
    fails: bool = False

    def add(self, number: int, value: float, most: float) -> None:
        """Add a run; it is off if it is farther than `most` from the earlier ones."""
        self.fails = False
        if len(self.off) >= _IN_A_ROW or (self.logs and abs(value - fmean(self.logs)) > most):
            self.off.append(value)
            return
        self.off.clear()
        self.numbers.append(number)
        self.logs.append(value)

    def standing(self) -> Standing:
        """Return its standing, as far as its own runs tell."""
        last = self.numbers[-1] if self.numbers else _NO_RUN
        if len(self.off) >= _IN_A_ROW:
            return Standing("drifts", exp(fmean(self.off) - fmean(self.logs)), last)
        if self.fails:
            return Standing("fails", last=last)
        return Standing("checked" if self.off else "used")


def standings(
    base: Iterable[StoredTrial], objective: Objective, base_runs: int
) -> dict[str, Standing]:
    """Return the standing of each host, from the runs of the baseline in their order.

    `base_runs` is how often each host runs the baseline first. The objective decides, because it
    ranks the configs. Runs without a host, and those that others disturbed, say nothing.
    """
    runs = [run for run in base if run.host is not None and run.result.status != Status.DISTURBED]
    values, first = _values(runs, objective), max(_FEWEST_REPEATS, base_runs)
    of_host: dict[str, list[float]] = {}
    for run in runs:
        if run.number in values:
            of_host.setdefault(str(run.host), []).append(values[run.number])
    noise = _noise([logs[:first] for logs in of_host.values()])
    hosts: dict[str, _Host] = {}
    for run in runs:
        host = hosts.setdefault(str(run.host), _Host())
        if run.result.status is not Status.COMPLETE or is_overloaded(run.result):
            host.fails = True
        elif run.number in values:
            is_first = noise is None or len(host.logs) < first
            most = inf if is_first else _far(noise or 0.0, len(host.logs))
            host.add(run.number, values[run.number], most)
    found = {name: host.standing() for name, host in hosts.items()}
    trusted = {
        name: host.logs
        for name, host in hosts.items()
        if not found[name].is_set_aside and len(host.logs) >= first
    }
    found |= {} if noise is None else _apart(trusted, noise)
    means = {name: fmean([*host.logs, *host.off]) for name, host in hosts.items() if host.logs}
    middle = fmean(means.values()) if means else 0.0
    levels = {name: exp(mean - middle) for name, mean in means.items()}
    return {name: replace(host, level=levels.get(name)) for name, host in found.items()}


def is_overloaded(result: TrialResult) -> bool:
    """Return whether a run could not keep the rate of its study."""
    return result.metrics.get("overload", 0.0) > 1


def _values(runs: Sequence[StoredTrial], objective: Objective) -> dict[int, float]:
    """Return the logarithm of the objective / baseline of each complete run, by its number."""
    complete = [run for run in runs if run.result.status is Status.COMPLETE]
    middle = median_metrics([run.result.metrics for run in complete]) if complete else {}
    if objective.missing(middle):
        return {}
    return {
        run.number: log(objective.value(run.result.metrics, middle))
        for run in complete
        if not objective.missing(run.result.metrics)
    }


def _noise(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the standard deviation within the groups; None if no group has two values."""
    freedom = sum(max(0, len(values) - 1) for values in groups)
    squares = sum((x - fmean(values)) ** 2 for values in groups for x in values)
    return sqrt(squares / freedom) if freedom else None


def _far(noise: float, runs: int) -> float:
    """Return how far a run may be from the mean of so many runs of the same host."""
    return max(log(1 + MOST_APART), _SURE * noise * sqrt(1 + 1 / runs))


def _apart(logs: Mapping[str, Sequence[float]], noise: float) -> dict[str, Standing]:
    """Return the hosts that are far from the largest group of hosts; none if two are as large."""
    if len(logs) < _FEWEST_HOSTS:
        return {}
    means = {host: fmean(values) for host, values in logs.items()}
    near = {
        host: {other for other in means if abs(means[other] - means[host]) <= log(1 + MOST_APART)}
        for host in means
    }
    most = max(map(len, near.values()))
    largest = [group for group in near.values() if len(group) == most]
    if any(group.isdisjoint(largest[0]) for group in largest):
        return {}
    inside = set.union(*largest)
    centre = fmean(means[host] for host in inside)
    of_group = sum(len(logs[host]) for host in inside)
    found = {}
    for host in means.keys() - inside:
        apart, chance = means[host] - centre, noise * sqrt(1 / len(logs[host]) + 1 / of_group)
        if abs(apart) > _SURE * chance:
            found[host] = Standing("differs", exp(apart), _NO_RUN)
    return found
