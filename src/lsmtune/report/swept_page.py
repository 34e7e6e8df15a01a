"""The page of a controlled experiment: the answers first, then each metric's cells."""

from collections.abc import Iterator, Sequence
from html import escape

import plotly.graph_objects as go

from lsmtune.analysis.swept import Cell, Swept, SweptMetric
from lsmtune.analysis.swept_words import answers, rows
from lsmtune.report.canvas import LINES, Key, canvas, colour, marker
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, code, element, items, join, table
from lsmtune.report.page import assembled
from lsmtune.report.words import counted, drawn_unit, label, sentence_start

_HEIGHT_PX = 260


def render_swept(swept: Swept) -> str:
    """The experiment as one HTML page that needs nothing but a browser, and no network."""
    parts = [_header(swept), *(_section(swept, metric) for metric in swept.metrics)]
    parts.append(numbers_section(swept))
    return assembled(f"{swept.name}: a controlled experiment", parts)


def numbers_section(swept: Swept) -> Html:
    """The section with all numbers."""
    return section("All numbers", "Every cell in every metric", numbers_table(swept))


def numbers_table(swept: Swept) -> Html:
    """Every cell in every metric as a table."""
    heads, found = rows(swept)
    return table(
        "Means over the blocks, half their 95 % intervals, ratios to the base", heads, found
    )


def _header(swept: Swept) -> Html:
    title = sentence_start(next(answers(swept, swept.metrics[0])))
    runs = f"{counted(swept.runs, 'run')} in {counted(swept.blocks, 'block')}"
    failed = f", {counted(swept.failed, 'run')} failed" if swept.failed else ""
    parts = [
        element("p", f"Controlled experiment: {swept.name}", class_="topic"),
        element("h1", title),
        element("p", f"{runs}{failed}. Every block runs all cells in a random order under one "
                     "workload seed, the base among them."),
        items(_factors(swept)),
    ]  # fmt: skip
    if swept.warnings:
        parts.append(element("div", items(swept.warnings), class_="warnings"))
    return element("header", *parts)


def _factors(swept: Swept) -> Iterator[Html]:
    for factor, levels in swept.factors.items():
        knobs = join(part for knob in swept.knobs[factor] for part in (code(knob), " "))
        yield join([f"{factor}: ", knobs, f"at {', '.join(levels)}"])
    for name, value in swept.fixed.items():
        yield join(["held everywhere: ", code(name), f" = {value}"])


def _section(swept: Swept, metric: SweptMetric) -> Html:
    told = list(answers(swept, metric))
    return section(
        label(metric.metric), sentence_start(told[0]),
        items(told[1:]) if told[1:] else "",
        picture(f"cells-{metric.metric}", cell_plot(swept, metric), cell_keys(swept, metric),
                told[0], f"{label(metric.metric)}, mean and 95 % interval"),
    )  # fmt: skip


def _lines(metric: SweptMetric) -> list[tuple[str, list[Cell]]]:
    """The cells as lines over the first factor: one for each combination of the others."""
    found: dict[str, list[Cell]] = {}
    for cell in metric.cells:
        found.setdefault(", ".join(cell.levels[1:]), []).append(cell)
    return list(found.items())


def cell_keys(swept: Swept, metric: SweptMetric) -> list[Key]:
    """A line a combination of the other factors' levels."""
    others = ", ".join(list(swept.factors)[1:])
    return [
        Key(LINES[place % len(LINES)][0], f"{others}: {name}" if name else "the cells")
        for place, (name, _) in enumerate(_lines(metric))
    ]


def cell_plot(swept: Swept, metric: SweptMetric) -> go.Figure:
    """The cells over the levels of the first factor, the base as a line across."""
    divisor, unit = drawn_unit(metric.metric)
    figure = canvas(_HEIGHT_PX, bottom=56)
    for place, (name, cells) in enumerate(_lines(metric)):
        shape, dash = LINES[place % len(LINES)]
        figure.add_scatter(
            x=[escape(cell.levels[0]) for cell in cells],
            y=[cell.mean / divisor for cell in cells],
            mode="lines+markers",
            marker=marker(shape, 9),
            line={"color": colour(shape.colour), "width": 1.5, "dash": dash},
            error_y=_whiskers(cells, divisor, shape.colour),
            hovertemplate=f"{escape(name)} %{{y:.4g}}<extra></extra>",
        )
    figure.add_hline(
        y=metric.base.mean / divisor, line={"color": colour("ink"), "width": 1, "dash": "dash"},
        annotation={"text": "base", "font": {"color": colour("ink"), "size": 12}},
    )  # fmt: skip
    figure.update_yaxes(title=unit)
    figure.update_xaxes(type="category", title=next(iter(swept.factors)))
    return figure


def _whiskers(cells: Sequence[Cell], divisor: float, ink: str) -> dict[str, object]:
    halves = [
        0.0 if cell.interval is None else (cell.interval.high - cell.mean) / divisor
        for cell in cells
    ]
    return {"type": "data", "array": halves, "thickness": 2, "width": 0, "color": colour(ink)}
