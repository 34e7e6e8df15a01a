"""Chart of the search: its trials in order, and the best so far."""

from collections.abc import Mapping, Sequence
from html import escape
from math import log10
from typing import Any

import plotly.graph_objects as go

from lsmtune.report.canvas import Key, Shape, canvas, colour, marker, ratio_axis
from lsmtune.report.figures import MARK_WORDS, Convergence, Mark, Measured, Unmeasured
from lsmtune.report.text.words import Ratio, number

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


def convergence_plot(record: Convergence) -> go.Figure:
    """Return the trials in order on a logarithmic axis; those without a result are above it."""
    statuses = list(dict.fromkeys(trial.status for trial in record.unmeasured))
    rail_px = RAIL_PX * len(statuses)
    figure = canvas(_VALUES_PX + rail_px)
    rail = 1 - rail_px / (_VALUES_PX + rail_px)
    for mark, shape in MARKS.items():
        _add_marks(figure, [t for t in record.measured if t.mark == mark], shape)
    _add_best_so_far(figure, record)
    if record.verified:
        _add_verified(figure, record, record.verified)
    figure.update_yaxes(domain=[0, rail - (_GAP if statuses else 0)], **_values_axis(record))
    add_rail(figure, record.unmeasured, dict.fromkeys(statuses, FAILED), rail)
    figure.update_xaxes(title="trial number", **_trials_axis(record))
    return figure


def _add_marks(figure: go.Figure, trials: list[Measured], shape: Shape) -> None:
    notes = [
        (f", median of {t.runs} runs" if t.runs > 1 else "")
        + (f", {number(100 * t.excess)} % beyond a limit" if t.excess else "")
        + escape(t.reason and f", {t.reason}")
        for t in trials
    ]
    figure.add_scatter(
        x=[trial.number for trial in trials],
        y=[trial.value for trial in trials],
        mode="markers",
        marker=marker(shape, 9),
        text=notes,
        hovertemplate="trial %{x}: %{y:.3g}%{text}<extra></extra>",
    )


def _add_best_so_far(figure: go.Figure, record: Convergence) -> None:
    figure.add_scatter(
        x=[trial for trial, _ in record.best_so_far],
        y=[value for _, value in record.best_so_far],
        mode="lines",
        line={"shape": "hv", "width": 2, "color": colour("best")},
        hoverinfo="skip",
    )
    figure.add_hline(y=1, line={"color": colour("ink"), "width": 1.2}, layer="below")
    if record.best:
        figure.add_annotation(
            x=record.best[0],
            y=log10(record.best[1]),
            text="winner",
            yshift=16,
            showarrow=False,
        )


def _add_verified(figure: go.Figure, record: Convergence, verified: Ratio) -> None:
    """Add the verified ratio, a little right of the last trial."""
    low, high = verified.low or verified.value, verified.high or verified.value
    figure.add_scatter(
        x=[_verified_place(record)],
        y=[verified.value],
        mode="markers",
        marker=marker(VERIFIED, 8),
        error_y={
            "type": "data", "array": [high - verified.value], "width": 5,
            "arrayminus": [verified.value - low], "color": colour("ink"),
        },
        hovertemplate=f"verified: {verified}<extra></extra>",
    )  # fmt: skip


def _trials_axis(record: Convergence) -> dict[str, Any]:
    """Return an axis with ticks at trial numbers and one for the verification."""
    last = _last(record)
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
        "range": [_first(record) - room - 0.3, end + room + 0.3],
        "showgrid": False,
    }


def _last(record: Convergence) -> int:
    measured = [trial.number for trial in record.measured]
    return max(measured + [trial.number for trial in record.unmeasured], default=1)


def _first(record: Convergence) -> int:
    measured = [trial.number for trial in record.measured]
    return min(measured + [trial.number for trial in record.unmeasured], default=1)


def _verified_place(record: Convergence) -> float:
    return _last(record) * 1.08 + 1


def _values_axis(record: Convergence) -> dict[str, Any]:
    verified = record.verified
    values = [1.0, *(trial.value for trial in record.measured)]
    if verified and verified.low and verified.high:
        values += [verified.low, verified.high]
    low, high = min(values) / 1.1, max(values) * 1.08
    return ratio_axis(low, high)


def add_rail(
    figure: go.Figure,
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
        figure.add_scatter(
            x=[trial.number for trial in found],
            y=[statuses.index(status)] * len(found),
            yaxis="y2",
            mode="markers",
            marker=marker(shape, 9, line=2.5),
            text=[escape(trial.reason) for trial in found],
            hovertemplate=f"{noun} %{{x}}: %{{text}}<extra></extra>",
        )
    figure.update_layout(
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
