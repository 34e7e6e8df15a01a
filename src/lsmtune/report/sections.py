"""The sections of the page, each a finding as its title, a sentence, and a picture or a table."""

from collections.abc import Iterable

import plotly.graph_objects as go

from lsmtune.report.canvas import Key
from lsmtune.report.comparison import Comparison, MetricRow
from lsmtune.report.figures import Convergence, FailedTrial, Failures, OptionRow, Options
from lsmtune.report.headline import Headline
from lsmtune.report.markup import Html, code, element, items, join, table
from lsmtune.report.plots import LEVEL_KEYS, comparison_keys, comparison_plot, levels_plot
from lsmtune.report.search_plot import convergence_keys, convergence_plot
from lsmtune.report.tree import Levels, Stalls, Trees
from lsmtune.report.words import number, quantity, unbroken, unit_text


def header(study: str, head: Headline) -> Html:
    """The claim, its grounds, what to be wary of, and the facts of the study."""
    facts = (
        element("div", element("dt", term), *(element("dd", unbroken(text)) for text in texts))
        for term, texts in head.facts
    )
    warnings = [element("p", element("strong", "Note: "), text) for text in head.warnings]
    return element(
        "header",
        element("p", f"Tuning study {study}", class_="topic"),
        element("h1", unbroken(head.claim)),
        element("p", unbroken(" ".join(head.grounds))),
        element("div", *warnings, class_="warnings", role="note") if warnings else "",
        element("dl", *facts, class_="facts"),
    )


def options_section(record: Options) -> Html:
    """The changed options as a table."""
    heads = ("option", "base", "best", "takes effect", "what it trades")
    rows = (_option_cells(row) for row in record.rows)
    return _section(
        "Options that changed",
        record.title,
        table("Base and best; the engine's own values below", heads, rows) if record.rows else "",
    )


def _option_cells(row: OptionRow) -> list[str]:
    return [
        code(row.name),
        _value(row.base, row.raw_base),
        _value(row.best, row.raw_best, "strong"),
        "online" if row.apply == "online" else "after a restart",
        row.trade,
    ]


def _value(text: str, raw: str, name: str = "span") -> Html:
    small = element("small", raw) if raw != text.split(" ", maxsplit=1)[0] else Html()
    return join([element(name, text), small])


def search_section(record: Convergence) -> Html:
    """The search as a picture, and its numbers as a table to unfold."""
    if not record.measured and not record.unmeasured:
        return _section("The search", record.title)
    picture = _picture("search", convergence_plot(record), convergence_keys(record), record)
    return _section("The search", record.title, element("p", record.see), picture, _trials(record))


def _trials(record: Convergence) -> Html:
    measured = [
        (trial.number, trial.mark if trial.excess is None else f"{trial.mark}, by "
         f"{number(100 * trial.excess)} %", number(trial.value))
        for trial in record.measured
    ]  # fmt: skip
    unmeasured = [(trial.number, trial.status, "none") for trial in record.unmeasured]
    rows = ((str(n), *cells) for n, *cells in sorted([*measured, *unmeasured]))
    return element(
        "details",
        element("summary", "The trials as a table"),
        table("The trials in order", ("trial", "outcome", record.axis), rows),
    )


def comparison_section(record: Comparison) -> Html:
    """Base against best: the picture of the ratios, and every metric in a table."""
    heads = ("metric", "unit", "base", "best", "best / base", "meaning")
    metrics = table(f"Every metric, {record.runs}", heads, (_cells(row) for row in record.rows))
    picture: Html | str = ""
    if record.drawn:
        keys = comparison_keys(record)
        picture = _picture("comparison", comparison_plot(record), keys, record)
    return _section(
        "Base against best",
        record.title,
        element("p", record.see),
        picture,
        element("p", unbroken(record.caveat), class_="note"),
        metrics,
    )


def _cells(row: MetricRow) -> list[str]:
    name = code(row.metric.name)
    values = (_measured(value, row.metric.unit) for value in (row.base, row.best))
    ratio = "none" if row.ratio is None else _judged(row)
    shown = element("strong", name) if row.group == "objective" else name
    return [shown, unit_text(row.metric.unit), *values, ratio, row.metric.meaning]


def _measured(value: float | None, unit: str) -> Html:
    """A value in the unit of its row; sizes bring a unit that is easier to read."""
    if value is None:
        return Html("not measured")
    text = quantity(value, unit) if unit == "bytes" else number(value)
    return element("span", text, class_="number")


def _judged(row: MetricRow) -> Html:
    side = f", {row.side}" if row.side in ("better", "worse") else ""
    return element("span", f"{row.ratio}{side}", class_="number")


def trees_section(record: Trees) -> Html:
    """The levels of base and best, a picture for each quantity."""
    pictures = (
        element(
            "div",
            element("h3", levels.title),
            element("p", levels.see, class_="note"),
            _picture(name, levels_plot(levels), LEVEL_KEYS, levels),
        )
        for name, levels in (("size", record.size), ("written", record.written))
    )
    return _section("The trees", record.title, element("div", *pictures, class_="pair"))


def stalls_section(record: Stalls) -> Html:
    """The stalls by cause as a table; the title says it all where there were none."""
    if not record.rows:
        return _section("Stalls", record.title)
    rows = ((code(cause), f"{base:,}", f"{best:,}") for cause, base, best in record.rows)
    return _section("Stalls", record.title, table(record.see, ("cause", "base", "best"), rows))


def failures_section(record: Failures) -> Html:
    """The failed trials as a table; the title says it all where none failed."""
    heads = ("number", "status", "reason", "differs from the base in")
    rows = (_failed_cells(row) for row in record.rows)
    return _section(
        "Failed trials",
        record.title,
        table("Runs without a comparable measurement", heads, rows) if record.rows else "",
    )


def _failed_cells(row: FailedTrial) -> list[str]:
    return [
        join([str(row.number), element("small", row.role)]),
        join([element("strong", row.status), element("small", row.meaning)]),
        row.reason,
        join(element("div", code(text)) for text in row.differences)
        if row.differences
        else "nothing",
    ]


_PROTOCOL = (
    "Every trial starts from an empty store: load, flush, wait until no flush or compaction is "
    "left, then a short probe of reads on the settled tree. So writes are not won by leaving "
    "work undone or by wrecking reads; load + settle counts both.",
    "Write amplification is exact: bytes flushed and compacted over bytes that the clients "
    "wrote. The W-Amp of RocksDB's own table divides by flushed, already compressed bytes, so it "
    "moves with the compression; it stands here as w_amp_table.",
    "The options that ran are read back from the engine. Memory for memtables and cache stays "
    "within the memory limit, so that gains are not bought with memory.",
)
_PAIRS = (
    "A claim rests on pairs: best and base measured one after the other in random order, a fresh "
    "seed of the load each pair. The interval of 95 % is a t-interval on the logarithms of the "
    "ratios, and a gain is claimed only if all of it lies below 1 and no limit is broken."
)


def method_section(verified: bool) -> Html:
    """How it was measured, in a few sentences."""
    sentences = (*_PROTOCOL, _PAIRS if verified else "Best and base were not yet run in pairs.")
    return _section(
        "Method",
        "How it was measured",
        *(element("p", text) for text in sentences),
    )


def _section(topic: str, title: str, *content: str) -> Html:
    heading = (element("p", topic, class_="topic"), element("h2", unbroken(title)))
    return element("section", *heading, *content)


def _picture(
    name: str, figure: go.Figure, keys: Iterable[Key], record: Convergence | Comparison | Levels
) -> Html:
    """A figure: its key and what its axis shows as text, its place, its data for the script."""
    shown = (
        join(
            [
                element("span", key.shape.glyph, class_=key.shape.colour, aria_hidden="true"),
                key.meaning,
            ]
        )
        for key in keys
    )
    place = element(
        "div", id=name, class_="plot", role="img", aria_label=f"{record.title}. {record.see}"
    )
    data = Html(figure.to_json().replace("<", "\\u003c"))
    return element(
        "figure",
        items(shown, class_="key"),
        element("p", record.axis, class_="axis") if not isinstance(record, Levels) else "",
        place,
        element("script", data, type="application/json"),
        element("noscript", "The picture needs JavaScript; the tables hold its numbers."),
    )
