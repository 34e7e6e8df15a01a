"""Page of LOGs: the first finding and its chart, then everything else that a LOG contains."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lsmtune.analysis.inspect.applying import Line, lines_to_apply
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.report.canvas import picture
from lsmtune.report.inspect_plots import (
    JOB_KEYS,
    MAX_BARS,
    STALL_KEYS,
    compared_plot,
    job_plot,
    main_shapes,
    rate_plot,
    shape_keys,
    shape_plot,
    stall_plot,
    totals_plot,
    undrawn,
    written_per_byte,
    written_plot,
)
from lsmtune.report.markup import Html, code, command, element, folded, items, join, section, table
from lsmtune.report.page import assembled
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.inspect_families import (
    FAMILY_HEADS,
    families_title,
    family_rows,
    has_several,
    option_groups,
    other_families,
)
from lsmtune.report.text.inspect_words import (
    LEVEL_HEADS,
    UNKNOWN,
    changed_rows,
    changed_text,
    compared_facts,
    contexts,
    defaults_text,
    facts,
    finding_rows,
    given_rows,
    heading,
    level_periods,
    level_rows,
    needed_lines,
    needed_text,
    next_commands,
    period_of_all,
    short_names,
    stall_rows,
    title_text,
)
from lsmtune.report.text.words import counted, number, quantity, unbroken

_TEXTS = PageTexts(__package__, "inspect")
_MIN_DUMPS = 4
_NAME = re.compile(r"(\b[A-Za-z]\w*(?:_\w+|(?:\.[\w-]+)+))")
"""An option in a text: `ttl` and the like are plain words."""
_MIN_ROUNDED_BYTES = 1 << 30
"""From this size, the rounding to 0.1 GB in RocksDB's table does not matter."""
_PAGE_BARS = 3 * MAX_BARS
"""All charts of a page together draw about this many bars, so that the page stays small."""


def render_inspections(logs: Sequence[Inspection]) -> str:
    """Return the LOGs as one HTML page without external requests."""
    logs = [replace(log, name=name) for log, name in zip(logs, short_names(logs), strict=True)]
    names = ", ".join(log.name for log in logs)
    if len(logs) == 1:
        (log,) = logs
        parts = [_header(log), *_details(log, "log1", MAX_BARS)]
        return assembled(f"{names}: {_headline(log)}", parts)
    parts = [_compared(logs), *folded_logs(logs)]
    return assembled(f"{names}: {_compared_headline(logs)}", parts)


def folded_logs(logs: Sequence[Inspection]) -> list[Html]:
    """Return a section per LOG with its first finding; a click shows everything else."""
    bars = max(50, min(MAX_BARS, _PAGE_BARS // len(logs)))
    return [_folded_log(log, f"log{index}", bars) for index, log in enumerate(logs, start=1)]


def _headline(log: Inspection) -> str:
    if log.findings:
        return title_text(log.findings[0])
    if log.verdict == "insufficient_data":
        return f"This {log.kind} contains too little data to judge"
    return f"No problem found in this {log.kind}"


def _compared_headline(logs: Sequence[Inspection]) -> str:
    """Return the range of the first total that all LOGs contain."""
    totals = {
        "Write amplification": [log.totals.write_amp for log in logs],
        "W-Amp (table)": [log.totals.w_amp_table for log in logs],
        "Share of the time in which writes stalled (%)": [log.totals.stall_percent for log in logs],
    }
    for label, values in totals.items():
        known = [(value, log.name) for value, log in zip(values, logs, strict=True)
                 if value is not None]  # fmt: skip
        if len(known) == len(logs):
            low, high = min(known), max(known)
            return (
                f"{label}: lowest {number(low[0])} in {low[1]}, highest {number(high[0])} in "
                f"{high[1]}"
            )
    return f"{len(logs)} LOGs compared"


def _compared(logs: Sequence[Inspection]) -> Html:
    rows = compared_facts(logs)
    changed = sorted({name for log in logs for name in (*log.options_changed, *log.options_given)})
    differ = [
        [code(name), *(changed_text(log, name) for log in logs)]
        for name in changed
        if len({changed_text(log, name) for log in logs}) > 1
    ]
    first = [_headline(log) for log in logs]
    rows.insert(0, ["first finding", *first])
    title, heads = _compared_headline(logs), ("", *(log.name for log in logs))
    drawn: Html | str = ""
    if any(log.totals.write_amp is not None for log in logs):
        drawn = picture("compared", compared_plot(logs), [], title, "write amplification")
    return element(
        "header",
        element("p", f"{len(logs)} LOGs compared", class_="topic"),
        element("h1", title),
        _TEXTS.html("write_amp"),
        drawn,
        table("Workload and totals", heads, rows, fold=False),
        table("Options that differ", heads, differ) if differ else "",
    )  # fmt: skip


def _folded_log(log: Inspection, prefix: str, bars: int) -> Html:
    return section(
        f"{log.name}: {heading(log)}",
        _headline(log),
        _contexts(log),
        *(_evidence(finding, log) for finding in log.findings[:1]),
        folded("Findings, charts and tables of this LOG", *_first_chart(log, prefix, bars),
               *_details(log, prefix, bars)),
    )  # fmt: skip


def _header(log: Inspection) -> Html:
    return element(
        "header",
        element("p", f"{log.name}: {heading(log)}", class_="topic"),
        element("h1", _headline(log)),
        _contexts(log),
        *(_evidence(finding, log) for finding in log.findings[:1]),
        *_first_chart(log, "log1", MAX_BARS),
    )


def _evidence(finding: Finding, log: Inspection) -> Html:
    """Return what a finding says as a list: from the cause to the check."""
    rows = []
    for label, text in finding_rows(finding, log):
        shown = [_with_codes(text)]
        if label == "apply":
            shown = [_line(line) for line in lines_to_apply(finding, log)]
        rows.append(element("div", element("dt", label.capitalize()), element("dd", *shown)))
    return element("dl", *rows, class_="answers")


def _line(line: Line) -> Html:
    """Return a call or a line of a file with a button that copies it."""
    where = f"In {line.file}; needs a restart:" if line.file else "At run time, no restart:"
    return join([element("p", where), command(line.text)])


def _with_codes(text: str) -> Html:
    """Return a text with the names of its options as they are typed."""
    return element("p", *(code(p) if n % 2 else p for n, p in enumerate(_NAME.split(text))))


def _contexts(log: Inspection) -> Html:
    return join(element("p", text) for text in contexts(log))


def _first_chart(log: Inspection, prefix: str, bars: int) -> list[Html]:
    """Return the chart that shows most about writes: stalls, else jobs, else files per level."""
    if log.timed_stalls:
        see, chart = _stall_chart(log, prefix, bars)
    elif _has_jobs(log):
        see, chart = _job_chart(log, prefix, bars)
    elif log.shapes and log.span_s:
        see, chart = _shape_chart(log, prefix, bars)
    else:
        return _totals_chart(log, prefix)
    return [element("p", see, class_="note"), chart]


def _details(log: Inspection, prefix: str, bars: int) -> Iterator[Html]:
    if log.findings[1:]:
        yield _findings_section(log)
    yield _totals_section(log)
    if log.timed_stalls:
        yield _stall_table(log)
    if log.timed_stalls and _has_jobs(log):
        yield _chart_section("Flushes and compactions", _job_title(log),
                             *_job_chart(log, prefix, bars))  # fmt: skip
    if log.shapes and (log.timed_stalls or _has_jobs(log)):
        yield shape_section(log, prefix, bars=bars)
    if has_several(log):
        yield families_section(log)
    if log.levels:
        yield _levels_section(log, prefix)
    if len(log.dumps) >= _MIN_DUMPS:
        yield _rate_section(log, prefix)
    if log.options_changed:
        yield options_section(log)
    if log.options_given:
        yield given_section(log)
    if (following := next_commands(log)) is not None:
        yield section(
            "Next", "Try other options on a copy of this workload", *map(command, following)
        )
    if log.needed:
        yield section(
            "Data for more rules", needed_text(log).capitalize(), items(needed_lines(log, "below")),
            folded("All data that rules lack", items(log.needed)),
        )  # fmt: skip
    if log.incomplete:
        yield section("Notes", f"What to know about this {log.kind}", items(log.incomplete))


def _findings_section(log: Inspection) -> Html:
    parts = (
        element(
            "div", element("h3", f"{title_text(finding)} [{finding.code}]"), _evidence(finding, log)
        )
        for finding in log.findings[1:]
    )
    return section("Findings", f"{counted(len(log.findings) - 1, 'more finding')}", *parts)


def _totals_section(log: Inspection) -> Html:
    known = [fact for fact in facts(log) if fact[1] != UNKNOWN]
    unknown = [label for label, text in facts(log) if text == UNKNOWN]
    note = f"This {log.kind} does not contain: {', '.join(unknown)}." if unknown else ""
    return section(
        "Workload and totals", _rate_title(log),
        table("Workload and totals", ("", "value"), known, fold=False) if known else "",
        element("p", note, class_="note") if note else "",
    )  # fmt: skip


def _rate_title(log: Inspection) -> str:
    rate = log.load.ingest_bytes_s
    if rate is None:
        return "Write rate: unknown"
    return f"Write rate of the clients: {quantity(rate, 'bytes')} per second"


def _chart_section(topic: str, title: str, see: str, chart: Html) -> Html:
    return section(topic, title, element("p", see), chart)


def stalls_section(log: Inspection, prefix: str, topic: str = "Stalls") -> Html:
    """Return when writes were slowed down or stopped, and the cause."""
    return section(
        topic, _stall_title(log),
        *(element("p", part) if not isinstance(part, Html) else part
          for part in _stall_chart(log, prefix, MAX_BARS)),
        _stalls(log),
    )  # fmt: skip


def _stall_title(log: Inspection) -> str:
    cause, _, share = stall_rows(log)[0]
    return f"Longest stall cause: {cause}, at most {share} of the time"


def _stall_chart(log: Inspection, prefix: str, bars: int) -> tuple[str, Html]:
    see = _TEXTS.text("stalls") + _undrawn([stall.kind for stall in log.stalls], bars)
    figure = stall_plot(log, bars)
    return see, picture(f"{prefix}-stalls", figure, STALL_KEYS, f"{_stall_title(log)}. {see}")


def _stall_table(log: Inspection) -> Html:
    return section("Stalls", _stall_title(log), _stalls(log))


def _stalls(log: Inspection) -> Html:
    rows = stall_rows(log)
    heads = ("cause", "time, at most", "share of the LOG")
    return join(
        [
            table("Stall time by cause", heads, rows),
            element("p", _TEXTS.text("stall_times"), class_="note"),
        ]
    )


def _undrawn(kinds: Sequence[str], bars: int) -> str:
    left_out = undrawn(kinds, bars)
    return f" The chart omits the {left_out:,} shortest bars." if left_out else ""


def _has_jobs(log: Inspection) -> bool:
    return any(job.started_micros and job.finished_micros for job in log.jobs)


def _job_title(log: Inspection) -> str:
    compactions = [job for job in log.jobs if job.kind == "compaction" and job.duration_s]
    longest = max(compactions, key=lambda job: job.duration_s or 0, default=None)
    if longest is None:
        return "Only flushes ran, no compaction"
    return (
        f"Longest of {counted(len(compactions), 'compaction')}: "
        f"{quantity(longest.duration_s or 0, 's')}, into L{longest.output_level}"
    )


def _job_chart(log: Inspection, prefix: str, bars: int) -> tuple[str, Html]:
    see = _TEXTS.text("jobs") + _undrawn([job.kind for job in log.jobs], bars)
    figure = job_plot(log, bars)
    return see, picture(f"{prefix}-jobs", figure, JOB_KEYS, f"{_job_title(log)}. {see}")


def shape_section(
    log: Inspection, prefix: str, topic: str = "Files per level", *, bars: int = MAX_BARS
) -> Html:
    """Return the number of files per level over time."""
    return _chart_section(topic, _shape_title(log), *_shape_chart(log, prefix, bars))


def _shape_title(log: Inspection) -> str:
    most = max((shape.files[0] for shape in main_shapes(log) if shape.files), default=0)
    slow = log.number("level0_slowdown_writes_trigger")
    limit = "" if slow is None else f"; RocksDB slows writes down at {slow:.0f} files"
    return f"Level 0 had up to {counted(most, 'file')}{limit}"


def _shape_chart(log: Inspection, prefix: str, bars: int) -> tuple[str, Html]:
    see = _TEXTS.text("shape", family=log.main_family)
    figure, title = shape_plot(log, bars), _shape_title(log)
    return see, picture(f"{prefix}-shape", figure, shape_keys(log), f"{title}. {see}")


def _levels_section(log: Inspection, prefix: str) -> Html:
    return section(
        "Levels", _levels_title(log),
        *_level_chart(log, prefix),
        table("Levels", LEVEL_HEADS, level_rows(log)),
        "" if _has_jobs(log) else element("p", _TEXTS.text("rounded"), class_="note"),
    )  # fmt: skip


def _levels_title(log: Inspection) -> str:
    """Return the write amplification in the period of the bytes of the levels."""
    amplification, period = written_per_byte(log), period_of_all(log)
    if amplification is None or any(level.is_rough for level in log.levels):
        amplification, period = log.totals.write_amp, ""
    known = UNKNOWN if amplification is None else number(amplification)
    return f"Write amplification{period}: {known}"


def _level_chart(log: Inspection, prefix: str) -> list[Html]:
    """Return the bytes written per level; none if the rounding of RocksDB hides them."""
    written = [level.write_bytes for level in log.levels if level.write_bytes]
    if not written or (not _has_jobs(log) and min(written) < _MIN_ROUNDED_BYTES):
        return []
    periods = level_periods(log)
    see = (
        f"The bars show the bytes written into each level of column family {log.main_family}. "
        f"Flushes write into level 0 (L0).{f' {periods}.' if periods else ''}"
    )
    described = f"{_levels_title(log)}. {see}"
    drawn = picture(f"{prefix}-written", written_plot(log), [], described)
    return [element("p", see), drawn]


def _totals_chart(log: Inspection, prefix: str) -> list[Html]:
    """Return the bytes that clients, flushes and compactions wrote; none if unknown."""
    if log.totals.flush_write_bytes is None or log.totals.compact_write_bytes is None:
        return []
    see = _TEXTS.text("totals")
    return [
        element("p", see, class_="note"),
        picture(f"{prefix}-totals", totals_plot(log), [], f"{_levels_title(log)}. {see}"),
    ]


def _rate_section(log: Inspection, prefix: str) -> Html:
    title, see = "Write rate over time", _TEXTS.text("rate")
    return _chart_section(
        "Writes", title, see, picture(f"{prefix}-rate", rate_plot(log), [], f"{title}. {see}")
    )


def families_section(log: Inspection) -> Html:
    """Return the column families that matter as a section of a page."""
    rest = other_families(log)
    return section(
        "Column families", families_title(log),
        table("Column families", FAMILY_HEADS, family_rows(log), fold=False),
        element("p", f"{rest}.", class_="note") if rest else "",
    )  # fmt: skip


def options_section(log: Inspection) -> Html:
    """Return the options that differ from the defaults as a section of a page."""
    groups = option_groups(log)
    names = {name for _, changes in groups for name in changes}
    verb = "differs" if len(names) == 1 else "differ"
    tables = [
        table(
            f"Changed options {heading or ''}".rstrip(),
            ("option", "value", "default"),
            [[code(name), *values] for name, *values in changed_rows(changes)],
        )
        for heading, changes in groups
    ]
    count = counted(len(names), "option")
    title = f"{count} {verb} from {defaults_text(log)}"
    return section("Options", unbroken(title), *tables)


def given_section(log: Inspection) -> Html:
    """Return the options of a file whose version is unknown as a section of a page."""
    rows = [(code(name), value) for name, value in given_rows(log)]
    title = f"{counted(len(rows), 'option')} in the {log.kind}"
    return section("Options", title, table("Options of the file", ("option", "value"), rows))
