"""The record of what a LOG says; what it does not say is None, never 0."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lsmtune.analysis.inspect.facts import Facts
from lsmtune.analysis.inspect.first_steps import FirstStep, as_number
from lsmtune.knobs.advice import Action, action
from lsmtune.metrics.benchmark_run import BenchmarkRun
from lsmtune.metrics.compaction_table import CompactionTable
from lsmtune.metrics.db_bench import BenchmarkResult
from lsmtune.metrics.families import FamilySum
from lsmtune.metrics.log_dump import BlobFiles, IngestedFiles
from lsmtune.metrics.log_jobs import FileExtremes, Job, TreeShape
from lsmtune.metrics.log_notices import Notice
from lsmtune.metrics.log_reader import TimedDump
from lsmtune.metrics.log_recovery import Recovery
from lsmtune.metrics.log_stalls import SeenFiles, Stall
from lsmtune.metrics.statistics import HistogramSummary

Verdict = Literal["findings", "no_findings", "insufficient_data"]
"""`no_findings` only if every rule had its data."""


@dataclass(frozen=True, slots=True)
class ChangedOption:
    """An option that is not at its version's default, or whose default is unknown (None)."""

    value: str
    default: str | None


@dataclass(frozen=True, slots=True)
class LevelLine:
    """A level of a column family.

    `read_bytes` went into compactions into it, `write_bytes` were flushed or compacted into it:
    exact from the events where the LOG holds all of them, else of the table, rounded to a
    tenth of a GiB.
    """

    family: str
    level: str
    files: int | None
    size_bytes: int | None
    read_bytes: int | None
    write_bytes: int | None
    w_amp_table: float | None
    is_rough: bool = False
    """Whether the bytes are of the table."""


@dataclass(frozen=True, slots=True)
class Load:
    """The character of the load, as far as the LOG tells.

    Rates are a second of `span_s`. `value_bytes` and `key_bytes` are means of what was flushed,
    `compressed_to` is the size of flushed tables over that of their keys and values.
    `read_percent` is the share of gets and seeks in all operations, `filter_bits` what filters
    take a key, `records` how many were written, `from_empty` whether the tree was empty before.
    """

    span_s: float | None = None
    writes_s: float | None = None
    ingest_bytes_s: float | None = None
    gets_s: float | None = None
    seeks_s: float | None = None
    read_percent: float | None = None
    delete_percent: float | None = None
    range_deletes: int | None = None
    key_bytes: float | None = None
    value_bytes: float | None = None
    compressed_to: float | None = None
    filter_bits: float | None = None
    records: int | None = None
    from_empty: bool | None = None


Period = Literal["until_last_dump", "log", "since_start"]
"""From the opening of the database to the last statistics dump, all that the LOG contains, or from
the start of a program to its status text."""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums, and the write amplification with where it comes from.

    `clients_period` is the period of `ingest_bytes` and `write_amp`, `jobs_period` the period of
    the bytes of flushes and compactions. With `write_amp_from` "tickers" or "events", all of them
    have one period, and `write_amp` is their quotient. `w_amp_table` is of the last dump and
    divides by the bytes that flushes wrote, not by the bytes of clients.
    `write_amp` is exact from tickers; from events it stands on the bytes of the memtables that
    were flushed, which hold a sequence number an entry on top and are about 1 % more. From the
    cumulative sums or the table of a dump, it is rounded. `ingest_below_bytes` is a bound of
    `ingest_bytes` where RocksDB's rounding to 0.00 GB is all that is known.
    """

    flush_write_bytes: int | None = None
    compact_write_bytes: int | None = None
    ingest_bytes: int | None = None
    clients_period: Period | None = None
    jobs_period: Period | None = None
    write_amp: float | None = None
    write_amp_from: str | None = None
    w_amp_table: float | None = None
    stall_s: float | None = None
    stall_percent: float | None = None
    compactions: int | None = None
    compaction_s: float | None = None
    ingest_below_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Extent:
    """Parts of a LOG that a text contains.

    `has_first_line`: it begins with the head that RocksDB writes into each new LOG. `has_opening`:
    it contains the opening of the database. `logs_info`: it has messages of the level INFO.
    `lacks_info`: it shows that the program writes none. `has_whole_options`: it has the options of
    the database from the first to the last.
    `has_events`: it has events, or shows that there was nothing to tell. `nothing_ran`: no flush
    and no compaction ran since the opening. `is_old`: it has jobs of a version that writes no
    events. `dumps` counts the statistics dumps, also those that
    are too old to be used.
    """

    has_first_line: bool = False
    has_opening: bool = False
    logs_info: bool = False
    has_events: bool = False
    nothing_ran: bool = False
    is_old: bool = False
    lacks_info: bool = False
    has_whole_options: bool = False
    dumps: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, how that shows, and the options to look at first.

    `family` is the column family, or None if it concerns the whole database.
    `weight` in [0, 1] orders findings: the share of the load that it concerns times how likely
    these options are the cause. `current` has the values of the options, as far as the text has
    them. `step` is what to try first, and `check` says which number shows in the next text that it
    helped. `context` is a sentence that several findings share.
    """

    code: str
    title: str
    evidence: str
    look_at: tuple[str, ...]
    weight: float
    family: str | None = None
    current: Mapping[str, str] = field(default_factory=dict)
    step: FirstStep = field(default_factory=FirstStep)
    check: str = ""
    context: str = ""

    @property
    def actions(self) -> tuple[Action, ...]:
        """For each option to look at: what changing it costs, and whether that works online."""
        return tuple(action(option) for option in self.look_at)

    @property
    def first_action(self) -> Action | None:
        """What the first step costs, and whether it works online; None if it sets no option."""
        changes = self.step.changes
        return action(changes[0].option, self.step.cost) if changes else None


@dataclass(frozen=True, slots=True, repr=False)
class Inspection:
    """What one LOG says.

    `main_family` is the column family with most bytes, and `family_sums` has all families.
    `options` holds every option as the LOG has it: those of the database under "", those of a
    column family under its name. `stall_counts` are RocksDB's own, of the last dump of each
    family, as are `tables` (by column family), `blobs` and `ingested`. `tickers` and `histograms`
    are of the last dump. `jobs`, `shapes`, `stalls` and `dumps` are in the order of time, as the
    pictures need them. `needed` says which data rules lack, and how to get the data, `needed_here`
    only what a text of this kind could contain. `results` are those of db_bench. `level_0` has the
    numbers of files that lines name, by column family, and `extent` the parts of a LOG that the
    text contains. `facts` are the numbers that rules judge.

    `unread` says which lines lsmtune could not read, if they are too many for a diagnosis. The
    record is then empty, unless the diagnosis `is_forced`.

    Of a file of options, `as_run` has the options as RocksDB changes them when it opens the
    database, which is what `option`, `number` and the like return; `options` has them as written.
    `options_given` lists what a file sets if its version of RocksDB is unknown. `by_rocksdb`:
    RocksDB wrote the file, so its column families are all of them.
    """

    name: str
    kind: str
    version: str | None
    begin_micros: int | None
    end_micros: int | None
    options: Mapping[str, Mapping[str, str]]
    options_changed: Mapping[str, ChangedOption]
    main_family: str
    load: Load
    levels: tuple[LevelLine, ...]
    totals: Totals
    stall_counts: Mapping[str, int]
    tickers: Mapping[str, int]
    histograms: Mapping[str, HistogramSummary]
    tables: Mapping[str, CompactionTable]
    extremes: FileExtremes
    jobs: tuple[Job, ...]
    shapes: tuple[TreeShape, ...]
    stalls: tuple[Stall, ...]
    notices: Mapping[str, Notice]
    blobs: Mapping[str, BlobFiles]
    ingested: Mapping[str, IngestedFiles]
    dumps: tuple[TimedDump, ...]
    troubles: tuple[str, ...]
    trouble_lines: int
    incomplete: tuple[str, ...]
    results: Mapping[str, BenchmarkResult]
    findings: tuple[Finding, ...] = ()
    verdict: Verdict = "insufficient_data"
    needed: tuple[str, ...] = ()
    family_sums: tuple[FamilySum, ...] = ()
    facts: Facts = field(default_factory=Facts)
    as_run: Mapping[str, Mapping[str, str]] | None = None
    options_given: Mapping[str, str] = field(default_factory=dict)
    by_rocksdb: bool = True
    needed_here: tuple[str, ...] = ()
    extent: Extent = field(default_factory=Extent)
    level_0: Mapping[str, SeenFiles] = field(default_factory=dict)
    unread: str | None = None
    is_forced: bool = False
    recoveries: tuple[Recovery, ...] = ()
    """What each opening of the database read."""
    assumed_families: tuple[str, ...] = ()
    """Column families whose options RocksDB did not print: `options` has those of the others."""
    runs: tuple[BenchmarkRun, ...] = ()
    """All runs of benchmarks in the order of the text; `results` has the last of each."""

    def __repr__(self) -> str:
        """Return name and verdict; all records of a LOG would be pages of text."""
        return (
            f"<lsmtune.Inspection of {self.name!r}: {self.verdict}, {len(self.findings)} findings>"
        )

    @property
    def is_refused(self) -> bool:
        """Whether too many lines are unread for a diagnosis, and it is not forced."""
        return self.unread is not None and not self.is_forced

    @property
    def span_s(self) -> float | None:
        """From the first line of the LOG to the last."""
        if self.begin_micros is None or self.end_micros is None:
            return None
        return (self.end_micros - self.begin_micros) / 1e6

    @property
    def families(self) -> tuple[str, ...]:
        """The column families whose options the LOG tells."""
        return tuple(family for family in self.options if family)

    def option(self, name: str) -> str | None:
        """An option of the database, or else of the main family."""
        options = self._in_force
        for scope in ("", self.main_family):
            if name in options.get(scope, {}):
                return options[scope][name]
        return None

    @property
    def _in_force(self) -> Mapping[str, Mapping[str, str]]:
        return self.options if self.as_run is None else self.as_run

    def number(self, name: str) -> float | None:
        """An option as a number; None where the LOG lacks it or it is no finite number."""
        return as_number(self.option(name))

    def family_option(self, family: str, name: str) -> str | None:
        """An option of a column family."""
        return self._in_force.get(family, {}).get(name)

    def family_number(self, family: str, name: str) -> float:
        """An option of a column family as a number; 0 where the LOG lacks it or it is none."""
        return as_number(self.family_option(family, name)) or 0.0

    def written_number(self, family: str, name: str) -> float:
        """The same as `family_number`, as the file has it: RocksDB may run another value."""
        return as_number(self.options.get(family, {}).get(name)) or 0.0

    @property
    def memtable_bytes(self) -> float:
        """The largest size of the memtables of all column families."""
        return sum(
            self.family_number(family, "write_buffer_size")
            * self.family_number(family, "max_write_buffer_number")
            for family in self.families
        )

    def level_0_files(self, family: str) -> int | None:
        """The number of files in level 0 by the newest event, a line, or else the last table."""
        for shape in reversed(self.shapes):
            if shape.family in (family, None) and shape.files:
                return shape.files[0]
        if (seen := self.level_0.get(family, self.level_0.get(""))) is not None:
            return seen.last
        found = (row.files for row in self.levels if (row.family, row.level) == (family, "L0"))
        return next(found, None)

    def ticker(self, name: str) -> int:
        """A count of the last dump, by its name without `rocksdb.`; 0 where there is none."""
        return self.tickers.get(f"rocksdb.{name}", 0)

    @property
    def timed_stalls(self) -> tuple[Stall, ...]:
        """The stalls; none of a LOG with warnings only, which does not show when they ended."""
        has_times = bool(self.span_s) and (
            self.extent.has_events
            or self.totals.stall_percent is not None
            or self.option("write_buffer_size") is not None
        )
        return self.stalls if has_times else ()

    def stall_seconds(self, family: str | None = None) -> dict[tuple[str, str], float]:
        """How long each kind and cause held writers at most, overlaps within one merged.

        They are those of one column family, or of all.
        """
        held: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for stall in self.timed_stalls:
            if family in (None, stall.family):
                spans = held.setdefault((stall.kind, stall.cause), [])
                spans.append((stall.begin_micros, stall.end_micros))
        return {cause: covered_s(spans) for cause, spans in held.items()}


def covered_s(spans: list[tuple[int, int]]) -> float:
    """The time that stretches of time (in µs) cover together, in seconds."""
    covered, reached = 0, 0
    for begin, end in sorted(spans):
        covered += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return covered / 1e6
