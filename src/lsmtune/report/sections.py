"""The sections of the page, each a finding as its title, a sentence, and a picture or a table."""

from collections.abc import Iterable

from lsmtune.analysis.study_view import StudyView
from lsmtune.report.comparison import Comparison, MetricRow
from lsmtune.report.figures import (
    Convergence,
    FailedTrial,
    Failures,
    Measured,
    OptionRow,
    Options,
)
from lsmtune.report.frame import picture, section
from lsmtune.report.headline import Headline
from lsmtune.report.markup import Html, code, element, join, table
from lsmtune.report.plots import LEVEL_KEYS, comparison_keys, comparison_plot, levels_plot
from lsmtune.report.search_plot import convergence_keys, convergence_plot
from lsmtune.report.tree import Stalls, Trees
from lsmtune.report.words import counted, number, quantity, unbroken, unit_text


def header(view: StudyView, head: Headline) -> Html:
    """The claim, its grounds, what to be wary of, and the facts of the study."""
    facts = (
        element("div", element("dt", term), *(element("dd", unbroken(text)) for text in texts))
        for term, texts in head.facts
    )
    return element(
        "header",
        element("p", f"Tuning study {view.name}{_load(view)}", class_="topic"),
        element("h1", unbroken(head.claim)),
        element("p", unbroken(" ".join(head.grounds))),
        warnings_box(head.warnings),
        element("dl", *facts, class_="facts"),
    )


def warnings_box(warnings: Iterable[str]) -> Html:
    """What to be wary of; nothing where there is nothing."""
    notes = [element("p", element("strong", "Note: "), text) for text in warnings]
    return element("div", *notes, class_="warnings", role="note") if notes else Html()


def _load(view: StudyView) -> str:
    return f": {view.engine} under {view.workload.name}"


def options_section(record: Options) -> Html:
    """The changed options as a table."""
    shown = options_table(record.rows, "best") if record.rows else ""
    return section("Options that changed", record.title, shown)


def options_table(rows: Iterable[OptionRow], best: str) -> Html:
    """Options in words and in the engine's own values; `best` says whose they are."""
    heads = ("option", "base", best, "takes effect", "what it trades")
    caption = f"Base and {best}; the engine's own values below"
    return table(caption, heads, map(_option_cells, rows))


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
    rows = ((str(n), *cells) for n, *cells in sorted([*measured, *unmeasured]))
    return element(
        "details",
        element("summary", "The trials as a table"),
        table("The trials in order", ("trial", "outcome", record.axis), rows, fold=False),
    )


def _outcome(trial: Measured) -> str:
    if trial.mark == "cut":
        return _because("cut, at best still", trial.reason)
    return trial.mark + (f", by {number(100 * trial.excess)} %" if trial.excess else "")


def _because(status: str, reason: str) -> str:
    return f"{status}: {reason}" if reason else status


def comparison_section(record: Comparison) -> Html:
    """Base against best: the picture of the ratios, and every metric in a table."""
    drawn: Html | str = ""
    if record.drawn:
        figure, keys = comparison_plot(record), comparison_keys(record)
        drawn = picture("comparison", figure, keys, _described(record), record.axis)
    return section(
        "Base against best",
        record.title,
        element("p", record.see),
        drawn,
        element("p", unbroken(record.caveat), class_="note"),
        _metrics(f"The main metrics, {record.runs}", record.main),
        element(
            "details",
            element("summary", f"{counted(len(record.others), 'more metric')} as a table"),
            _metrics(f"All other metrics, {record.runs}", record.others),
        )
        if record.others
        else "",
    )


def _metrics(caption: str, rows: Iterable[MetricRow]) -> Html:
    heads = ("metric", "unit", "base", "best", "best / base", "meaning")
    return table(caption, heads, map(_cells, rows), fold=False)


def _cells(row: MetricRow) -> list[str]:
    name = code(row.metric.name)
    values = (measured_text(value, row.metric.unit) for value in (row.base, row.best))
    ratio = "none" if row.ratio is None else _judged(row)
    shown = element("strong", name) if row.group == "objective" else name
    return [shown, unit_text(row.metric.unit), *values, ratio, row.metric.meaning]


def measured_text(value: float | None, unit: str) -> Html:
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
            picture(name, levels_plot(levels), LEVEL_KEYS, f"{levels.title}. {levels.see}"),
        )
        for name, levels in (("size", record.size), ("written", record.written))
    )
    return section("The trees", record.title, element("div", *pictures, class_="pair"))


def stalls_section(record: Stalls) -> Html:
    """The stalls by cause as a table; the title says it all where there were none."""
    if not record.rows:
        return section("Stalls", record.title)
    rows = ((code(cause), f"{base:,}", f"{best:,}") for cause, base, best in record.rows)
    return section("Stalls", record.title, table(record.see, ("cause", "base", "best"), rows))


def failures_section(record: Failures) -> Html:
    """The failed trials as a table; the title says it all where none failed."""
    heads = ("number", "status", "reason", "differs from the base in")
    rows = (_failed_cells(row) for row in record.rows)
    return section(
        "Failed and cut trials"
        if any(row.status == "cut" for row in record.rows)
        else "Failed trials",
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


_LOADED = (
    "Every trial starts from an empty store: load, flush, wait until no flush or compaction is "
    "left, then a short probe of reads on the settled tree. So writes are not won by leaving "
    "work undone or by wrecking reads; load + settle counts both."
)
_PREPARED = (
    "Every trial runs its load on a database that was built before and had settled. What is "
    "measured is the load itself."
)
_PROBED = (
    "After it: flush, wait until no flush or compaction is left, then a short probe of reads on "
    "the settled tree."
)
_BUILT = (
    "What concerns written bytes is that of building the database, since the load only reads: so "
    "reads are not won by writing everything more often."
)
_DIRECT = (
    "Reads pass by the operating system's page cache, so that only the store's own caches count."
)
_WRITE_AMP = (
    "Write amplification is exact: bytes flushed and compacted over bytes that the clients "
    "wrote. The W-Amp of RocksDB's own table divides by flushed, already compressed bytes, so it "
    "moves with the compression; it stands here as w_amp_table."
)
_MEMORY = (
    "The options that ran are read back from the engine. Memory for memtables and cache stays "
    "within the memory limit, so that gains are not bought with memory."
)
_CUT = (
    "A trial that could no longer win was ended early. Its mark shows what it could at best still "
    "have reached; nothing of it counts as measured."
)
_PAIRS = (
    "A claim rests on pairs: best and base measured one after the other in random order, a fresh "
    "seed of the load each pair. The interval of 95 % is a t-interval on the logarithms of the "
    "ratios, and a gain is claimed only if all of it lies below 1 and no limit is broken."
)
_GOALS = (
    "With several goals the interval is that of their mean, and no goal may be shown to be lost."
)


def method_section(view: StudyView) -> Html:
    """How it was measured, in a few sentences."""
    load = view.workload
    sentences = (
        _PREPARED if load.preset.prepared else _LOADED,
        _PROBED if load.preset.prepared and load.kind == "write" else "",
        _DIRECT if load.direct_reads else "",
        _BUILT if load.kind == "read" else "",
        _WRITE_AMP,
        _MEMORY,
        _CUT if view.cut else "",
        _PAIRS if view.verification else "Best and base were not yet run in pairs.",
        _GOALS if view.objective.pareto and view.verification else "",
    )
    told = (element("p", text) for text in sentences if text)
    return section("Method", "How it was measured", *told)
