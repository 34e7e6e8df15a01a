"""What a rule is, and small helpers for its numbers and texts."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection, covered_s
from lsmtune.analysis.inspect.needs import Need
from lsmtune.knobs.defaults import defaults_of, known_versions, version_number
from lsmtune.metrics.log_jobs import Job
from lsmtune.units import format_bytes

ON, OFF = ("1", "true"), ("0", "false")
LEVELED = ("0", "kCompactionStyleLevel")
UNIVERSAL = ("1", "kCompactionStyleUniversal")
FIFO = ("2", "kCompactionStyleFIFO")
NO_OBJECT = (None, "", "None", "none", "nullptr", "(nil)", "0")
"""Texts of an option that names no object."""
WAITS_UNKNOWN = (
    "The cause can be the device, a rate limiter, or other work on the CPU; the LOG does not show "
    "which. Compare /proc/pressure/io and /proc/pressure/cpu while the store writes: a high value "
    "names the device or the CPU. If both are low, check the rate limiter."
)
"""End of the evidence for jobs that take long: three causes, and how to tell them apart."""
FirstSteps = Mapping[str, Step | str | tuple[Step | str, ...]]
"""What to try first, for each code of a finding: one step, or one for each option to start with.

A text is a step that changes no option.
"""
STALLS_FALL = "writes stall less of the time"
"""How to see that a step against write stalls helped."""
MORE_JOBS = (
    Step("raise", "max_background_jobs", 4),  # at 2, only one compaction runs
    Step("raise", "max_background_compactions", 2),
)
"""Steps for more compactions at the same time: `jobs_option` says which of both counts."""
_TRIGGERS = {
    "level-0 files": ("level0_slowdown_writes_trigger", "level0_stop_writes_trigger"),
    "estimated pending compaction bytes": (
        "soft_pending_compaction_bytes_limit", "hard_pending_compaction_bytes_limit",
    ),
}  # fmt: skip
_WHOLE = re.compile(r"\d{1,19}")
RUNS_DEFAULTS = ("OPTIONS file", "options string")
"""Files of RocksDB itself: an option that they leave out has RocksDB's default."""
_WITH_DEFAULTS = (*RUNS_DEFAULTS, "my.cnf", "arangod.conf")
"""Files whose column families have RocksDB's default for an option that they leave out."""
_SERVER_DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "arangod.conf": {"level0_file_num_compaction_trigger": 2.0},
    "Kvrocks INFO": {  # src/config/config.cc of apache/kvrocks
        "level0_file_num_compaction_trigger": 4.0, "level0_slowdown_writes_trigger": 20.0,
        "level0_stop_writes_trigger": 40.0, "max_background_jobs": 4.0,
    },
}  # fmt: skip
"""Defaults of a server that are not RocksDB's, by the kind of its file."""
_TOTAL = re.compile(r"Total Num: (\d{1,12})")


@dataclass(frozen=True, slots=True)
class Rule:
    """Looks at one thing. Without its data, it can neither find nor exclude anything."""

    find: Callable[[Inspection], Iterator[Finding]]
    needs: tuple[Need, ...]


def noticed(notice: str, need: Need, finding: Finding) -> Rule:
    """Return the rule that finds this if RocksDB wrote a notice; the evidence begins with it."""

    def find(log: Inspection) -> Iterator[Finding]:
        if notice in log.notices:
            yield replace(finding, evidence=f"{quoted(log, notice)} {finding.evidence}".rstrip())

    return Rule(find, (need,))


def percent(share: float) -> str:
    """Return a share as text: 0.5 is `50 %`."""
    return f"{100 * share:.0f} %"


def version_in(log: Inspection, since: str = "0.0", until: str = "99.0") -> bool:
    """Return whether `since` <= version of the LOG < `until`; False if it is unknown."""
    if not log.version:
        return False
    return version_number(since) <= version_number(log.version) < version_number(until)


def all_families(log: Inspection) -> tuple[str, ...]:
    """Return the families whose options or tables the text has; else the main family."""
    named = dict.fromkeys((*log.families, *(row.family for row in log.levels)))
    return tuple(named) or tuple(log.level_0) or (log.main_family,)


def bound_text(log: Inspection, family: str, option: str) -> str:
    """Return the value of an option for a sentence, or the default where the text lacks it."""
    own = log.family_option(family, option)
    if own is not None and _WHOLE.fullmatch(own):
        return _amount(option, int(own))
    of_server = server_default(log, option)
    of_rocksdb = defaults_of(log.version or known_versions()[1])[option].value
    default = of_rocksdb if of_server is None else of_server
    return f"{_amount(option, int(default))} by default"


def stall_bounds(log: Inspection, family: str, cause: str) -> str:
    """Return in a sentence when a cause slows down and stops writes; "" for an unknown cause."""
    if cause == "immutable memtables":
        number = log.family_option(family, "max_write_buffer_number")
        return "" if number is None else f" RocksDB stops writes at {number} memtables."
    if cause not in _TRIGGERS:
        return ""
    slow, stop = (bound_text(log, family, name) for name in _TRIGGERS[cause])
    return f" RocksDB slows down writes at {slow}, and stops them at {stop}."


def _amount(option: str, value: int) -> str:
    return format_bytes(value) if option.endswith("bytes_limit") else f"{value:,}"


def reads(log: Inspection) -> float:
    """Return the number of gets and seeks; 0 if it is unknown."""
    return log.facts.count("gets") + log.facts.count("seeks")


def read_share(log: Inspection) -> float:
    """Return the share of reads among all operations, as far as it is known; 0 if it is not."""
    return (log.facts.value("read_percent") or log.load.read_percent or 0.0) / 100


def server_default(log: Inspection, name: str) -> float | None:
    """Return the default that the server gives an option; None where it is RocksDB's."""
    return _SERVER_DEFAULTS.get(log.kind, {}).get(name)


def number_or_default(log: Inspection, family: str, name: str) -> float:
    """Return an option of a column family as a number, or RocksDB's default if a file lacks it.

    0 where the default is not RocksDB's, or not the same in all versions that the file may be of.
    """
    own = server_default(log, name)
    if log.family_option(family, name) is not None or (
        own is None and log.kind not in _WITH_DEFAULTS
    ):
        return log.family_number(family, name)
    if own is not None:
        return own
    versions = (log.version,) if log.version else known_versions()
    known = (defaults_of(version).get(name) for version in versions)
    values = {None if default is None else default.value for default in known}
    only = values.pop() if len(values) == 1 else 0
    return float(only) if isinstance(only, int | float) else 0.0


def is_old_tikv(log: Inspection) -> bool:
    """Return whether a tikv.toml has keys that only releases below 6.6 use."""
    names = ("raftstore.sync-log", "storage.block-cache.shared")
    return "raft" in log.families or any(log.option(name) is not None for name in names)


def jobs_option(log: Inspection) -> str:
    """Return the option that limits compactions: any of the two old options overrides the new."""
    names = (f"max_background_{name}" for name in ("compactions", "flushes"))
    old = (log.number(name) or server_default(log, name) or 0 for name in names)
    return "max_background_compactions" if max(old) > 0 else "max_background_jobs"


def limiter_options(log: Inspection) -> tuple[str, ...]:
    """Return the option of the rate limiter, or none if the LOG tells that there is no limiter."""
    limiter = log.option("rate_limiter")
    return () if limiter is not None and limiter in NO_OBJECT else ("rate_limiter_bytes_per_sec",)


def age_options(style: str | None) -> tuple[str, ...]:
    """Return the options that compact old files without dropping data, by compaction style.

    None where the style is unknown, or FIFO: there they delete data. Universal compaction
    ignores a ttl that SetOptions sets. Below 8.11, periodic compaction of levels keeps deletions.
    """
    if style in LEVELED:
        return ("ttl", "periodic_compaction_seconds")
    return ("periodic_compaction_seconds", "ttl") if style in UNIVERSAL else ()


def compactions(log: Inspection) -> list[Job]:
    """Return the compactions that ended."""
    return [job for job in log.jobs if job.kind == "compaction"]


def by_family(log: Inspection, kind: str | None = None) -> Iterator[tuple[str, list[Job]]]:
    """Yield each column family that has options or jobs, with its jobs, of one kind or of all.

    The jobs are sorted once: a LOG can have hundreds of families.
    """
    jobs: dict[str, list[Job]] = {family: [] for family in log.families}
    for job in log.jobs:
        if kind in (None, job.kind):
            jobs.setdefault(job.family or log.main_family, []).append(job)
    yield from jobs.items()


def share_of_reason(log: Inspection, reason: str) -> float:
    """Return the share of the compacted bytes that compactions with this reason wrote."""
    return share_written(compactions(log), lambda job: job.reason == reason)


def share_written(jobs: Iterable[Job], chosen: Callable[[Job], bool]) -> float:
    """Return the share of the written bytes that the chosen jobs wrote."""
    written = [(chosen(job), job.written_bytes or 0) for job in jobs]
    total = sum(count for _, count in written)
    return sum(count for is_chosen, count in written if is_chosen) / total if total else 0.0


def cpu_share(jobs: Iterable[Job]) -> float | None:
    """Return the share of the time of compactions that was spent on the CPU, if it is told."""
    told = [
        (job.cpu_micros / 1e6, job.duration_s)
        for job in jobs
        if job.cpu_micros is not None and job.duration_s
    ]
    seconds = sum(duration for _, duration in told)
    return sum(cpu for cpu, _ in told) / seconds if seconds else None


def stalled_share(log: Inspection) -> float:
    """Return the share of the time in which writes were held; 0 where the LOG does not tell."""
    if log.totals.stall_percent is not None:
        return log.totals.stall_percent / 100
    spans = [(stall.begin_micros, stall.end_micros) for stall in log.timed_stalls]
    return covered_s(spans) / log.span_s if log.span_s and spans else 0.0


def files_at_opening(log: Inspection) -> int | None:
    """Return the number of table files that the opening of the database found."""
    listed = log.notices.get("files at the opening")
    match = _TOTAL.search(listed.first) if listed else None
    return int(match[1]) if match else None


def quoted(log: Inspection, notice: str) -> str:
    """Return how often RocksDB wrote a line, and the first such line."""
    found = log.notices[notice]
    often = "once" if found.count == 1 else f"{found.count:,} times"
    return f"RocksDB wrote {often}: “{found.first.partition('] ')[2] or found.first}”."
