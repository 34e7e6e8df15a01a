"""Page of a controlled experiment: the answer and one chart, then one section per metric."""

from collections.abc import Iterator
from html import escape

from lsmtune.analysis.study_view import StudyView
from lsmtune.analysis.swept import Cell, Swept, SweptMetric
from lsmtune.analysis.upgrade import Upgrade
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.canvas import Chart, Key, Shape, colour, line_keys, line_look, picture, whiskers
from lsmtune.report.markup import Html, code, codes, element, items, join, nowrap, section, table
from lsmtune.report.page import assembled, simulated_note
from lsmtune.report.sections import facts_section, warnings_box
from lsmtune.report.study_facts import system_facts
from lsmtune.report.text.facts import Fact
from lsmtune.report.text.metric_words import Ratio, drawn_unit, label, metric_value
from lsmtune.report.text.swept_words import (
    TOO_FEW_FLUSHES,
    answers,
    comparison_text,
    library_lines,
    mean_word,
    short_answer,
)
from lsmtune.report.text.words import counted, listed, sentence_start, unbroken

_HEIGHT_PX = 260
_BASELINE = Shape("line-ew", "┅", "ink")
_SEE = (
    "Each mark is the {mean} of {metric} over all runs with the same options. Two means differ "
    "clearly if their 95 % intervals do not overlap."
)
_SEE_BASELINE = " The dashed line is the {mean} of the baseline."


def render_swept(swept: Swept, view: StudyView, title: str = "", answer: Html | str = "") -> str:
    """Return the experiment as one HTML page without external requests.

    `view` is the stored study of the experiment. `title` and `answer` replace the strongest
    effect at the top of the page.
    """
    first = next((one for one in swept.metrics if not one.few_flushes), swept.metrics[0])
    others = (metric for metric in swept.metrics if metric is not first)
    parts = [
        _header(swept, view, first, title, answer),
        _design(swept),
        *(_section(swept, metric) for metric in others),
        numbers_section(swept),
        facts_section(_facts(swept, view)),
    ]
    return assembled(f"{swept.name}: a controlled experiment", parts)


def _facts(swept: Swept, view: StudyView) -> Iterator[Fact]:
    """Yield what ran; the engine is all libraries of RocksDB that ran, if libraries ran."""
    for term, texts in system_facts(view):
        yield term, (*library_lines(swept),) if term == "Engine" and swept.libraries else texts


def upgrade_section(upgrade: Upgrade) -> Html:
    """Return the section that says whether an upgrade helps and where the winner wins."""
    together = (
        f"All {upgrade.comparisons} intervals together have 95 % confidence (Bonferroni). An "
        "effect is proven if its interval does not contain 1."
    )
    rows = (
        [
            join([element("strong", label(metric.metric)), " ", element("small", metric.metric)]),
            *(nowrap(comparison_text(found)) for found in (*metric.upgrades, *metric.winners)),
        ]
        for metric in upgrade.metrics
    )
    one = upgrade.metrics[0]
    heads = (
        "metric",
        *(f"{c.version} / {upgrade.own}, with the baseline's options" for c in one.upgrades),
        *(f"winner / baseline on {c.version}" for c in one.winners),
    )
    return join([table("Ratios, with their 95 % intervals", heads, rows), element("p", together)])


def numbers_section(swept: Swept) -> Html:
    """Return the section with all numbers."""
    return section(
        "All numbers", "Every combination of values and every metric", numbers_table(swept)
    )


def numbers_table(swept: Swept) -> Html:
    """Return one folded table per metric, with a row per cell (combination of values)."""
    return join(_metric_table(swept, metric) for metric in swept.metrics)


def _metric_table(swept: Swept, metric: SweptMetric) -> Html:
    heads = (*swept.factors, "runs", f"{mean_word(metric)} (95 % interval)",
             "ratio to the baseline (95 % interval)")  # fmt: skip
    filler = [""] * (len(swept.factors) - 1)
    rows = [["baseline", *filler, *_numbers(metric.metric, metric.base)]]
    rows += [[*cell.levels, *_numbers(metric.metric, cell)] for cell in metric.cells]
    return table(
        f"{sentence_start(label(metric.metric))} by combination of values", heads, rows, fold=True
    )


def _numbers(metric: str, cell: Cell) -> list[str]:
    if cell.few_flushes:
        return [str(cell.runs), TOO_FEW_FLUSHES, ""]
    mean = metric_value(metric, cell.mean)
    if cell.interval is not None:
        low, high = (metric_value(metric, x) for x in (cell.interval.low, cell.interval.high))
        mean += f" ({low} to {high})"
    ratio = "" if cell.ratio is None else nowrap(str(Ratio.of(cell.ratio)))
    return [str(cell.runs), nowrap(mean), ratio]


def _header(
    swept: Swept, view: StudyView, metric: SweptMetric, own: str, answer: Html | str
) -> Html:
    title = sentence_start(short_answer(swept, metric))
    prefix = "Simulated: " if swept.is_simulated else ""
    see = _see(metric)
    return element(
        "header",
        element("p", f"Controlled experiment {swept.name}: {_system(swept, view)}", class_="topic"),
        element("h1", unbroken(f"{prefix}{own or title}")),
        simulated_note() if swept.is_simulated else "",
        warnings_box(swept.warnings),
        answer,
        element("h2", unbroken(title)) if own else "",
        "" if own else see,
        _cells(swept, metric, title),
        see if own else "",
        _answers(swept, metric),
    )


def _see(metric: SweptMetric) -> Html:
    """Return how to read the chart of the metric; nothing if there is no chart."""
    if metric.few_flushes:
        return Html()
    text = _SEE if metric.base.few_flushes else _SEE + _SEE_BASELINE
    return element("p", unbroken(text.format(mean=mean_word(metric), metric=label(metric.metric))))


def _system(swept: Swept, view: StudyView) -> str:
    """Return the engine with its versions, and the workload."""
    versions = listed([*swept.libraries] or [view.engine_version])
    return f"{view.engine} {versions} under {view.workload.name}"


def _design(swept: Swept) -> Html:
    runs = f"{counted(swept.runs, 'run')}, {counted(swept.blocks, 'repeat')}"
    failed = f", {counted(swept.failed, 'run')} failed" if swept.failed else ""
    return section(
        "Design", f"{sentence_start(runs)}{failed}",
        element("p", "A factor is a knob, or several knobs that change together. Each repeat runs "
                     "every combination of values once and the baseline at least once, in random "
                     "order. All runs of a repeat use the same workload seed."),
        _hosts(swept),
        items(_factors(swept)),
    )  # fmt: skip


def _hosts(swept: Swept) -> Html:
    """Return how runs of several hosts are compared; nothing if there is one host."""
    if not swept.hosts:
        return Html()
    return element("p", unbroken(
        f"The runs are from {counted(len(swept.hosts), 'host')}: {listed(swept.hosts)}. Each run "
        "is compared with a run of the baseline on the same host. The host is a factor of the "
        "model. Means are adjusted to the middle speed of the hosts."))  # fmt: skip


def _factors(swept: Swept) -> Iterator[Html]:
    for factor, levels in swept.factors.items():
        knobs = join(codes(swept.knobs[factor]))
        yield join([f"Factor {factor}: ", knobs, f" with the values {', '.join(levels)}"])
    for name, value in swept.fixed.items():
        yield join(["In all runs: ", code(name), f" = {value}"])


def _section(swept: Swept, metric: SweptMetric) -> Html:
    title = sentence_start(short_answer(swept, metric))
    shown = _cells(swept, metric, title), _answers(swept, metric)
    return section(label(metric.metric), title, *shown)


def _answers(swept: Swept, metric: SweptMetric) -> Html:
    return items(map(unbroken, answers(swept, metric)))


def _cells(swept: Swept, metric: SweptMetric, described: str) -> Html:
    if metric.few_flushes:
        return Html()
    return cell_picture(f"cells-{metric.metric}", swept, metric, described)


def cell_picture(
    name: str, swept: Swept, metric: SweptMetric, described: str, chart: Chart | None = None
) -> Html:
    """Return the chart of the cells; `chart` replaces the usual one."""
    shown = chart or cell_plot(swept, metric)
    return picture(name, shown, cell_keys(swept, metric), described, _cell_axis(metric))


def _cell_axis(metric: SweptMetric) -> str:
    """Return what the chart of a metric shows."""
    better = METRICS[metric.metric].better
    side = f" ({better} is better)" if better else ""
    return f"{label(metric.metric)}{side}, {mean_word(metric)} and 95 % interval"


def _lines(metric: SweptMetric) -> list[tuple[str, list[Cell]]]:
    """Return the cells as lines over the first factor, one per combination of the others."""
    found: dict[str, list[Cell]] = {}
    for cell in metric.cells:
        found.setdefault(", ".join(cell.levels[1:]), []).append(cell)
    return list(found.items())


def cell_keys(swept: Swept, metric: SweptMetric) -> list[Key]:
    """Return one mark per combination of the other factors' levels, and the baseline's line."""
    others = ", ".join(list(swept.factors)[1:])
    keys = line_keys(
        f"{others}: {name}" if name else f"{mean_word(metric)} of the runs"
        for name, _ in _lines(metric)
    )
    return keys if metric.base.few_flushes else [*keys, Key(_BASELINE, "baseline")]


def cell_plot(swept: Swept, metric: SweptMetric) -> Chart:
    """Draw the cells over the levels of the first factor, and the baseline as a line.

    The line is missing if the baseline flushed too seldom to measure the metric.
    """
    divisor, unit = drawn_unit(metric.metric)
    chart = Chart(_HEIGHT_PX, bottom=56)
    for index, (name, cells) in enumerate(_lines(metric)):
        look, spans = line_look(index), [_span(cell, divisor) for cell in cells]
        chart.line(
            [escape(cell.levels[0]) for cell in cells], [middle for middle, _, _ in spans],
            look, f"{escape(name)} %{{y:.4g}}", error_y=whiskers(look[0], spans),
            cliponaxis=False,  # a mark at 0 is on the axis
        )  # fmt: skip
    if not metric.base.few_flushes:
        chart.add_hline(
            y=metric.base.mean / divisor,
            line={"color": colour("ink"), "width": 1, "dash": "longdashdot"},
        )
    # Marks of one level are drawn side by side, because their values are often equal.
    chart.update_layout(scattermode="group", scattergap=0.5)
    chart.update_yaxes(title=unit, range=_range(metric, divisor))
    chart.update_xaxes(type="category", title=next(iter(swept.factors)))
    return chart


def _range(metric: SweptMetric, divisor: float) -> list[float]:
    """Return the range of the axis, with room around all intervals and the baseline."""
    drawn = metric.cells if metric.base.few_flushes else (metric.base, *metric.cells)
    values = [cell.mean for cell in drawn]
    for cell in metric.cells:
        if cell.interval is not None:
            values += [cell.interval.low, cell.interval.high]
    low, high = min(values) / divisor, max(values) / divisor
    room = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return [max(low - room, 0.0), high + room]


def _span(cell: Cell, divisor: float) -> tuple[float, float, float]:
    """Return the mean, and the ends of its interval; the mean itself without an interval."""
    low, high = (cell.mean, cell.mean) if (i := cell.interval) is None else (i.low, i.high)
    return cell.mean / divisor, low / divisor, high / divisor
