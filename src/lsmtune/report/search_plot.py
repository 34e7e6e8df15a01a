"""Chart of the search: its trials in order, and the best so far."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from typing import Any

from lsmtune.report.canvas import Chart, Key, Shape, colour, marker, ratio_axis, whiskers
from lsmtune.report.figures import MARK_WORDS, Convergence, Mark, Measured, Unmeasured
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import number

RAIL_PX = 26
_VALUES_PX = 340
_GAP = 0.04
_TICKS_WANTED = 8
_STEPS = [factor * 10**power for power in range(6) for factor in (1, 2, 5)]

MARKS: dict[Mark, Shape] = {
    "within limits": Shape("circle", "●", "best"),
    "breaks a limit": Shape("triangle-up-open", "△", "worse"),
    "base again": Shape("square-open", "□", "ink"),
    "cut": Shape("diamond-open", "◇", "soft"),
}
BEST_SO_FAR = Shape("line-ew", "━", "best")
FAILED = Shape("x-thin", "✕", "worse")
VERIFIED = Shape("diamond", "◆", "ink")


def convergence_keys(record: Convergence) -> list[Key]:
    """Return the legend of the marks that the chart has."""
    found = {trial.mark for trial in record.measured}
    keys = [Key(MARKS[mark], MARK_WORDS[mark]) for mark in MARKS if mark in found]
    if record.best_so_far:
        keys.append(Key(BEST_SO_FAR, "best so far within the limits"))
    if record.unmeasured:
        keys.append(Key(FAILED, "no result"))
    return keys + (
        [Key(VERIFIED, "winner, verified, with 95 % interval")] if record.verified else []
    )


def convergence_plot(record: Convergence) -> Chart:
    """Return the trials in order on a logarithmic axis; those without a result are above it."""
    statuses = list(dict.fromkeys(trial.status for trial in record.unmeasured))
    rail_px = RAIL_PX * len(statuses)
    chart = Chart(_VALUES_PX + rail_px)
    rail = 1 - rail_px / (_VALUES_PX + rail_px)
    for mark, shape in MARKS.items():
        _add_marks(chart, [t for t in record.measured if t.mark == mark], shape)
    _add_best_so_far(chart, record)
    if record.verified:
        _add_verified(chart, record, record.verified)
    chart.update_yaxes(domain=[0, rail - (_GAP if statuses else 0)], **_values_axis(record))
    add_rail(chart, record.unmeasured, dict.fromkeys(statuses, FAILED), rail)
    chart.update_xaxes(title="trial number", **_trials_axis(record))
    return chart


def _add_marks(chart: Chart, trials: list[Measured], shape: Shape) -> None:
    notes = [
        (f", median of {t.runs} runs" if t.runs > 1 else "")
        + (f", {number(100 * t.excess)} % beyond a limit" if t.excess else "")
        + escape(t.reason and f", {t.reason}")
        for t in trials
    ]
    numbers, values = [trial.number for trial in trials], [trial.value for trial in trials]
    chart.dots(numbers, values, marker(shape, 9), "trial %{x}: %{y:.3g}%{text}", text=notes)


def _add_best_so_far(chart: Chart, record: Convergence) -> None:
    steps = record.best_so_far
    chart.best_so_far([trial for trial, _ in steps], [value for _, value in steps])
    chart.rule(y=1)
    if record.best:
        chart.add_annotation(
            x=record.best[0], y=log10(record.best[1]), text="winner", yshift=16, showarrow=False
        )


def _add_verified(chart: Chart, record: Convergence, verified: Ratio) -> None:
    """Add the verified ratio, a little right of the last trial."""
    low, high = verified.low or verified.value, verified.high or verified.value
    ends = whiskers(VERIFIED, [(verified.value, low, high)], width=5)
    place, hover = _verified_place(record), f"verified: {verified}"
    chart.dots([place], [verified.value], marker(VERIFIED, 8), hover, error_y=ends)


def _trials_axis(record: Convergence) -> dict[str, Any]:
    """Return an axis with ticks at trial numbers and one for the verification."""
    last = max(_numbers(record))
    step = next(step for step in _STEPS if last <= step * _TICKS_WANTED)
    ticks = [float(number) for number in range(step, last + 1, step)]
    texts = [f"{tick:g}" for tick in ticks]
    if record.verified:
        ticks, texts = [*ticks, _verified_place(record)], [*texts, "verified"]
    room = 0.04 * last
    end = _verified_place(record) if record.verified else last
    return {
        "tickvals": ticks,
        "ticktext": texts,
        "range": [min(_numbers(record)) - room - 0.3, end + room + 0.3],
        "showgrid": False,
    }


def _numbers(record: Convergence) -> list[int]:
    numbers = [trial.number for trial in record.measured]
    return [*numbers, *(trial.number for trial in record.unmeasured)] or [1]


def _verified_place(record: Convergence) -> float:
    return max(_numbers(record)) * 1.08 + 1


def _values_axis(record: Convergence) -> dict[str, Any]:
    verified = record.verified
    values = [1.0, *(trial.value for trial in record.measured)]
    if verified and verified.low and verified.high:
        values += [verified.low, verified.high]
    low, high = min(values) / 1.1, max(values) * 1.08
    return ratio_axis(low, high)


def add_rail(
    chart: Chart,
    trials: Sequence[Unmeasured],
    shapes: Mapping[str, Shape],
    bottom: float,
    noun: str = "trial",
) -> None:
    """Add a row per status above the chart, with a mark per trial.

    `shapes` has the mark of each status. `bottom` is where the rows begin, as a share of the
    height.
    """
    if not trials:
        return
    statuses = list(shapes)
    for status, shape in shapes.items():
        found = [trial for trial in trials if trial.status == status]
        chart.dots(
            [trial.number for trial in found], [statuses.index(status)] * len(found),
            marker(shape, 9, 2.5), f"{noun} %{{x}}: %{{text}}",
            text=[escape(trial.reason) for trial in found], yaxis="y2",
        )  # fmt: skip
    chart.update_layout(
        yaxis2={
            "domain": [bottom, 1],
            "range": [len(statuses) - 0.4, -0.6],
            "tickvals": list(range(len(statuses))),
            "ticktext": statuses,
            "fixedrange": True,
            "automargin": True,
            "gridcolor": colour("grid"),
            "zeroline": False,
        }
    )
