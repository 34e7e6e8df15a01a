"""A verification at another scale than the study's: its workload, time and disk space."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from statistics import median

from lsmtune.spec import MIN_PAIRS, StudySpec
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.studies.study import Study
from lsmtune.trials import Role
from lsmtune.workloads import Workload

_FASTEST, _SLOWEST = 0.7, 1.4
"""Time of a larger run / time that the ratio of the bytes gives."""
SPARE = 1.3
"""The disk needs so many times the peak space."""
_PEAK = "peak_space_bytes"


@dataclass(frozen=True, slots=True)
class VerificationPlan:
    """What a verification needs: its runs, their time in seconds, and the peak disk space.

    `seconds` and `peak_bytes` are None if no run of the study tells them. They are for the fewest
    runs, and as a range.
    """

    workload: Workload
    runs: tuple[int, int]
    seconds: tuple[float, float] | None
    peak_bytes: int | None

    @property
    def needed_bytes(self) -> int | None:
        """The free disk space that the verification needs."""
        return None if self.peak_bytes is None else ceil(SPARE * self.peak_bytes)


def workload_at(spec: StudySpec, scale: Fraction) -> Workload:
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
        if size is not None
    }
    return load.model_copy(update=larger)


def verification_plan(
    study: Study, trial: StoredTrial, workload: Workload, pairs: tuple[int, int]
) -> VerificationPlan:
    """Estimate a verification of a trial, from the runs of the study."""
    trials, config = study.trials(), trial.config
    of_base = complete_trials(trials, Role.BASE)
    roles = (Role.TRIAL, Role.REPEAT, Role.SIMPLIFY)
    of_best = [t for role in roles for t in complete_trials(trials, role) if t.config == config]
    factor = _amount(workload) / _amount(study.spec.workload)
    seconds = None
    if of_base and of_best:
        fixed_s = float(workload.duration_s or 0)  # the clock ends such a load
        pair_s = sum(
            fixed_s + factor * max(median(t.duration_s for t in runs) - fixed_s, 0.0)
            for runs in (of_base, of_best)
        )
        seconds = pairs[0] * _FASTEST * pair_s, pairs[0] * _SLOWEST * pair_s
    return VerificationPlan(
        workload, (2 * pairs[0], 2 * pairs[1]), seconds, _peak([*of_base, *of_best], factor)
    )


def _peak(runs: Sequence[StoredTrial], factor: float) -> int | None:
    known = [run.result.metrics[_PEAK] for run in runs if _PEAK in run.result.metrics]
    return ceil(factor * max(known)) if known else None


def _amount(load: Workload) -> float:
    """The bytes of a run, in some unit that is the same for all loads of a study."""
    return max(load.user_bytes, 1)


def most_pairs(spec: StudySpec, pairs: int | None) -> tuple[int, int]:
    """Return the minimum and the maximum number of pairs; `pairs` is what the user asked for."""
    if pairs is not None:
        return pairs, pairs
    return max(MIN_PAIRS, spec.pairs), max(MIN_PAIRS, spec.pairs, spec.max_pairs)
