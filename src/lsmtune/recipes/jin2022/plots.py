"""Charts of figures 5, 6, 8 and 9 of the parameter study."""

from collections.abc import Sequence

import plotly.graph_objects as go

from lsmtune.analysis.shipped_runs import Mode
from lsmtune.recipes.jin2022.numbers import (
    Accuracy,
    Contribution,
    convergence,
    improvements,
    paper,
    verified,
)
from lsmtune.recipes.jin2022.study import INDICATORS, MODE_NAMES, MODES, Search
from lsmtune.report.canvas import Key, Shape, canvas, colour, marker, name_rows

_ROW_PX = 28
_HEIGHT_PX = 280
_PAPER = Shape("x-thin", "✕", "ink")
_PAPER_LINE = Shape("line-ew", "┄", "ink")
_MODES: dict[Mode, tuple[Shape, str]] = {
    "honest": (Shape("circle", "●", "best"), "fixed workload"),
    "published": (Shape("diamond-open", "◇", "base"), "varied workload, as in the paper"),
}
MODE_KEYS = tuple(Key(*_MODES[mode]) for mode in MODES)
ACCURACY_KEYS = (Key(_PAPER, "paper"), *MODE_KEYS)
CONVERGENCE_KEYS = (*MODE_KEYS, Key(_PAPER_LINE, "paper, after 36 evaluations"))
PAPER_NAMES = {
    "w_amp_table": "WAF", "live_sst_bytes": "SA", "rate_mb_s": "RATE", "total_s": "TIME",
}  # fmt: skip
"""Names of the metrics in the paper."""


def accuracy_plot(rows: Sequence[Accuracy]) -> go.Figure:
    """Draw the held-out R² of a random forest: of the paper, and of each mode here."""
    figure = canvas(_ROW_PX * (len(rows) + 1), top=32, bottom=8)
    for offset, mode in zip((-0.15, 0.15), MODES, strict=True):
        shape = _MODES[mode][0]
        found = [row.forest[mode] for row in rows]
        figure.add_scatter(
            x=[interval.median for interval in found],
            y=[place + offset for place in range(len(rows))],
            mode="markers",
            marker=marker(shape, 10),
            error_x={
                "type": "data", "thickness": 2, "width": 0, "color": colour(shape.colour),
                "array": [interval.high - interval.median for interval in found],
                "arrayminus": [interval.median - interval.low for interval in found],
            },
            hovertemplate="%{x:.3f}<extra></extra>",
        )  # fmt: skip
    figure.add_scatter(
        x=[row.paper for row in rows],
        y=list(range(len(rows))),
        mode="markers",
        marker=marker(_PAPER, 12, 2),
        hovertemplate="paper %{x:.3f}<extra></extra>",
    )
    figure.update_xaxes(side="top")
    name_rows(figure, [f"{PAPER_NAMES[row.metric]}" for row in rows])
    return figure


def contribution_plot(rows: Sequence[Contribution]) -> go.Figure:
    """Draw the mean decrease in impurity per parameter and mode."""
    figure = canvas(_ROW_PX * (len(rows) + 1), top=32, bottom=8)
    for offset, mode in zip((-0.15, 0.15), MODES, strict=True):
        varied = [(y, row) for y, row in enumerate(rows) if row.place[mode] is not None]
        figure.add_scatter(
            x=[row.mdi[mode] for _, row in varied],
            y=[y + offset for y, _ in varied],
            mode="markers",
            marker=marker(_MODES[mode][0], 10),
            hovertemplate="%{x:.3f}<extra></extra>",
        )
    figure.update_xaxes(side="top", rangemode="tozero")
    name_rows(
        figure,
        [f"{row.knob} (paper: {row.paper_place})" if row.paper_place else row.knob for row in rows],
    )
    return figure


def improvement_plot(searches: Sequence[Search]) -> go.Figure:
    """Draw the improvement of each indicator: of the paper, and verified here."""
    figure = canvas(_ROW_PX * (len(INDICATORS) + 1), top=32, bottom=8)
    table = paper()["table_2"]
    found: list[tuple[Shape, dict[str, float], str]] = [
        (_PAPER, improvements(table["default"], table["found"]), "paper")
    ]
    for search in searches:
        if (proven := verified(search.pairs)) is not None:
            gained = improvements(proven.base, proven.found)
            found.append(
                (_MODES[search.mode][0], gained, f"{MODE_NAMES[search.mode]}, seed {search.seed}")
            )
    for shape, gained, name in found:
        figure.add_scatter(
            x=[100 * gained[metric] for metric in INDICATORS],
            y=list(range(len(INDICATORS))),
            mode="markers",
            marker=marker(shape, 11, 2),
            hovertemplate=f"{name}: %{{x:.1f}} %<extra></extra>",
        )
    figure.add_vline(x=0, line={"color": colour("ink"), "width": 1.2}, layer="below")
    figure.update_xaxes(side="top", ticksuffix=" %")
    name_rows(figure, [PAPER_NAMES[metric] for metric in INDICATORS])
    return figure


def convergence_plot(searches: Sequence[Search]) -> go.Figure:
    """Draw the best fitness so far over the evaluations of each search."""
    figure = canvas(_HEIGHT_PX, bottom=56)
    for search in searches:
        shape, dash = _MODES[search.mode][0], "solid" if search.mode == "honest" else "dash"
        best, name = convergence(search), f"{MODE_NAMES[search.mode]}, seed {search.seed}"
        figure.add_scatter(
            x=list(range(1, len(best) + 1)),
            y=best,
            mode="lines+markers",
            marker=marker(shape, 5),
            line={"color": colour(shape.colour), "width": 1.5, "dash": dash, "shape": "hv"},
            hovertemplate=f"{name}: %{{y:.0f}}<extra></extra>",
        )
    figure.add_hline(
        y=paper()["genetic"]["fitness"], line={"color": colour("ink"), "width": 1, "dash": "dot"}
    )
    figure.update_xaxes(title="evaluations")
    return figure
