"""The claim of a study in words, what to be wary of, and what was asked of which machine."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote

from lsmtune.analysis.study_view import StudyView, VerificationView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Limit, Objective
from lsmtune.report.comparison import Comparison, MetricRow, comparison
from lsmtune.report.facts import Fact, host_text, objective_text, workload_text
from lsmtune.report.words import TIMES, Ratio, counted, label, listed, number, sentence_start
from lsmtune.stats import Interval
from lsmtune.units import format_bytes
from lsmtune.verdict import UNKNOWN, LimitCheck, Verdict

_WANTED_HALF_WIDTH = 0.05


@dataclass(frozen=True, slots=True)
class Headline:
    """What the page says first: the claim, its grounds, warnings, and the study's facts."""

    claim: str
    grounds: tuple[str, ...]
    warnings: tuple[str, ...]
    facts: tuple[Fact, ...]


def headline(view: StudyView) -> Headline:
    """The headline of a study in any state, from not yet begun to verified."""
    return Headline(
        claim=_claim(view),
        grounds=tuple(_grounds(view)),
        warnings=tuple(_warnings(view)),
        facts=tuple(_facts(view)),
    )


def _claim(view: StudyView) -> str:
    verdict = view.verification.verdict if view.verification else None
    if verdict is not None and verdict.claim == "gain":
        return (
            f"{sentence_start(_metrics_text(view))}, verified in {counted(verdict.pairs, 'pair')}"
        )
    if verdict is not None:
        return f"No gain: {_why_not(verdict)}"
    if view.best is None or view.best_trial is None:
        return _nothing_found(view)
    chosen = "you picked" if view.picked else "best so far is"
    return f"Not verified: {chosen} trial {view.best_trial.number}, {_metrics_text(view)}"


def _nothing_found(view: StudyView) -> str:
    if view.base is None:
        return "Nothing to compare yet: the base has not been measured"
    if not view.searched:
        return "Nothing to compare yet: only the base has been measured"
    trials = counted(len(view.searched), "trial")
    if view.no_search is not None:
        return f"{sentence_start(view.no_search)} ({trials})"
    return f"Nothing found: none of {trials} beat the base within the limits"


def _why_not(verdict: Verdict) -> str:
    if verdict.objective == UNKNOWN:
        return f"the objective is not known: {listed(list(verdict.notes))}"
    objective = Ratio.of(verdict.objective)
    reasons = [*_failed_limits(verdict), *(f"{name} is worse" for name in verdict.lost_goals)]
    if objective.side == "better":
        return f"the objective is {objective}, but {listed(reasons)}"
    how = "worse than the base" if objective.side == "worse" else "an interval that includes 1"
    return f"the objective is {objective}, {listed([how, *reasons])}"


def _failed_limits(verdict: Verdict) -> list[str]:
    broken = [check.limit for check in verdict.limits if not check.holds and check.use is not None]
    unknown = [f"{c.limit} cannot be checked ({c.why})" for c in verdict.limits if c.use is None]
    told = [f"{listed(broken)} {'is' if len(broken) == 1 else 'are'} broken"] if broken else []
    return told + unknown


def _metrics_text(view: StudyView) -> str:
    table = comparison(view)
    rows = [row for row in table.rows if row.group == "objective"] if table else []
    return ", ".join(_metric_text(row, view) for row in rows)


def _metric_text(row: MetricRow, view: StudyView) -> str:
    name = label(row.metric.name)
    if row.ratio is None or row.gain is None:
        return f"{name} without a ratio (it was zero or missing in a run)"
    if view.verification is not None and row.side == "undecided":
        return f"no proven change in {name}, {row.ratio}"
    if row.metric.unit != "s":
        return f"{name} {row.ratio}"
    faster = row.ratio.value < 1
    ratio = row.ratio.inverse() if faster else row.ratio
    return f"{name} {ratio.text(f'{TIMES} faster' if faster else f'{TIMES} slower')}"


def _grounds(view: StudyView) -> Iterator[str]:
    if view.objective.pareto and view.best_trial is not None and not view.picked:
        yield (
            f"Of {counted(len(view.front), 'trial')} on the front this one has the lowest mean "
            "ratio to the base; below you can pick another."
        )
    if view.verification is None:
        if view.best is not None:
            yield (
                "Runs of the search are no proof: the luckiest of many trials always looks good. "
                f"To measure best and base again in pairs: lsmtune verify {quote(view.name)}"
                f"{_trial_flag(view)}"
            )
        return
    yield from _verified_grounds(view, view.verification.verdict)


def _trial_flag(view: StudyView) -> str:
    return f" --trial {view.best_trial.number}" if view.picked and view.best_trial else ""


def _verified_grounds(view: StudyView, verdict: Verdict) -> Iterator[str]:
    yield from _ratio_grounds(view.objective, verdict)
    if verdict.limits and all(check.holds for check in verdict.limits):
        yield f"{counted(len(verdict.limits), 'limit')} set, none broken."
    if verdict.worse:
        yield f"Worse: {listed([label(name) for name in verdict.worse])}."
    for other in view.verifications[1:]:
        if other.verdict.claim == "gain":
            yield f"A gain at scale {other.scale} too: {Ratio.of(other.verdict.objective)}."


def _ratio_grounds(objective: Objective, verdict: Verdict) -> Iterator[str]:
    brackets = "the brackets hold the interval of 95 %"
    if verdict.objective == UNKNOWN:
        return
    if len(objective.metrics) > 1:
        yield (
            f"Together the metrics asked for come to {Ratio.of(verdict.objective)} of the base"
            f"{_fitness_text(objective, verdict.objective)}; below 1 is a gain, {brackets}."
        )
        return
    asked = METRICS[objective.metrics[0]]
    ratio = verdict.ratios.get(asked.name)
    if ratio is not None:
        name = sentence_start(label(asked.name))
        yield f"{name} is {Ratio.of(ratio)} the base's; {asked.better} is better, {brackets}."


def _fitness_text(objective: Objective, interval: Interval) -> str:
    bounds = (interval.median, interval.high, interval.low)
    fitness = [value for x in bounds if (value := objective.fitness(x)) is not None]
    if not fitness:
        return ""
    middle, low, high = (f"{value:,.0f}" for value in fitness)
    return f", a fitness of {middle} ({low} to {high})"


def _warnings(view: StudyView) -> Iterator[str]:
    if view.is_simulated:
        yield "Simulated, not measured: UNVERIFIED on RocksDB."
    if view.best is not None and view.unverified_at_full_scale:
        yield f"Found at scale {view.scale}: UNVERIFIED at scale 1."
    for other in view.verifications[1:]:
        if other.verdict.claim != "gain":
            yield f"At scale {other.scale} there was no gain: {_why_not(other.verdict)}."
    if view.assertions_enabled:
        yield (
            "The engine was built with assertions, which slow it down: only ratios mean "
            "something, not its absolute numbers."
        )
    if view.verification is None:
        return
    verdict = view.verification.verdict
    yield from (f"Not all could be judged: {note}." for note in verdict.notes)
    if verdict.half_width > _WANTED_HALF_WIDTH and verdict.objective != UNKNOWN:
        share = number(100 * verdict.half_width)
        yield f"The interval is wide, ± {share} %: more pairs would narrow it."


def _facts(view: StudyView) -> Iterator[Fact]:
    built = "with assertions" if view.assertions_enabled else "without assertions"
    yield "Engine", (f"{view.engine} {view.engine_version}", f"built {built}")
    if view.base_facts:
        yield "Base", view.base_facts
    yield "Machine", tuple(host_text(view.host)) or ("not recorded",)
    yield "Workload", tuple(workload_text(view.workload))
    yield "Scale", (_scale_text(view),)
    if view.verification and view.verification.workload != view.workload:
        yield "Workload of the verification", tuple(workload_text(view.verification.workload))
    yield "Objective", tuple(objective_text(view.objective))
    yield "Limits", tuple(_limits_text(view)) or ("none",)
    yield "Memory limit", (format_bytes(view.memory_limit_bytes),)
    yield (
        "Search",
        (
            f"optimizer {view.optimizer}, seed {view.seed}",
            f"{counted(len(view.searched), 'trial')}, {counted(len(view.failed), 'run')} failed, "
            f"{counted(len(view.cut), 'run')} cut",
            f"{counted(view.disturbed, 'run')} repeated because others used the CPU",
            *(() if view.ended is None else (f"ended: {view.ended}",)),
        ),
    )


def _scale_text(view: StudyView) -> str:
    searched, scales = f"searched at {view.scale}", [v.scale for v in view.verifications]
    return f"{searched}, verified at {listed(scales)}" if scales else searched


def _limits_text(view: StudyView) -> Iterator[str]:
    verified: VerificationView | None = view.verification
    if verified and verified.verdict.limits:
        yield from (_check_text(check) for check in verified.verdict.limits)
        return
    table = comparison(view)
    for limit in view.objective.limits:
        use = _use(limit, table)
        yield str(limit) if use is None else _use_text(str(limit), use)


def _check_text(check: LimitCheck) -> str:
    if check.use is None:
        return f"{check.limit}: cannot be checked, {check.why}"
    return _use_text(check.limit, check.use)


def _use(limit: Limit, table: Comparison | None) -> float | None:
    rows: Sequence[MetricRow] = table.rows if table else ()
    row = next((row for row in rows if row.metric.name == limit.metric), None)
    if row is None or row.base is None or row.best is None:
        return None
    return limit.ratio({limit.metric: row.best}, {limit.metric: row.base})


def _use_text(limit: str, use: float) -> str:
    return f"{limit}: {'broken' if use > 1 else 'holds'}, {100 * use:.1f} % of it used"
