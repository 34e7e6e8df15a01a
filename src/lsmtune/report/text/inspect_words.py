"""Contents of a LOG in words and rows, for the terminal and the page."""

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from lsmtune.analysis.inspect.applying import lines_to_apply
from lsmtune.analysis.inspect.first_steps import value_text
from lsmtune.analysis.inspect.inspection import (
    ChangedOption,
    Finding,
    Inspection,
    LevelLine,
    Period,
    covered_s,
)
from lsmtune.knobs.advice import unit_of
from lsmtune.knobs.defaults import nearest_version
from lsmtune.metrics.benchmark_run import BenchmarkRun
from lsmtune.metrics.log_stalls import SeenFiles
from lsmtune.report.text.words import counted, listed, number, quantity
from lsmtune.units import GIB, MIB, format_bytes, format_duration

UNKNOWN = "unknown"
NOTHING_FLUSHED = (
    "Nothing was flushed or compacted since the opening, so there is nothing to tune in writes yet."
)
_MOST_NEEDS = 2
_KINDS = {"delay": "slowed down", "stop": "stopped"}
_WITHOUT_VERSION = (
    "my.cnf", "tikv.toml", "options string", "MyRocks status", "report of benchmark.sh",
    "MyRocks status table", "Prometheus text", "PerfContext",
)  # fmt: skip
_SOURCES = {
    "tickers": "exact, from counters", "events": "exact, from events",
    "cumulative": "from rounded sums", "table": "from the table's sum", None: "unknown source",
}  # fmt: skip
_OF_A_RUN = (
    ("micros_per_op", "time per operation", "µs"),
    ("p99_us", "p99", "µs"),
    ("p999_us", "p99.9", "µs"),
    ("stall_percent", "stalled", "%"),
)
LEVEL_HEADS = ("level", "files", "size", "read", "written", "W-Amp (table)")


def heading(log: Inspection) -> str:
    """Return what was read: `LOG of RocksDB 7.8.3, 8.4 s`."""
    unknown = "" if log.kind in _WITHOUT_VERSION else " of RocksDB, version unknown"
    version = f" of RocksDB {log.version}" if log.version else unknown
    span = f", {format_duration(log.span_s)}" if log.span_s else ""
    return f"{log.kind}{version}{span}"


def verdict_text(log: Inspection) -> str:
    """Return in a sentence or two what the rules say of the LOG."""
    verdict = {
        "findings": "1 finding:"
        if len(log.findings) == 1
        else f"{counted(len(log.findings), 'finding')}; act on the first finding first:",
        "no_findings": "No findings: every rule had its data.",
        "insufficient_data": "Not enough data: lsmtune found nothing, but rules lack data.",
    }[log.verdict]
    if not log.extent.nothing_ran or log.findings:
        return verdict
    return f"{verdict} {NOTHING_FLUSHED}"


def unread_text(log: Inspection) -> str:
    """Return which lines are unread, and that there is no diagnosis or a doubtful one."""
    if log.is_refused:
        return f"No diagnosis: {log.unread} The flag --force gives a diagnosis all the same."
    return f"Warning: this diagnosis may be wrong: {log.unread}"


def title_text(finding: Finding) -> str:
    """Return the title of a finding, with its column families."""
    if finding.family is None:
        return finding.title
    of = "column families" if ", " in finding.family else "column family"
    return f"{finding.title} ({of} {finding.family})"


def contexts(log: Inspection) -> list[str]:
    """Return the sentences that several findings share, each once."""
    return [text for text in dict.fromkeys(one.context for one in log.findings) if text]


def finding_rows(finding: Finding, log: Inspection) -> list[tuple[str, str]]:
    """Return what a finding says, a label and a text each: from the cause to the check."""
    others = [name for name in finding.look_at if name not in finding.step.text]
    rows = [
        ("cause", finding.evidence),
        ("do", finding.step.text),
        ("apply", "; ".join(map(str, lines_to_apply(finding, log)))),
        ("cost", costs_text(finding, log.version)),
        ("check", f"in the {'next' if log.as_run is None else 'new'} {log.kind}: {finding.check}"),
        ("see also", ", ".join(others)),
    ]
    return [(label, text) for label, text in rows if text]


def costs_text(finding: Finding, version: str | None) -> str | None:
    """Return what the first step costs; None if it sets no option.

    It says which version is needed if `version` lacks the option.
    """
    first = finding.first_action
    if first is None:
        return None
    newer = f"; needs RocksDB {first.since}" if version and not first.is_in(version) else ""
    return f"{first.cost}{newer}"


def next_commands(log: Inspection) -> list[str] | None:
    """Return the commands that try options on a copy; None where no study can be written."""
    has_options = log.kind == "LOG" and log.option("write_buffer_size") is not None
    if not log.findings or not has_options or log.extent.nothing_ran or log.name == "-":
        return None
    file = "store.toml"
    return [f"lsmtune inspect {shlex.quote(log.name)} --to-study {file}", f"lsmtune tune {file}"]


def needed_text(log: Inspection) -> str:
    """Return the heading of the list of data that rules lack."""
    return "other rules need these data:" if log.findings else "lsmtune needs these data:"


def needed_lines(log: Inspection, all_data: str = "--verbose") -> list[str]:
    """Return in at most two lines what a text of this kind could contain and this one lacks.

    Data with the same remedy share a line. `all_data` names the place of the whole list.
    """
    if not log.needed:
        return []
    remedies: dict[str, list[str]] = {}
    for advice in log.needed_here:
        what, _, how = advice.partition(": ")
        remedies.setdefault(how, []).append(what)
    lines = [f"missing here: {listed(what)}: {how}" for how, what in remedies.items()]
    rest = sum(len(what) for what in list(remedies.values())[_MOST_NEEDS:])
    if not lines:
        return [
            f"a text of the kind {log.kind} cannot contain the data that other rules need "
            f"(all data: {all_data})"
        ]
    if rest:
        lines[_MOST_NEEDS - 1] += f" ({rest} more: {all_data})"
    return lines[:_MOST_NEEDS]


def short_names(logs: Sequence[Inspection]) -> list[str]:
    """Return the names of the LOGs, without the folders that all of them share."""
    for parts in range(1, max(len(PurePath(log.name).parts) for log in logs)):
        names = [str(PurePath(*PurePath(log.name).parts[-parts:])) for log in logs]
        if len(set(names)) == len(names):
            return names
    return [log.name for log in logs]


def facts(log: Inspection) -> list[tuple[str, str]]:
    """Return workload and totals, a label and a text each."""
    return [*_period_facts(log), *_load_facts(log), *_total_facts(log), *_result_facts(log)]


def compared_facts(logs: Sequence[Inspection]) -> list[list[str]]:
    """Return a row per fact: its label, and its text in each LOG."""
    columns = [dict(facts(log)) for log in logs]
    labels = dict.fromkeys(label for column in columns for label in column)
    return [[label, *(column.get(label, UNKNOWN) for column in columns)] for label in labels]


def period_of_all(log: Inspection) -> str:
    """Return the words for numbers of the whole LOG, if others end at its last dump; else ""."""
    return " in the whole LOG" if _until_last_dump_s(log) is not None else ""


def _until_last_dump_s(log: Inspection) -> float | None:
    """Return the time from the opening to the last dump; None if the LOG has no such dump."""
    return log.load.span_s if log.kind == "LOG" and log.dumps and log.span_s else None


def _period_facts(log: Inspection) -> list[tuple[str, str]]:
    if "since_start" in (log.totals.clients_period, log.totals.jobs_period):
        span_s = log.load.span_s
        told = "" if span_s is None else f", {format_duration(span_s)}"
        return [("period of the numbers", f"since the program started{told}")]
    until_s = _until_last_dump_s(log)
    if until_s is None:
        return []
    whole = format_duration(log.span_s or 0.0)
    told = f"from the opening to the last dump, {format_duration(until_s)}; whole LOG: {whole}"
    return [("period of the numbers", told)]


def _load_facts(log: Inspection) -> list[tuple[str, str]]:
    load = log.load
    return [
        ("writes", _rate(load.writes_s, "writes/s", load.ingest_bytes_s)),
        ("gets", _value(load.gets_s, "gets/s")),
        ("scans", _value(load.seeks_s, "seeks/s")),
        ("share of reads", _value(load.read_percent, "%")),
        ("mean key size", _value(load.key_bytes, "bytes")),
        ("mean value size", _value(load.value_bytes, "bytes")),
        ("share of deletions", _value(load.delete_percent, "%")),
        ("compressed size / uncompressed size", _value(load.compressed_to, "ratio")),
    ]


def _result_facts(log: Inspection) -> list[tuple[str, str]]:
    return [(f"result of {run_title(run, log)}", run_text(run)) for run in log.runs]


def run_title(run: BenchmarkRun, log: Inspection) -> str:
    """Return the benchmark, with its version if the text has runs of several versions."""
    version = run.setup.get("version")
    return f"{run.benchmark}, {version}" if version and not log.version else run.benchmark


def run_text(run: BenchmarkRun) -> str:
    """Return the speed of a run, and its slowest operations."""
    parts = [f"{number(run.values['ops_per_s'])} operations/s"]
    parts += [
        f"{label} {number(run.values[name])} {unit}".rstrip()
        for name, label, unit in _OF_A_RUN
        if name in run.values
    ]
    if run.repeats > 1:
        parts.append(f"mean of {run.repeats} runs")
    return ", ".join(parts)


def _total_facts(log: Inspection) -> list[tuple[str, str]]:
    totals = log.totals
    exact = "" if totals.write_amp is None else f" ({_SOURCES[totals.write_amp_from]})"
    return [
        ("written by clients", _written_by_clients(log)),
        ("flushed", _of_period(log, totals.flush_write_bytes, totals.jobs_period)),
        ("compacted", _of_period(log, totals.compact_write_bytes, totals.jobs_period)),
        ("write amplification", _value(totals.write_amp, "ratio") + exact),
        ("W-Amp (table)", _value(totals.w_amp_table, "per flushed byte")),
        ("writes stalled", _stalled(log)),
        ("compactions", _compactions(log)),
        *_level_0_facts(log),
    ]


def _level_0_facts(log: Inspection) -> list[tuple[str, str]]:
    """Return the numbers of files that lines name; events would say more."""
    if log.shapes:
        return []
    return [
        (f"files in level 0{_of_family(family, log)}", _seen(seen))
        for family, seen in log.level_0.items()
    ]


def _written_by_clients(log: Inspection) -> str:
    """Return the bytes of the clients, or the bound of what RocksDB prints as 0.00 GB."""
    totals = log.totals
    if totals.ingest_bytes is None and totals.ingest_below_bytes is not None:
        return f"< {totals.ingest_below_bytes / MIB:.0f} MiB"
    return _of_period(log, totals.ingest_bytes, totals.clients_period)


def _of_family(family: str, log: Inspection) -> str:
    return f" of {family}" if family and set(log.level_0) != {"default"} else ""


def _seen(seen: SeenFiles) -> str:
    times = counted(seen.lines, "line")
    return f"{seen.last:,} in the newest of {times}, at most {seen.most:,}"


def _of_period(log: Inspection, size_bytes: int | None, period: Period | None) -> str:
    text = _value(size_bytes, "bytes")
    return text if size_bytes is None or period != "log" else f"{text}{period_of_all(log)}"


def level_periods(log: Inspection) -> str | None:
    """Return the periods of the columns of the levels; None if all have the same."""
    if any(level.size_bytes is not None and not level.is_rough for level in log.levels):
        return "Levels: bytes read and written of the whole LOG, all else of the last dump"
    return None


def _stalled(log: Inspection) -> str:
    totals = log.totals
    if totals.stall_s is not None and totals.stall_percent is not None:
        return f"{format_duration(totals.stall_s)}, {number(totals.stall_percent)} % of the time"
    if log.timed_stalls:
        held = covered_s([(stall.begin_micros, stall.end_micros) for stall in log.timed_stalls])
        return f"at most {format_duration(held)}, from the warnings"
    return UNKNOWN


def _compactions(log: Inspection) -> str:
    totals = log.totals
    if totals.compactions is None:
        return UNKNOWN
    reasons = Counter(job.reason for job in log.jobs if job.kind == "compaction" and job.reason)
    listed = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common(4))
    took = f"{totals.compactions}, time {UNKNOWN}"
    if totals.compaction_s is not None:
        took = f"{totals.compactions} in {format_duration(totals.compaction_s)}"
    took += period_of_all(log)
    return f"{took}: {listed}" if listed else took


def changed_text(log: Inspection, name: str) -> str:
    """Return the value of an option that at least one LOG has changed, or one file sets."""
    if name in log.options_changed:
        return option_text(name, log.options_changed[name].value)
    if log.options_given:
        return option_text(name, log.options_given.get(name, "not set"))
    scopes = [log.options.get("", {}), *(log.options[family] for family in log.families)]
    known = any(name.rpartition(".")[2] in scope or name in scope for scope in scopes)
    return "default" if known else UNKNOWN


def defaults_text(log: Inspection) -> str:
    """Return with which defaults the options of the LOG are compared."""
    return f"the defaults of RocksDB {nearest_version(log.version or '')}"


def changed_rows(changes: Mapping[str, ChangedOption]) -> list[tuple[str, str, str]]:
    """Return options that are not at their defaults: the name, the value and the default."""
    return [
        (
            name,
            option_text(name, change.value),
            UNKNOWN if change.default is None else option_text(name, change.default),
        )
        for name, change in changes.items()
    ]


def given_rows(log: Inspection) -> list[tuple[str, str]]:
    """Return the options that a file of an unknown version sets, a name and a value each."""
    return [(name, option_text(name, value)) for name, value in log.options_given.items()]


def option_text(name: str, text: str) -> str:
    """Return a value of an option with its unit; `name` may begin with a column family."""
    own = next((part for part in (name, name.partition(".")[2]) if unit_of(part)), name)
    return value_text(own, text)


def stall_rows(log: Inspection) -> list[tuple[str, str, str]]:
    """Return causes of stalls with the longest possible time and its share of the LOG."""
    several = len(log.family_sums) > 1
    families = dict.fromkeys(stall.family for stall in log.timed_stalls) if several else [None]
    found = [
        (f"{_KINDS[kind]} by {cause}{f' (in {family})' if family else ''}", seconds)
        for family in families
        for (kind, cause), seconds in log.stall_seconds(family).items()
    ]
    rows = []
    for label, seconds in sorted(found, key=lambda item: -item[1]):
        share = f"{100 * seconds / log.span_s:.1f} %" if log.span_s else UNKNOWN
        rows.append((label, format_duration(seconds), share))
    return rows


def level_rows(log: Inspection, levels: Sequence[LevelLine] | None = None) -> list[list[str]]:
    """Return one row per level, under LEVEL_HEADS; of all levels, or of these."""
    several = len({level.family for level in log.levels}) > 1
    return [
        [
            f"{level.family} {level.level}" if several else level.level,
            UNKNOWN if level.files is None else str(level.files),
            _value(level.size_bytes, "bytes"),
            *(_moved(level, value) for value in (level.read_bytes, level.write_bytes)),
            _value(level.w_amp_table, "ratio"),
        ]
        for level in (log.levels if levels is None else levels)
    ]


def _moved(level: LevelLine, value: int | None) -> str:
    if level.is_rough and value is not None:
        return f"{value / GIB:.1f} GiB"
    return _value(value, "bytes")


def _rate(count: float | None, unit: str, size: float | None) -> str:
    if count is None:
        return UNKNOWN
    rate = f"{number(count)} {unit}"
    return rate if size is None else f"{rate}, {format_bytes(size)}/s"


def _value(value: float | None, unit: str) -> str:
    return UNKNOWN if value is None else quantity(value, unit)
