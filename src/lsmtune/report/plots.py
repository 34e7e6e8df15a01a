"""Charts of baseline and winner: metrics on one axis, and the levels of their trees."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.report.canvas import Chart, Key, Shape, colour, marker
from lsmtune.report.comparison import HEADINGS
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import quantity
from lsmtune.report.tree import Levels
from lsmtune.units import GIB, KIB, MIB
from lsmtune.verdict import Side

_ROW_PX = 24
_METRIC_PX = 38
"""Height of a row with the name of a metric and, below it, its ratio."""
SIDES: dict[Side, Shape] = {
    "better": Shape("circle", "●", "best"),
    "worse": Shape("diamond", "◆", "worse"),
    "undecided": Shape("circle-open", "○", "soft"),
}
LIMIT = Shape("line-ns", "┃", "ink")
BASE_BAR = Shape("/", "▨", "base")
BEST_BAR = Shape("", "■", "best")


def comparison_keys(rows: Sequence[MetricRow]) -> list[Key]:
    """Return the legend of the marks that the rows have."""
    meanings: dict[Side, str] = {
        "better": "better",
        "worse": "worse",
        "undecided": "unproven: the interval includes 1, or there is no interval",
    }
    sides = {row.side for row in rows}
    keys = [Key(SIDES[side], meaning) for side, meaning in meanings.items() if side in sides]
    limited = any(row.bound is not None for row in rows)
    return keys + ([Key(LIMIT, "limit")] if limited else [])


def comparison_plot(rows: Sequence[MetricRow]) -> Chart:
    """Return a dot with its interval per metric, on a logarithmic axis; left of 1 is better."""
    places = _places(rows)
    chart = Chart(_METRIC_PX * (len(places) + 1), top=32, bottom=8)
    for (side, asked), group in groupby(sorted(rows, key=_look), key=_look):
        found = list(group)
        chart.intervals(
            [_ratio(row).gain(row.metric.name) for row in found],
            [places[row.metric.name] for row in found], SIDES[side], "%{text}",
            size=13 if asked else 8, thickness=3 if asked else 1.5,
            text=[f"{row.metric.name}: {_ratio(row)}" for row in found],
        )  # fmt: skip
    limits = [(places[row.metric.name], row.bound) for row in rows if row.bound is not None]
    chart.dots(
        [limit for _, limit in limits], [place for place, _ in limits],
        marker(LIMIT, 14, 2.5), "limit: %{x:.3g}",
    )  # fmt: skip
    chart.ratio_axis([x for row in rows for x in _extent(row)])
    chart.update_yaxes(
        tickvals=list(places.values()),
        ticktext=[_row_text(key, rows) for key in places],
        range=[max(places.values(), default=0) + 0.8, -0.8],
        showgrid=False,
        ticklabelstandoff=10,  # on a narrow screen, a mark at the left end touches its name
    )
    return chart


def _places(rows: Sequence[MetricRow]) -> dict[str, int]:
    """Return the row of each metric and of each group's heading."""
    keys: list[str] = []
    for heading, found in groupby(rows, key=lambda row: HEADINGS[row.role]):
        keys += [heading, *(row.metric.name for row in found)]
    return {key: place for place, key in enumerate(keys)}


def _row_text(key: str, rows: Sequence[MetricRow]) -> str:
    row = next((row for row in rows if row.metric.name == key), None)
    if row is None:
        return f"<i>{key}</i>"
    name = f"1 / {key}" if row.metric.better == "higher" else key
    text = f"<b>{name}</b>" if row.role == "objective" else name
    gain = _ratio(row).gain(row.metric.name)
    return f'{text}<br><span style="font-size:10px">{gain}</span>'


def _look(row: MetricRow) -> tuple[Side, bool]:
    return row.side, row.role == "objective"


def _extent(row: MetricRow) -> list[float]:
    gain = _ratio(row).gain(row.metric.name)
    return [x for x in (gain.value, gain.low, gain.high, row.bound) if x is not None]


def _ratio(row: MetricRow) -> Ratio:
    """Return the ratio of a row that is drawn, which has one."""
    return Ratio.of(row.interval or row.ratio or 1.0)


LEVEL_KEYS = [Key(BASE_BAR, "baseline"), Key(BEST_BAR, "winner")]


def levels_plot(record: Levels) -> Chart:
    """Return a pair of bars per level, the top of the tree first."""
    names = [escape(bar.level) for bar in record.bars]
    chart = Chart(2 * _ROW_PX * len(names))
    known = [size for bar in record.bars for size in (bar.base, bar.best) if size is not None]
    largest = max(known, default=0)
    factor, unit = next((f, u) for f, u in _UNITS if largest >= f or f == 1)
    _add_bars(chart, names, [bar.base for bar in record.bars], BASE_BAR, factor)
    _add_bars(chart, names, [bar.best for bar in record.bars], BEST_BAR, factor)
    chart.update_xaxes(title=f"{unit} per level", range=[0, 1.3 * max(largest, 1) / factor])
    chart.update_yaxes(autorange="reversed", type="category", showgrid=False, ticklabelstandoff=6)
    return chart


_UNITS = ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"), (1, "bytes"))


def _add_bars(
    chart: Chart, names: list[str], sizes: list[int | None], shape: Shape, factor: int
) -> None:
    text = ["unknown" if size is None else quantity(size, "bytes") for size in sizes]
    ink = colour(shape.colour)
    hatched = {"shape": shape.symbol, "fillmode": "replace", "fgcolor": ink, "size": 5}
    chart.add_bar(
        y=names,
        x=[(size or 0) / factor for size in sizes],
        orientation="h",
        marker={"color": ink, "line": {"color": ink, "width": 1.5}, "pattern": hatched},
        text=text,
        textposition="outside",
        cliponaxis=False,
        hoverinfo="skip",
    )
