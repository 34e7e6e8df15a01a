"""Verification: winner and base again, in random order, until the gain is certain or not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from statistics import fmean, median

import numpy as np

from lsmtune.errors import Argument, LsmtuneError, UserError
from lsmtune.knobs.types import Config
from lsmtune.spec import MIN_PAIRS, StudySettings, load_at
from lsmtune.store.records import StoredTrial, StoredVerification, complete_trials
from lsmtune.study.enough_data import check_expected_flushes, check_flushes, per_flush, turned_over
from lsmtune.study.host_checks import kept_templates
from lsmtune.study.ranking import LEAST_KEPT_GAIN, MOST_CONTENDERS
from lsmtune.study.runner import Task
from lsmtune.study.search import repeat_finalists
from lsmtune.study.session import Session
from lsmtune.trials import Protocol, Role, Status, TrialSpec, workload_seed
from lsmtune.units import format_duration
from lsmtune.verdict import Pair, Verdict, judge, lost_early
from lsmtune.workloads import Workload

PRECISE = 0.05
"""The interval's half width at which no more pairs are run."""
_MOST_FAILURES = 3
_LONG_S = 60.0
"""Shorter times are not told."""
_SIDES = {
    Role.VERIFY_BEST: "winner",
    Role.VERIFY_RAW: "winner with all changes",
    Role.VERIFY_BASE: "baseline",
}

_FASTEST, _SLOWEST = 0.7, 1.4
"""Time of a larger run / time that the ratio of the bytes gives."""
SPARE = 1.3
"""The disk needs so many times the peak space."""
_PEAK, _LIVE = "peak_space_bytes", "live_sst_bytes"


def verify(
    study: Session,
    scale: str,
    workload: Workload,
    trial: int | None = None,
    pairs: int | None = None,
    *,
    rate: float | None = None,
) -> Verdict:
    """Verify the study's winner, or the trial of that number; UserError when there is none.

    It runs exactly so many `pairs`, and at another `rate`, if given.
    """
    return verify_trial(study, chosen(study, trial), scale, workload, pairs=pairs, rate=rate)


def chosen(study: Session, trial: int | None) -> StoredTrial:
    """Return the trial of that number, or the study's winner; UserError when there is none."""
    if trial is not None:
        return _searched(study, trial)
    if (winner := study.best()) is None:
        raise no_winner(study.stored.name)
    return winner.trial


def no_winner(study: str) -> UserError:
    """Return the error of a verification of a study that found nothing."""
    return UserError(
        f"study {study!r}: nothing to verify; no trial is better than the baseline and keeps all "
        "limits"
    )


def verify_contenders(study: Session) -> None:
    """Verify the best candidates one after the other until the gain of one is proven.

    Three runs may keep a limit that twelve runs break. Then the next candidate is verified, but no
    third one: among many, one would win by luck. After a simplification, the two candidates are the
    simple config and the raw winner. A config that failed in its rehearsal is no candidate.
    """
    simplified, contenders = study.history.current_simplified, study.history.contenders
    if simplified is not None and simplified.simple is not None and len(contenders) > 1:
        _verify_simple(study)
        return
    if study.history.not_deployable and study.history.proven & {c.trial.number for c in contenders}:
        return  # another config that is proven comes next
    verified: set[int] = set()
    for wanted in range(1, MOST_CONTENDERS + 1):
        repeat_finalists(study, wanted)
        ranked = study.history.contenders
        trial = next((c.trial for c in ranked if c.trial.number not in verified), None)
        if trial is None:
            return
        verdict = verify_trial(study, trial, study.spec.scale, study.spec.workload)
        if verdict.claim == "gain":
            return
        verified.add(trial.number)


def _verify_simple(study: Session) -> None:
    """Verify the simple config beside the raw winner, and then the raw winner if it is needed.

    It is needed if the gain of the simple config is not proven or is too small a part of its gain.
    """
    simple, raw = (candidate.trial for candidate in study.history.contenders)
    scale, workload = study.spec.scale, study.spec.workload
    verdict = verify_trial(study, simple, scale, workload, raw=raw)
    verification = _begin(study, simple, scale, workload, raw)
    kept = study.history.kept_gain(verification)
    if verdict.claim == "gain" and (kept is None or kept.median >= LEAST_KEPT_GAIN):
        return
    pairs = study.history.pairs(verification, Role.VERIFY_RAW)
    if len(pairs) < MIN_PAIRS or judge(pairs, study.objective).waits_for_constraints:
        _run_pairs(study, verification, {Role.VERIFY_RAW: raw.config})


def _searched(study: Session, number: int) -> StoredTrial:
    measured = [
        trial
        for role in (Role.TRIAL, Role.SIMPLIFY)
        for trial in complete_trials(study.trials(), role)
    ]
    found = [trial for trial in measured if trial.number == number]
    if not found:
        name = study.stored.name
        raise UserError(
            Argument("trial", number),
            f": study {name!r} has no complete trial of this number; see `lsmtune trials {name}`",
        )
    return found[0]


def verify_trial(
    study: Session,
    trial: StoredTrial,
    scale: str,
    workload: Workload,
    *,
    raw: StoredTrial | None = None,
    pairs: int | None = None,
    rate: float | None = None,
) -> Verdict:
    """Run pairs of the trial's config and the baseline, and judge them.

    It runs so many `pairs`, or at least six and at most `max_pairs`. It ends before if the
    objective is known to ± 5 % and no undecided limit decides the claim; at another scale or
    `rate` than the study's, also when fewer pairs prove that there is no gain. Each pair has its
    own workload seed and a random order. In the first six, the `raw` winner runs too, so that the
    share of its gain is that of the same pairs. An interrupted verification continues. Raises
    LsmtuneError if runs keep failing.
    """
    base = study.settings_at(study.space.default(), Fraction(scale))
    flushed = per_flush(study.spec.engine, base)
    load = turned_over(study.spec, workload)
    check_expected_flushes(load, flushed, study.objective.needed)
    verification = _begin(study, trial, scale, workload, raw, rate=rate)
    beside = {} if raw is None else {Role.VERIFY_RAW: raw.config}
    return _run_pairs(study, verification, {Role.VERIFY_BEST: trial.config, **beside}, pairs)


def _run_pairs(
    study: Session,
    verification: StoredVerification,
    sides: Mapping[Role, Config],
    asked: int | None = None,
) -> Verdict:
    """Run pairs until those of the first side decide; the other side has six runs at most."""
    earlier, judged = len(study.history.runs_of_verification(verification)), next(iter(sides))
    fewest = asked or max(MIN_PAIRS, study.spec.pairs)

    def next_job(host: str | None, under_way: Sequence[Task]) -> Sequence[Task]:
        _check_failures(study.history.runs_of_verification(verification)[earlier:])
        pairs = study.history.pairs(verification, judged)
        if _enough(study, verification, pairs, asked):
            return ()
        begun = len(pairs) + len({task.pair for task in under_way})
        if begun >= (fewest if len(pairs) < fewest else study.spec.max_pairs):
            return ()
        if pairs and not study.spec.is_running:
            base = study.settings_at(study.space.default(), Fraction(verification.scale))
            flushed = per_flush(study.spec.engine, base)
            check_flushes(verification.workload, pairs[0][1], study.objective.needed, flushed)
        here = {
            role: config
            for role, config in sides.items()
            if role is judged
            or len(study.history.pairs(verification, role)) + begun - len(pairs) < MIN_PAIRS
        }
        left = _left_text(study, verification, here, fewest - len(pairs))
        number = f"pair {begun + 1}" + (f" of {fewest}" if begun < fewest else "")
        before = [task.pair for task in under_way if task.pair is not None]
        return _next_pair(study, here, verification, number + ", {}" + left, before)

    study.feed(next_job)
    return judge(study.history.pairs(verification, judged), study.objective)


def _begin(
    study: Session,
    best: StoredTrial,
    scale: str,
    workload: Workload,
    raw: StoredTrial | None = None,
    *,
    rate: float | None = None,
) -> StoredVerification:
    """The verification of that trial under that load which has begun before, or a new one."""
    beside = None if raw is None else raw.number
    earlier = begun(study, best, scale, workload, beside, rate=rate)
    if earlier is not None:
        return earlier
    return study.add_verification(best, scale, workload, raw, rate=rate)


def begun(
    study: Session,
    best: StoredTrial,
    scale: str,
    workload: Workload,
    raw: int | None = None,
    *,
    rate: float | None = None,
) -> StoredVerification | None:
    """Return the newest verification of a trial under these conditions; None if none has begun."""
    wanted = scale, workload, rate
    for earlier in reversed(study.history.verifications):
        same_trials = earlier.best_trial == best.number and raw in (None, earlier.raw_trial)
        if same_trials and (earlier.scale, earlier.workload, earlier.rate) == wanted:
            return earlier
    return None


def _enough(
    study: Session, verification: StoredVerification, pairs: Sequence[Pair], asked: int | None
) -> bool:
    if asked is not None:
        return len(pairs) >= asked
    if len(pairs) < max(MIN_PAIRS, study.spec.pairs):
        is_own = verification.is_at(study.spec.scale)
        return len(pairs) < MIN_PAIRS and not is_own and bool(lost_early(pairs, study.objective))
    if len(pairs) >= study.spec.max_pairs:
        return True
    verdict = judge(pairs, study.objective)
    return verdict.half_width <= PRECISE and not verdict.waits_for_constraints


def _left_text(
    study: Session, verification: StoredVerification, sides: Mapping[Role, Config], pairs: int
) -> str:
    """Return the time that so many pairs take, for the title of a run; "" if it is short."""
    done = study.history.runs_of_verification(verification)
    times = [
        [trial.duration_s for trial in complete_trials(done, role)]
        for role in (*sides, Role.VERIFY_BASE)
    ]
    if pairs < 1 or not all(times):
        return ""
    left_s = pairs * sum(map(fmean, times))
    return f", about {format_duration(left_s)} left" if left_s >= _LONG_S else ""


def _next_pair(
    study: Session,
    sides: Mapping[Role, Config],
    verification: StoredVerification,
    title: str,
    under_way: Sequence[int],
) -> list[Task]:
    """Return the runs of a new pair, in random order, beside the pairs that are under way.

    A pair that was cut off is not completed, because its runs lie too far apart.
    """
    done = study.history.runs_of_verification(verification)
    before = [*under_way, *(trial.pair for trial in done if trial.pair is not None)]
    pair = max(before, default=-1) + 1
    scale, growth = Fraction(verification.scale), _growth(study, verification.workload)
    configs = {**sides, Role.VERIFY_BASE: study.space.default()}
    roles = list(configs)
    np.random.default_rng([study.spec.seed, verification.id, pair]).shuffle(roles)
    settings = {role: study.settings_at(config, scale) for role, config in configs.items()}
    tasks = []
    for role in roles:
        spec = TrialSpec(
            settings=settings[role],
            base_settings=settings[Role.VERIFY_BASE],
            workload=load_at(verification.workload, configs[role]),
            protocol=_protocol(study, verification.workload),
            seed=workload_seed(study.spec.seed, "pair", pair, verification.id),
            running=study.running(verification.rate, growth),
        )
        tasks.append(
            Task(
                title.format(_SIDES[role]), role, configs[role], spec,
                verification_id=verification.id, pair=pair, scale=scale,
                is_long=verification.scale != study.spec.scale,
            )
        )  # fmt: skip
    return tasks


def _growth(study: Session, workload: Workload) -> float:
    """Return how many times the records of the study a workload has, at least 1."""
    return max(1.0, workload.num / study.spec.workload.num)


def _protocol(study: Session, workload: Workload) -> Protocol:
    """The protocol of the study; a run with more records may take longer in proportion."""
    protocol, factor = study.protocol, _growth(study, workload)
    return protocol.model_copy(update={"wall_limit_s": protocol.wall_limit_s * factor})


def _check_failures(runs: Sequence[StoredTrial]) -> None:
    measured = (Status.COMPLETE, Status.DISTURBED)
    failed = [trial.result for trial in runs if trial.result.status not in measured]
    if len(failed) > _MOST_FAILURES:
        raise LsmtuneError(
            f"verification stopped: {len(failed)} runs failed; reason of the last failed run: "
            f"{failed[-1].status.meaning}: {failed[-1].reason}"
        )


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
