"""Sections of a study's page: a title with the finding, a sentence, a chart or a table."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.metric_rows import MetricRow
from lsmtune.analysis.study_view import StudyView
from lsmtune.report.canvas import Key, picture
from lsmtune.report.comparison import Comparison
from lsmtune.report.figures import (
    MARK_WORDS,
    Convergence,
    FailedTrial,
    Failures,
    Measured,
    Options,
)
from lsmtune.report.markup import Html, code, command, details, element, join, section, table
from lsmtune.report.plots import LEVEL_KEYS, comparison_keys, comparison_plot, levels_plot
from lsmtune.report.search_plot import convergence_keys, convergence_plot
from lsmtune.report.text.changed_options import OptionRow
from lsmtune.report.text.claim_text import ClaimText, metric_cells
from lsmtune.report.text.constraint_text import TRADES_TITLE
from lsmtune.report.text.facts import Fact, pace_text
from lsmtune.report.text.metric_words import Ratio, label
from lsmtune.report.text.step_text import StepText
from lsmtune.report.text.words import counted, number, quantity, unbroken, unit_text
from lsmtune.report.tree import Levels, Stalls, Trees

_CAMEL = re.compile("(?<=[a-z]{3})(?=[A-Z])")
"""Place where a name such as kCompactionStyleLevel may break."""


def header(view: StudyView, claim: Claim, text: ClaimText, compared: Comparison | None) -> Html:
    """Return the first screen: the claim, one sentence, warnings, a chart and a table."""
    chart: Html | str = ""
    if compared is not None and compared.key:
        chart = picture(
            "result", comparison_plot(compared.key),
            comparison_keys(compared.key), f"{text.headline}. {compared.see}", compared.axis,
        )  # fmt: skip
    reasons, details = (
        join(element("p", unbroken(line)) for line in lines)
        for lines in (text.reasons, text.details)
    )
    return element(
        "header",
        element("p", f"Tuning study {view.name}{_load(view)}", class_="topic"),
        element("h1", unbroken(text.headline)),
        _answers(text),
        chart,
        _result_table(claim, folded=bool(chart)) if claim.rows else "",
        element("p", unbroken(text.summary)) if text.answers else "",
        reasons,
        warnings_box(text.warnings),
        details,
    )


def _answers(texts: ClaimText) -> Html:
    """Return gain, cost, trust, what to do next, and the way back, in rows of a few lines."""
    rows = [(name, element("p", unbroken(text))) for name, text in texts.answers]
    if not rows:
        rows.append(("result", element("p", unbroken(texts.summary))))
    rows.append(("next", element("ol", *(element("li", _step(step)) for step in texts.steps))))
    if texts.undo is not None:
        rows.append(("back", _step(texts.undo)))
    shown = (element("div", element("dt", name), element("dd", text)) for name, text in rows)
    return element("dl", *shown, class_="answers")


def _result_table(claim: Claim, *, folded: bool) -> Html:
    """Return the metrics as a table, folded if a chart shows them already."""
    best = claim.compared
    heads = ("metric", f"{best} / baseline", "95 % interval", "baseline", best, "limit")
    pairs = f"{counted(claim.pairs, 'pair')} of runs"
    runs = pairs if claim.pairs else "the runs of the search, not verified"
    rows = (_result_cells(row) for row in claim.rows)
    shown = table(f"The result: medians over {runs}", heads, rows)
    return details("The numbers and limits as a table", shown) if folded else shown


def _result_cells(row: MetricRow) -> list[str]:
    better = row.metric.better
    small = f"{row.metric.name}, {better} is better" if better else row.metric.name
    name = element("strong" if row.role == "objective" else "span", label(row.metric.name))
    baseline, winner, change, interval, limit = (
        element("span", text, class_="number") for text in metric_cells(row)
    )
    cells = [change, interval, baseline, winner, limit]
    return [join([name, " ", element("small", small)]), *cells]


def trades_section(text: ClaimText) -> Html:
    """Return the better configs that break one default limit, with the flags that allow them."""
    return section("Limits", TRADES_TITLE, *map(_step, text.trades))


def _step(step: StepText) -> Html:
    parts = step.text.split("`")
    text = element("p", *(code(part) if n % 2 else part for n, part in enumerate(parts)))
    shown = step.command or step.flags
    return text if shown is None else join([text, command(shown)])


def facts_section(facts: Iterable[Fact]) -> Html:
    """Return the facts of the study: system, workload, objective."""
    shown = (
        element("div", element("dt", term), *(element("dd", unbroken(text)) for text in texts))
        for term, texts in facts
    )
    return section("Study", "What was measured", element("dl", *shown, class_="facts"))


def warnings_box(warnings: Iterable[str]) -> Html:
    """Return warnings in a box, or nothing."""
    notes = [element("p", element("strong", "Note: "), text) for text in warnings]
    return element("div", *notes, class_="warnings", role="note") if notes else Html()


def _load(view: StudyView) -> str:
    pace = "" if view.shown_pace is None else f", a running store at {pace_text(view.shown_pace)}"
    return f": {view.engine} under {view.workload.name}{pace}"


def options_section(record: Options) -> Html:
    """Return the changed options as a table."""
    shown = options_table(record.rows, "winner") if record.rows else ""
    return section(
        "Changed options", record.title, element("p", record.see) if record.see else "", shown
    )


def options_table(rows: Iterable[OptionRow], best: str) -> Html:
    """Return a table of options; `best` is the head of the tuned values.

    If the file has other values than the trials, they come first, because only they may be
    deployed.
    """
    shown = list(rows)
    with_file = any(row.raw_deployed not in ("", row.raw_best) for row in shown)
    values: tuple[str, ...] = ("baseline", best)
    if with_file:
        values = ("in the file", "baseline, full size", f"{best} as measured")
    caption = "In small print: the bytes of a size, the number of a special value"
    heads = ("option", *values, "can change", "trade-off")
    return table(caption, heads, (_option_cells(row, with_file=with_file) for row in shown))


def _option_cells(row: OptionRow, *, with_file: bool) -> list[str]:
    if with_file:
        values = [
            _value(row.deployed, row.raw_deployed, "strong"),
            _value(row.deployed_base, row.raw_deployed_base),
            _value(row.best, row.raw_best),
        ]
    else:
        values = [_value(row.base, row.raw_base), _value(row.best, row.raw_best, "strong")]
    return [
        code(row.name),
        *values,
        row.can_change,
        element("span", row.trade, class_="prose"),
    ]


def _value(text: str, raw: str, name: str = "span") -> Html:
    small = element("small", raw) if raw != text.split(" ", maxsplit=1)[0] else Html()
    shown = Html(_CAMEL.sub("<wbr>", escape(text)))
    return join([element(name, shown), " ", small]) if small else element(name, shown)


def search_section(record: Convergence) -> Html:
    """Return the search as a chart, with its numbers in a folded table."""
    if not record.measured and not record.unmeasured:
        return section("The search", record.title)
    drawn = picture(
        "search", convergence_plot(record), convergence_keys(record), _described(record),
        record.axis,
    )  # fmt: skip
    return section("The search", record.title, element("p", record.see), drawn, _trials(record))


def _described(record: Convergence | Comparison) -> str:
    return f"{record.title}. {record.see}"


def _trials(record: Convergence) -> Html:
    measured = [(t.number, _outcome(t), number(t.value)) for t in record.measured]
    unmeasured = [(t.number, _because(t.status, t.reason), "none") for t in record.unmeasured]
    rows = (
        (str(n), element("span", outcome, class_="prose"), value)
        for n, outcome, value in sorted([*measured, *unmeasured])
    )
    heads = ("trial", "outcome", record.axis.replace(", logarithmic", ""))
    grid = table("The trials in order", heads, rows, fold=False)
    return details("The trials as a table", grid)


def _outcome(trial: Measured) -> str:
    if trial.mark == "cut":
        return _because("pruned, best possible value", trial.reason)
    words = MARK_WORDS[trial.mark]
    excess = f", by {number(100 * trial.excess)} %" if trial.excess else ""
    if trial.runs > 1:
        words += f", median of {trial.runs} runs"
    return words + excess + (f"; {trial.reason}" if trial.reason else "")


def _because(status: str, reason: str) -> str:
    return f"{status}: {reason}" if reason else status


def comparison_section(record: Comparison) -> Html:
    """Return all metrics: a chart of the ratios, and folded tables."""
    drawn: Html | str = ""
    if record.drawn:
        figure = comparison_plot(record.drawn)
        keys = comparison_keys(record.drawn)
        drawn = picture("comparison", figure, keys, _described(record), record.axis)
    return section(
        "All metrics",
        record.title,
        element("p", record.see),
        drawn,
        element("p", unbroken(record.caveat), class_="note"),
        _metrics(record, "main metric", "The main metrics", record.main),
        _metrics(record, "more metric", "All other metrics", record.others)
        if record.others
        else "",
    )


def _metrics(record: Comparison, noun: str, what: str, rows: Sequence[MetricRow]) -> Html:
    heads = ("metric", "unit", "baseline", "winner", "winner / baseline", "meaning")
    cells = ([*_cells(row), _meaning(row, is_running=record.is_running)] for row in rows)
    shown = table(f"{what}, {record.runs}", heads, cells)
    return details(f"{counted(len(rows), noun)} as a table", shown)


def _meaning(row: MetricRow, *, is_running: bool) -> str:
    return (is_running and row.metric.window) or row.metric.meaning


def _cells(row: MetricRow) -> list[str]:
    name = code(row.metric.name)
    values = (measured_text(value, row.metric.unit) for value in (row.baseline, row.winner))
    shown = element("strong", name) if row.role == "objective" else name
    return [shown, unit_text(row.metric.unit), *values, _judged(row)]


def measured_text(value: float | None, unit: str) -> Html:
    """Return a value in the unit of its row; sizes get a larger unit."""
    if value is None:
        return Html("not measured")
    text = quantity(value, unit) if unit == "bytes" else number(value)
    return element("span", text, class_="number")


def _judged(row: MetricRow) -> Html | str:
    if row.ratio is None:
        return "no ratio"
    side = f", {row.side}" if row.side in ("better", "worse") else ""
    return element("span", f"{Ratio.of(row.interval or row.ratio)}{side}", class_="number")


def trees_section(record: Trees) -> Html:
    """Return the levels of baseline and winner, a chart per quantity."""
    pictures = (
        levels_picture(name, levels, LEVEL_KEYS, f"{levels.title}. {levels.see}")
        for name, levels in (("size", record.size), ("written", record.written))
    )
    return section("LSM trees", record.title, element("div", *pictures, class_="pair"))


def levels_picture(name: str, levels: Levels, keys: Iterable[Key], described: str) -> Html:
    """Return the chart of one quantity of two trees, with its title and how to read it."""
    return element(
        "div",
        element("h3", levels.title),
        element("p", levels.see, class_="note"),
        picture(name, levels_plot(levels), keys, described),
    )


def stalls_section(record: Stalls) -> Html:
    """Return the stalls by cause as a table."""
    if not record.rows:
        return section("Stalls", record.title)
    rows = ((code(cause), f"{base:,}", f"{best:,}") for cause, base, best in record.rows)
    return section("Stalls", record.title, table(record.see, ("cause", "baseline", "winner"), rows))


def failures_section(record: Failures) -> Html:
    """Return the failed and pruned runs as a table."""
    heads = ("trial", "status", "reason", "changed options")
    rows = (_failed_cells(row) for row in record.rows)
    return section(
        "Failed and pruned runs",
        record.title,
        table("Status and reason of each run", heads, rows) if record.rows else "",
    )


def _failed_cells(row: FailedTrial) -> list[str]:
    meaning = row.meaning.removeprefix(f"{row.status}: ")
    options = (element("div", code(text)) for text in row.differences)
    return [
        join([str(row.number), element("small", row.role)]),
        join([element("strong", row.status), element("small", meaning)]),
        element("span", row.reason, class_="prose"),
        details(counted(len(row.differences), "option"), *options) if row.differences else "none",
    ]
