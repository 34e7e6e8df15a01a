"""Runs of a study as lines, while they go on."""

import re
from collections.abc import Sequence

from lsmtune.engine_traits import ENGINES
from lsmtune.host_levels import HostLevels
from lsmtune.metrics.definitions import METRICS, shown_metrics
from lsmtune.objective import Metrics, median_metrics
from lsmtune.progress import Event
from lsmtune.report.text.hosts_text import short_host
from lsmtune.report.text.words import TIMES, counted
from lsmtune.spec import StudySettings
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.trials import Role, Status
from lsmtune.units import format_bytes, format_duration

_PHASES = {
    Role.RATE: "finding the rate: how much the baseline can take",
    Role.BASE: "measuring the baseline",
    Role.TRIAL: "running the trials",
    Role.REPEAT: "repeating the best configs",
    Role.SHARED: "checking whether trials may run at the same time",
    Role.ONLINE: "changing options of the running engine",
    Role.VERIFY_BASE: "verifying: winner against baseline",
    Role.VERIFY_BEST: "verifying: winner against baseline",
    Role.VERIFY_RAW: "verifying: winner against baseline",
    Role.SIMPLIFY: "simplifying: the winner with fewer changed options",
}


_MOST_HOSTS = 8
"""Number of hosts whose runs a terminal shows at the same time."""


class RunTexts:
    """Lines about the runs of a study; they need its baseline, best value and pace so far."""

    def __init__(self, spec: StudySettings) -> None:
        self._spec = spec
        self._objective = spec.parsed_objective
        self._base_of: dict[str | None, list[Metrics]] = {}
        self._levels: HostLevels | None = None
        self._base: Metrics = {}
        self._best: float | None = None
        self._trials = 0
        self._seconds = 0.0
        self._hosts: set[str] = set()
        self._running: dict[str, str] = {}

    def recall(self, trials: Sequence[StoredTrial]) -> None:
        """Take over baseline and best value from the trials of earlier calls."""
        for trial in complete_trials(trials, Role.BASE):
            self._base_of.setdefault(trial.host, []).append(trial.result.metrics)
        if self._base_of:
            self._compare_hosts()
        for trial in complete_trials(trials, Role.TRIAL):
            self._value(trial.result.metrics, trial.host)

    def phase(self, event: Event) -> str:
        """Return the phase of the study to which the run belongs."""
        phase, role = _PHASES[event.task.role], event.task.role
        if role is Role.REPEAT and self._spec.screen is not None:
            phase = "running some configs again, to measure the noise"
        return f"study {self._spec.name}: {phase}"

    def line(self, event: Event) -> str:
        """Return the result of a run, or the part of it that begins."""
        result, title, took = event.result, event.task.title, f"{event.duration_s:.1f} s"
        if event.host is not None:
            title += f" on {short_host(event.host)}"
            self._hosts.add(event.host)
        value = self._value_text(event)
        if result is None:
            return event.phase
        if result.status not in (Status.COMPLETE, Status.DISTURBED):
            return f"{title}: {result.status.meaning}: {result.reason} ({took})"
        remark = ""
        if result.status is Status.DISTURBED:
            remark = f"; {result.reason}, so lsmtune runs the trial again"
        elif result.disturbance is not None:
            remark = f"; the result is kept and marked, although {result.disturbance}"
        return f"{title}: {value}{self._figures(result.metrics)} ({took}{remark})"

    def remark(self, event: Event) -> str:
        """Return the sentence of an event, with a short name of its host."""
        text = event.remark or ""
        return text if event.host is None else text.replace(event.host, short_host(event.host))

    def on_hosts(self, event: Event) -> list[str]:
        """Note an event of a host; return what runs on which host, in at most nine lines."""
        if event.host is None:
            return []
        running, title = self._running, event.task.title
        running.pop(event.host, None)
        if event.result is not None:  # another host that ran the same was told to end it
            running = self._running = {h: ran for h, ran in running.items() if ran != title}
        elif event.remark is None:
            running[event.host] = title
        busy = [(short_host(host), ran) for host, ran in sorted(running.items())]
        width = max((len(host) for host, _ in busy), default=0)
        lines = [f"{host:{width}}  {ran}" for host, ran in busy[:_MOST_HOSTS]]
        more = len(busy) - len(lines)
        return [*lines, *([f"and {counted(more, 'more host')}"] if more else [])]

    def _figures(self, metrics: Metrics) -> str:
        """Return the objective's metrics, and those that show how the workload ran."""
        engine, kind = ENGINES[self._spec.engine], self._spec.workload.kind
        shown = shown_metrics("progress", kind, engine.measured)
        names = dict.fromkeys([*self._objective.metrics, *shown])
        return ", ".join(_figure(name, metrics[name]) for name in names if name in metrics)

    def _value_text(self, event: Event) -> str:
        """Return the objective of a trial, the best so far and the time that is left."""
        result, role = event.result, event.task.role
        if result is None or result.status is Status.DISTURBED:
            return ""
        if role is Role.BASE and result.status is Status.COMPLETE:
            self._base_of.setdefault(event.host, []).append(result.metrics)
            self._compare_hosts()
        if role is not Role.TRIAL:
            return ""
        self._trials += 1
        self._seconds += event.duration_s
        if (value := self._value(result.metrics, event.host)) is None:
            return ""
        is_shown = self._objective.name in result.metrics  # with its own value, by `_figures`
        name = "objective" if is_shown else self._objective.name
        return f"{name} {value:.2f} {TIMES} (best {self._best:.2f} {TIMES}{self._left(event)}), "

    def _compare_hosts(self) -> None:
        """Take the baseline of the middle of all hosts, after another run of it."""
        levels = self._levels = HostLevels(self._base_of)
        levelled = [
            levels.levelled(host, run) for host, runs in self._base_of.items() for run in runs
        ]
        self._base = median_metrics(levelled) if levelled else {}

    def _value(self, metrics: Metrics, host: str | None) -> float | None:
        """Return the objective / baseline, and remember the best; None if a metric is missing."""
        base, objective = self._base, self._objective
        levelled = metrics if self._levels is None else self._levels.levelled(host, metrics)
        if any(name not in run for name in objective.metrics for run in (base, levelled)):
            return None
        value = objective.value(levelled, base)
        self._best = value if self._best is None else min(value, self._best)
        return value

    def _left(self, event: Event) -> str:
        """Return about the time of the trials that are left, from the number in the title."""
        found = re.fullmatch(r"search (\d+) of (\d+)", event.task.title)
        if found is None:
            return ""
        left_s = (
            (int(found[2]) - int(found[1]))
            * self._seconds
            / self._trials
            / max(1, len(self._hosts))
        )
        return f", about {format_duration(left_s)} left" if left_s >= 1 else ""


def _figure(name: str, value: float) -> str:
    unit = METRICS[name].unit
    if unit == "bytes":
        return f"{name} {format_bytes(value)}"
    return f"{name} {value:.3g}" if unit == "ratio" else f"{name} {value:.3g} {unit}"
