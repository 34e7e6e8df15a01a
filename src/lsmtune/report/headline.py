"""The claim of a study in words, what to be wary of, and what was asked of which machine."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from lsmtune.analysis.study_view import StudyView, VerificationView
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Limit
from lsmtune.report.comparison import Comparison, MetricRow, comparison
from lsmtune.report.words import TIMES, Ratio, counted, label, listed, number, sentence_start
from lsmtune.units import format_bytes
from lsmtune.verdict import Verdict
from lsmtune.workloads import Workload

Fact = tuple[str, tuple[str, ...]]

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
    return f"Not verified: best so far is trial {view.best_trial.number}, {_metrics_text(view)}"


def _nothing_found(view: StudyView) -> str:
    if view.base is None:
        return "Nothing to compare yet: the base has not been measured"
    if not view.searched:
        return "Nothing to compare yet: only the base has been measured"
    trials = counted(len(view.searched), "trial")
    return f"Nothing found: none of {trials} beat the base within the limits"


def _why_not(verdict: Verdict) -> str:
    objective = Ratio.of(verdict.objective)
    broken = [check.limit for check in verdict.limits if not check.holds]
    limits = f"{listed(broken)} {'is' if len(broken) == 1 else 'are'} broken" if broken else ""
    if objective.side == "better":
        return f"the objective is {objective}, but {limits}"
    how = "worse than the base" if objective.side == "worse" else "an interval that includes 1"
    return f"the objective is {objective}, {how}{', and ' if broken else ''}{limits}"


def _metrics_text(view: StudyView) -> str:
    table = comparison(view)
    rows = [row for row in table.rows if row.group == "objective"] if table else []
    return ", ".join(_metric_text(row, view) for row in rows)


def _metric_text(row: MetricRow, view: StudyView) -> str:
    name = label(row.metric.name)
    if row.ratio is None or row.gain is None:
        return f"{name} without a ratio (it was zero in a run)"
    if view.verification is not None and row.side == "undecided":
        return f"no proven change in {name}, {row.ratio}"
    if row.metric.unit != "s":
        return f"{name} {row.ratio}"
    faster = row.ratio.value < 1
    ratio = row.ratio.inverse() if faster else row.ratio
    return f"{name} {ratio.text(f'{TIMES} faster' if faster else f'{TIMES} slower')}"


def _grounds(view: StudyView) -> Iterator[str]:
    if view.verification is None:
        if view.best is not None:
            yield (
                "One run of each is no proof: the luckiest of many trials always looks good. To "
                f"measure best and base again in pairs: lsmtune verify {quote(view.name)}"
            )
        return
    verdict = view.verification.verdict
    yield (
        f"Together the metrics asked for come to {Ratio.of(verdict.objective)} of the base; below "
        "1 is a gain, the brackets hold the interval of 95 %."
    )
    if verdict.limits and all(check.holds for check in verdict.limits):
        yield f"{counted(len(verdict.limits), 'limit')} set, none broken."
    if verdict.worse:
        yield f"Worse: {listed([label(name) for name in verdict.worse])}."


def _warnings(view: StudyView) -> Iterator[str]:
    if view.best is not None and view.unverified_at_full_scale:
        yield f"Found at scale {view.scale}: UNVERIFIED at scale 1."
    if view.assertions_enabled:
        yield (
            "The engine was built with assertions, which slow it down: only ratios mean "
            "something, not its absolute numbers."
        )
    if view.verification and view.verification.verdict.half_width > _WANTED_HALF_WIDTH:
        share = number(100 * view.verification.verdict.half_width)
        yield f"The interval is wide, ± {share} %: more pairs would narrow it."


def _facts(view: StudyView) -> Iterator[Fact]:
    built = "with assertions" if view.assertions_enabled else "without assertions"
    yield "Engine", (f"{view.engine} {view.engine_version}", f"built {built}")
    yield "Machine", tuple(_host_text(view.host)) or ("not recorded",)
    yield "Workload", tuple(_workload_text(view.workload))
    yield "Scale", (_scale_text(view),)
    if view.verification and view.verification.workload != view.workload:
        yield "Workload of the verification", tuple(_workload_text(view.verification.workload))
    yield "Objective", (_objective_text(view),)
    yield "Limits", tuple(_limits_text(view)) or ("none",)
    yield "Memory limit", (format_bytes(view.memory_limit_bytes),)
    yield (
        "Search",
        (
            f"optimizer {view.optimizer}, seed {view.seed}",
            f"{counted(len(view.searched), 'trial')}, {counted(len(view.failed), 'run')} failed",
            f"{counted(view.disturbed, 'run')} repeated because others used the CPU",
        ),
    )


def _host_text(host: Mapping[str, Any]) -> Iterator[str]:
    """The host's facts as they were recorded, nested ones flattened."""
    for key, value in host.items():
        words = key.replace("_", " ")
        if isinstance(value, Mapping):
            yield from (f"{words} {text}" for text in _host_text(value))
        elif key.endswith("_bytes") and isinstance(value, int | float):
            yield f"{words.removesuffix(' bytes')}: {format_bytes(value)}"
        elif value is not None and key != "boot_id":
            yield f"{words}: {value}"


def _workload_text(workload: Workload) -> Iterator[str]:
    yield workload.name
    by = "1 thread" if workload.threads == 1 else f"each of {workload.threads} threads"
    yield f"{workload.num:,} records by {by}"
    yield f"keys of {workload.key_size} bytes, values of {workload.value_size:,} bytes"
    yield f"values compress to {number(100 * workload.compression_ratio)} % of their size"


def _scale_text(view: StudyView) -> str:
    verified: VerificationView | None = view.verification
    searched = f"searched at {view.scale}"
    return f"{searched}, verified at {verified.scale}" if verified else searched


def _objective_text(view: StudyView) -> str:
    name, metrics = view.objective.name, view.objective.metrics
    if len(metrics) == 1:
        return f"{name}: {METRICS[metrics[0]].better} is better"
    return f"{name}: the geometric mean of the ratios to the base in {listed(list(metrics))}"


def _limits_text(view: StudyView) -> Iterator[str]:
    checks = view.verification.verdict.limits if view.verification else ()
    if checks:
        yield from (_use_text(check.limit, check.use) for check in checks)
        return
    table = comparison(view)
    for limit in view.objective.limits:
        use = _use(limit, table)
        yield str(limit) if use is None else _use_text(str(limit), use)


def _use(limit: Limit, table: Comparison | None) -> float | None:
    rows: Sequence[MetricRow] = table.rows if table else ()
    row = next((row for row in rows if row.metric.name == limit.metric), None)
    if row is None or row.base is None or row.best is None:
        return None
    return limit.ratio({limit.metric: row.best}, {limit.metric: row.base})


def _use_text(limit: str, use: float) -> str:
    return f"{limit}: {'broken' if use > 1 else 'holds'}, {100 * use:.1f} % of it used"
