"""The page about LOGs: what is wrong first, then the pictures that show what the tree did."""

from collections.abc import Iterator, Sequence

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.report.frame import picture, section
from lsmtune.report.inspect_plots import (
    JOB_KEYS,
    STALL_KEYS,
    job_plot,
    main_shapes,
    rate_plot,
    shape_keys,
    shape_plot,
    stall_plot,
    undrawn,
    written_plot,
)
from lsmtune.report.inspect_words import (
    LEVEL_HEADS,
    NOT_TOLD,
    changed_text,
    facts,
    heading,
    level_rows,
    stall_rows,
)
from lsmtune.report.markup import Html, code, codes, element, items, join, table
from lsmtune.report.page import assembled
from lsmtune.report.words import counted, number, quantity

_DUMPS_FOR_A_LINE = 4


def render_inspections(logs: Sequence[Inspection]) -> str:
    """The LOGs as one HTML page that needs nothing but a browser, and no network."""
    names = ", ".join(log.name for log in logs)
    parts = [_side_by_side(logs)] if len(logs) > 1 else []
    for place, log in enumerate(logs, start=1):
        parts += [_header(log), *_sections(log, f"log{place}")]
    return assembled(f"What {names} says", parts)


def _side_by_side(logs: Sequence[Inspection]) -> Html:
    columns = [dict(facts(log)) for log in logs]
    rows = [[label, *(column[label] for column in columns)] for label in columns[0]]
    changed = sorted({name for log in logs for name in log.options_changed})
    rows += [
        [code(name), *(changed_text(log, name) for log in logs)]
        for name in changed
        if len({changed_text(log, name) for log in logs}) > 1
    ]
    first = [log.findings[0].title if log.findings else "nothing alarming" for log in logs]
    rows.insert(0, ["first finding", *first])
    return element(
        "header",
        element("p", "LOGs side by side", class_="topic"),
        element("h1", f"{len(logs)} LOGs, where they differ"),
        table("Load, totals and the options that differ", ("", *(log.name for log in logs)), rows),
    )


def _header(log: Inspection) -> Html:
    title = log.findings[0].title if log.findings else "Nothing in this LOG is alarming"
    return element(
        "header",
        element("p", f"{log.name}: {heading(log)}", class_="topic"),
        element("h1", title),
        *(_finding(finding) for finding in log.findings),
    )


def _finding(finding: Finding) -> Html:
    look_at = join(codes(finding.look_at))
    return element(
        "div",
        element("h3", finding.title),
        element("p", finding.evidence),
        element("p", join(["Look at first: ", look_at, "."])) if look_at else "",
    )


def _sections(log: Inspection, prefix: str) -> Iterator[Html]:
    yield section("Load and totals", _load_title(log), table(
        "As far as the LOG tells", ("", log.name), ([label, text] for label, text in facts(log)),
    ))  # fmt: skip
    if log.stalls:
        yield stalls_section(log, prefix)
    if any(job.started_micros and job.finished_micros for job in log.jobs):
        yield _jobs_section(log, prefix)
    if log.shapes:
        yield shape_section(log, prefix)
    if log.levels:
        yield _levels_section(log, prefix)
    if len(log.dumps) >= _DUMPS_FOR_A_LINE:
        yield _rate_section(log, prefix)
    if log.options_changed:
        yield _options_section(log)
    if log.incomplete:
        yield section("What is missing", "What this LOG does not tell", items(log.incomplete))


def _load_title(log: Inspection) -> str:
    rate = log.load.ingest_bytes_s
    if rate is None:
        return "The rate of the writes is not told"
    return f"Clients wrote {quantity(rate, 'bytes')} a second"


def stalls_section(log: Inspection, prefix: str, topic: str = "Stalls") -> Html:
    """When writes were held up, and by what."""
    cause, _, share = stall_rows(log)[0]
    title = f"Writes were held up to {share} of the time by one cause: {cause}"
    return section(
        topic, title,
        element("p", "A bar is a time in which writers, had they written, were slowed down or "
                     "stopped: from RocksDB's warning to its next look at the reasons."
                     + _undrawn([stall.kind for stall in log.stalls])),
        picture(f"{prefix}-stalls", stall_plot(log), STALL_KEYS, title),
        table("How long each cause held writes at most", ("cause", "time", "share"),
              stall_rows(log)),
    )  # fmt: skip


def _undrawn(kinds: Sequence[str]) -> str:
    left_out = undrawn(kinds)
    return f" The {left_out:,} shortest are not drawn." if left_out else ""


def _jobs_section(log: Inspection, prefix: str) -> Html:
    compactions = [job for job in log.jobs if job.kind == "compaction" and job.duration_s]
    longest = max(compactions, key=lambda job: job.duration_s or 0, default=None)
    title = "Only flushes ran" if longest is None else (
        f"The longest of {counted(len(compactions), 'compaction')} took "
        f"{quantity(longest.duration_s or 0, 's')}, into L{longest.output_level}"
    )  # fmt: skip
    note = _undrawn([job.kind for job in log.jobs])
    return section(
        "Flushes and compactions", title,
        element("p", f"A row a level, a bar a job that writes into it. Rows full of bars are a "
                     f"level that is always being rewritten.{note}"),
        picture(f"{prefix}-jobs", job_plot(log), JOB_KEYS, title),
    )  # fmt: skip


def shape_section(log: Inspection, prefix: str, topic: str = "The shape of the tree") -> Html:
    """How many files each level had over time."""
    most = max((shape.files[0] for shape in main_shapes(log) if shape.files), default=0)
    slow = log.number("level0_slowdown_writes_trigger")
    limit = "" if slow is None else f"; writes slow down at {slow:.0f}"
    title = f"Level 0 grew to {counted(most, 'file')}{limit}"
    return section(
        topic, title,
        element("p", f"Files in each level of {log.main_family} after each flush and compaction. "
                     "Level 0 that climbs is compaction that does not keep up."),
        picture(f"{prefix}-shape", shape_plot(log), shape_keys(log), title),
    )  # fmt: skip


def _levels_section(log: Inspection, prefix: str) -> Html:
    amplification = log.totals.write_amp
    told = NOT_TOLD if amplification is None else number(amplification)
    title = f"Write amplification: {told}"
    parts = [table("The levels", LEVEL_HEADS, level_rows(log))]
    if any(level.write_bytes for level in log.levels):
        parts.insert(0, picture(f"{prefix}-written", written_plot(log), [], title))
        parts.insert(0, element("p", f"What was written into each level of {log.main_family}."))
    return section("Levels", title, *parts)


def _rate_section(log: Inspection, prefix: str) -> Html:
    title = "The rate of the writes over time"
    return section(
        "Writes", title,
        element("p", "Between two dumps of the statistics, from numbers that RocksDB rounds."),
        picture(f"{prefix}-rate", rate_plot(log), [], title),
    )  # fmt: skip


def _options_section(log: Inspection) -> Html:
    rows = ([code(name), change.value, change.default]
            for name, change in log.options_changed.items())  # fmt: skip
    count = counted(len(log.options_changed), "option")
    return section(
        "Options", f"{count} differ from the defaults of RocksDB {log.version}",
        table("Changed options", ("option", "here", "default"), rows),
    )  # fmt: skip
