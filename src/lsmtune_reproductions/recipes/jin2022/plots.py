"""Charts of figures 5, 6, 8 and 9 of the parameter study."""

from collections.abc import Sequence

from lsmtune.report.canvas import Chart, Key, Shape, marker
from lsmtune_reproductions.recipes.jin2022.numbers import (
    Accuracy,
    Contribution,
    convergence,
    improvements,
    paper,
    verified,
)
from lsmtune_reproductions.recipes.jin2022.study import INDICATORS, MODES, Mode, Search

_ROW_PX = 28
_HEIGHT_PX = 280
_PAPER = Shape("x-thin", "✕", "ink")
_PAPER_LINE = Shape("line-ew", "┄", "ink")
_MODES: dict[Mode, tuple[Shape, str]] = {
    "honest": (Shape("circle", "●", "best"), "fixed workload"),
    "published": (Shape("diamond-open", "◇", "base"), "varied workload, as in the paper"),
}
_OFFSETS = dict(zip(MODES, (-0.15, 0.15), strict=True))
"""Distance of the marks of a mode from the middle of their row."""
MODE_KEYS = tuple(Key(*_MODES[mode]) for mode in MODES)
ACCURACY_KEYS = (Key(_PAPER, "paper"), *MODE_KEYS)
CONVERGENCE_KEYS = (*MODE_KEYS, Key(_PAPER_LINE, "paper, after 36 evaluations"))
PAPER_NAMES = {
    "w_amp_table": "WAF", "live_sst_bytes": "SA", "rate_mb_s": "RATE", "total_s": "TIME",
}  # fmt: skip
"""Names of the metrics in the paper."""


def accuracy_plot(rows: Sequence[Accuracy]) -> Chart:
    """Draw the held-out R² of a random forest: of the paper, and of each mode here."""
    chart, places = Chart.rows([PAPER_NAMES[row.metric] for row in rows], _ROW_PX), range(len(rows))
    for mode, offset in _OFFSETS.items():
        found, shape = [row.forest[mode] for row in rows], _MODES[mode][0]
        chart.intervals(found, [place + offset for place in places], shape, "%{x:.3f}")
    published = [row.paper for row in rows]
    chart.dots(published, list(places), marker(_PAPER, 12, 2), "paper %{x:.3f}")
    return chart


def contribution_plot(rows: Sequence[Contribution]) -> Chart:
    """Draw the mean decrease in impurity per parameter and mode."""
    names = [f"{r.knob} (paper: {r.paper_place})" if r.paper_place else r.knob for r in rows]
    chart = Chart.rows(names, _ROW_PX)
    for mode, offset in _OFFSETS.items():
        varied = [(y + offset, row) for y, row in enumerate(rows) if row.place[mode] is not None]
        mdi, places = [row.mdi[mode] for _, row in varied], [y for y, _ in varied]
        chart.dots(mdi, places, marker(_MODES[mode][0], 10), "%{x:.3f}")
    chart.update_xaxes(rangemode="tozero")
    return chart


def improvement_plot(searches: Sequence[Search]) -> Chart:
    """Draw the improvement of each indicator: of the paper, and verified here."""
    chart = Chart.rows([PAPER_NAMES[metric] for metric in INDICATORS], _ROW_PX)
    table = paper()["table_2"]
    found: list[tuple[Shape, dict[str, float], str]] = [
        (_PAPER, improvements(table["default"], table["found"]), "paper")
    ]
    for search in searches:
        if (proven := verified(search.pairs)) is not None:
            gained = improvements(proven.base, proven.found)
            found.append((_MODES[search.mode][0], gained, search.name))
    for shape, gained, name in found:
        percent, rows = [100 * gained[metric] for metric in INDICATORS], range(len(INDICATORS))
        chart.dots(percent, list(rows), marker(shape, 11, 2), f"{name}: %{{x:.1f}} %")
    chart.rule(x=0)
    chart.update_xaxes(ticksuffix=" %")
    return chart


def convergence_plot(searches: Sequence[Search]) -> Chart:
    """Draw the best fitness so far over the evaluations of each search."""
    chart = Chart(_HEIGHT_PX, bottom=56)
    for search in searches:
        look = _MODES[search.mode][0], "solid" if search.mode == "honest" else "dash"
        best = convergence(search)
        x, steps = list(range(1, len(best) + 1)), {"shape": "hv"}
        chart.line(x, best, look, f"{search.name}: %{{y:.0f}}", size=5, line=steps)
    chart.rule(y=paper()["genetic"]["fitness"], dash="dot")
    chart.update_xaxes(title="evaluations")
    return chart
