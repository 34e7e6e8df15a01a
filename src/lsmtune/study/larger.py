"""A verification at another scale than the study's: its workload, time and disk space."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from statistics import median

from lsmtune.spec import MIN_PAIRS, StudySettings
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.host_checks import kept_templates
from lsmtune.study.session import Session
from lsmtune.study.verify import begun
from lsmtune.trials import Role
from lsmtune.workloads import Workload

_FASTEST, _SLOWEST = 0.7, 1.4
"""Time of a larger run / time that the ratio of the bytes gives."""
SPARE = 1.3
"""The disk needs so many times the peak space."""
_PEAK, _LIVE = "peak_space_bytes", "live_sst_bytes"


@dataclass(frozen=True, slots=True)
class VerificationPlan:
    """What is left of a verification: its runs, their time in seconds, and the peak disk space.

    `runs` are the fewest and the most. `seconds` is a range for the fewest. It and `peak_bytes` are
    None if no run of the study tells them.
    """

    workload: Workload
    runs: tuple[int, int]
    seconds: tuple[float, float] | None
    peak_bytes: int | None

    @property
    def needed_bytes(self) -> int | None:
        """The free disk space that the verification needs."""
        return None if self.peak_bytes is None else ceil(SPARE * self.peak_bytes)


def workload_at(spec: StudySettings, scale: Fraction) -> Workload:
    """Return the workload of the study for a tree of another scale.

    Records and operations grow with the tree, so that it has the same shape. A duration stays.
    """
    load, factor = spec.workload, scale / spec.scale_value
    if load.database is not None or load.trace is not None:
        return load
    sizes = {"num": (load.num, 1000), "operations": (load.operations, 100),
             "warehouses": (load.warehouses, 1)}  # fmt: skip
    larger = {
        name: max(least, round(size * factor))
        for name, (size, least) in sizes.items()
        if size is not None and (load.definition.stores_all or load.definition.has(name))
    }
    return load.model_copy(update=larger)


def verification_plan(
    study: Session,
    trial: StoredTrial,
    scale: str,
    workload: Workload,
    asked: int | None,
    *,
    rate: float | None = None,
) -> VerificationPlan:
    """Estimate what is left of a verification of a trial, from the runs of the study.

    `asked` is the number of pairs that the user asked for. With another `rate`, the time is the
    same.
    """
    trials, config = study.trials(), trial.config
    earlier = begun(study, trial, scale, workload, rate=rate)
    done = 0 if earlier is None else len(study.history.pairs(earlier))
    fewest, most = (max(0, n - done) for n in most_pairs(study.spec, asked))
    pairs = fewest, most
    of_base = complete_trials(trials, Role.BASE)
    roles = (Role.TRIAL, Role.REPEAT, Role.SIMPLIFY)
    of_best = [t for role in roles for t in complete_trials(trials, role) if t.config == config]
    factor = _amount(workload) / _amount(study.spec.workload)
    seconds = None
    if of_base and of_best:
        fixed_s = study.spec.clocked_s - (steps.window_s if (steps := study.spec.steps) else 0.0)
        pair_s = sum(
            fixed_s + factor * max(median(t.duration_s for t in runs) - fixed_s, 0.0)
            for runs in (of_base, of_best)
        )
        seconds = pairs[0] * _FASTEST * pair_s, pairs[0] * _SLOWEST * pair_s
    peak = _largest(_PEAK, [*of_base, *of_best])
    if peak is not None:
        peak += kept_templates(study.spec) * (_largest(_LIVE, of_base) or 0)  # beside the trial
    bytes_at_peak = None if peak is None else ceil(factor * peak)
    return VerificationPlan(workload, (2 * pairs[0], 2 * pairs[1]), seconds, bytes_at_peak)


def _largest(metric: str, runs: Sequence[StoredTrial]) -> float | None:
    known = [run.result.metrics[metric] for run in runs if metric in run.result.metrics]
    return max(known, default=None)


def _amount(load: Workload) -> float:
    """The bytes of a run, in some unit that is the same for all loads of a study."""
    return max(load.user_bytes, 1)


def most_pairs(spec: StudySettings, pairs: int | None) -> tuple[int, int]:
    """Return the minimum and the maximum number of pairs; `pairs` is what the user asked for."""
    if pairs is not None:
        return pairs, pairs
    return max(MIN_PAIRS, spec.pairs), max(MIN_PAIRS, spec.pairs, spec.max_pairs)
