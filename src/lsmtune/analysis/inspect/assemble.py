"""From the content of a LOG to what it says: levels, totals, the load's character."""

from collections.abc import Mapping
from dataclasses import replace

from lsmtune.analysis.inspect.changed import changed_options
from lsmtune.analysis.inspect.fact_sources import facts_of, known_sum
from lsmtune.analysis.inspect.first_steps import as_number
from lsmtune.analysis.inspect.inspection import Extent, Inspection, Load, Period, Totals
from lsmtune.analysis.inspect.level_lines import levels_of, shapes_of
from lsmtune.analysis.inspect.normalise import normalised
from lsmtune.analysis.inspect.notes import (
    HARDLY_FLUSHED,
    grouped_faults,
    no_dump_note,
    no_write_amp_note,
)
from lsmtune.analysis.inspect.notes import LEAST_INGEST as _LEAST_INGEST
from lsmtune.analysis.inspect.options_input import GivenOptions
from lsmtune.knobs.defaults import nearest_version, version_number
from lsmtune.metrics.compaction_table import (
    CompactionTable,
    LevelRow,
    parse_compaction_tables,
    parse_stall_summary,
)
from lsmtune.metrics.families import family_sums, main_family
from lsmtune.metrics.log_dump import StatsDump, parse_blobs, parse_compacted_bytes, parse_ingested
from lsmtune.metrics.log_jobs import Job, Origin, TableTotals
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.statistics import Statistics
from lsmtune.units import GIB, KIB

_INNER_KEY_BYTES = 8
"""Sequence number and type that RocksDB appends to a key."""

_UPTIME_DIGIT_S = 0.1
"""RocksDB rounds the uptime to this."""
_WRITERS = ("flush", "compact")
_LEAST_RAW, _LEAST_FILTERED = 16 * KIB, 100
"""Smaller tables consist mostly of what every table and every filter has."""
_KEYS, _BYTES = "rocksdb.number.keys.written", "rocksdb.bytes.written"
"""Tickers of what clients wrote."""
_EVENTS_SINCE = (4, 0)
_RANGE_DELETES_SINCE = (6, 4)
"""Before, tables said the number of their merges instead."""


def assemble(name: str, kind: str, content: LogContent) -> Inspection:
    """What the content says, without findings."""
    incomplete = [*content.incomplete]
    extent = _extent(content)
    _forget_stale_dumps(content, incomplete)
    options = {"": content.options.database, **content.options.families}
    tables = _tables(content, incomplete)
    changed = {}
    if content.version:
        assumed = frozenset(content.assumed_families)
        printed = {scope: told for scope, told in options.items() if scope not in assumed}
        changed = changed_options(content.version, printed)
        _note_unknown_version(content.version, incomplete)
    families = family_sums(content)
    main = main_family(families)
    return Inspection(
        name=name,
        kind=kind,
        version=content.version,
        begin_micros=content.first_micros,
        end_micros=content.last_micros,
        options=options,
        options_changed=changed,
        main_family=main,
        load=_load(content, main),
        levels=tuple(levels_of(content, tables)),
        totals=_totals(content, tables, incomplete),
        stall_counts=_stall_counts(content, incomplete),
        tickers=content.statistics.tickers,
        histograms=content.statistics.histograms,
        tables=tables,
        extremes=content.ledger.extremes,
        jobs=tuple(content.ledger.jobs),
        shapes=tuple(shapes_of(content)),
        stalls=tuple(content.stalls.stalls),
        notices=content.notices.notices,
        blobs=parse_blobs(content.dump_text),
        ingested=parse_ingested(content.dump_text),
        dumps=tuple(content.dumps),
        troubles=tuple(content.troubles),
        trouble_lines=content.trouble_lines,
        incomplete=tuple(incomplete),
        results=content.results,
        family_sums=families,
        facts=facts_of(content, tables, {**options.get(main, {}), **options[""]}),
        extent=extent,
        level_0=content.level_0.newer_than(tables),
        runs=content.runs,
        recoveries=tuple(content.recoveries.openings),
        assumed_families=content.assumed_families,
    )


def _extent(content: LogContent) -> Extent:
    """Return the parts that the content of a text has; before old dumps are left out."""
    return Extent(
        has_first_line=content.has_first_line,
        has_opening=content.begins_with_opening,
        logs_info=content.logs_info,
        has_events=bool(content.event_lines) or content.nothing_ran,
        nothing_ran=content.nothing_ran,
        is_old=_is_old(content),
        lacks_info=content.lacks_info,
        has_whole_options=content.options.has_whole_database,
        dumps=len(content.dumps),
    )


def _is_old(content: LogContent) -> bool:
    """Return whether RocksDB was too old to write events: its lines name no place either."""
    has_jobs = bool(content.summaries.jobs) and not content.event_lines
    old = content.version is None or version_number(content.version) < _EVENTS_SINCE
    return has_jobs and old and not content.names_source


def of_options(name: str, given: GivenOptions) -> Inspection:
    """What options alone say, without findings."""
    content, incomplete = LogContent(version=given.version), [*given.notes]
    content.options.database = dict(given.options.get("", {}))
    content.options.families = {
        family: dict(told) for family, told in given.options.items() if family
    }
    if given.version:
        _note_unknown_version(given.version, incomplete)
    incomplete.append(f"a file of kind {given.kind} has only options")
    return replace(
        assemble(name, given.kind, content),
        incomplete=tuple(incomplete),
        as_run=normalised(given.options, given.version),
        options_given={} if given.version else given.listed,
        by_rocksdb=given.by_rocksdb,
    )


def _note_unknown_version(version: str, incomplete: list[str]) -> None:
    if (nearest := nearest_version(version)) != version:
        incomplete.append(
            f"lsmtune does not know the defaults of RocksDB {version} and uses the defaults of "
            f"RocksDB {nearest}"
        )


def _tables(content: LogContent, incomplete: list[str]) -> dict[str, CompactionTable]:
    """The last table of each column family, if the dumps say enough of the LOG."""
    if (note := no_dump_note(content)) is not None:
        incomplete.append(note)
    found = parse_compaction_tables(content.dump_text)
    by_family: dict[str, list[CompactionTable]] = {}
    for table in found:
        by_family.setdefault(table.column_family, []).append(table)
    for family, own in by_family.items():
        if any(table.rows != own[-1].rows for table in own):
            incomplete.append(
                f"the text has {len(own)} level tables of the column family {family}; lsmtune uses "
                "the last one"
            )
    tables = {family: own[-1] for family, own in by_family.items()}
    incomplete += grouped_faults(fault for table in tables.values() for fault in table.incomplete)
    return tables


def _forget_stale_dumps(content: LogContent, incomplete: list[str]) -> None:
    """Leave out dumps if more time passed after the last dump than the dump covers."""
    if content.last_micros is None or not content.dumps:
        return
    last = content.dumps[-1]
    covered_s = last.dump.uptime_s + _UPTIME_DIGIT_S / 2
    if content.last_micros - last.micros > covered_s * 1e6:
        incomplete.append(
            "more time passed after the last statistics dump than the dump covers, so lsmtune does "
            "not use the dump"
        )
        content.dumps, content.dump_text, content.statistics = [], "", Statistics({}, {}, ())


def _stall_counts(content: LogContent, incomplete: list[str]) -> Mapping[str, int]:
    unreadable: list[str] = []
    counts = parse_stall_summary(content.dump_text, unreadable).counts
    told = grouped_faults(unreadable)
    incomplete += [f"a line on stalls of the last statistics dump: {why}" for why in told]
    return counts


def _totals(
    content: LogContent, tables: Mapping[str, CompactionTable], incomplete: list[str]
) -> Totals:
    jobs, tickers = content.ledger.jobs, content.statistics.tickers
    flushed = known_sum(job.written_bytes for job in jobs if job.kind == "flush")
    compacted = known_sum(job.written_bytes for job in jobs if job.kind == "compaction")
    user = known_sum(job.user_bytes for job in jobs if job.kind == "flush")
    seconds = [job.duration_s for job in jobs if job.kind == "compaction"]
    last = content.dumps[-1].dump if content.dumps else None
    sums = [table.sum for table in tables.values() if table.sum]
    largest = max(sums, key=lambda row: (row.write_gb or 0, row.size_bytes or 0), default=None)
    known = user if content.is_whole else None
    ingest, amplification, source = _write_amp(tickers, flushed, compacted, known)
    if source == "tickers":  # of the same period as what clients wrote
        flushed, compacted = (tickers[f"rocksdb.{kind}.write.bytes"] for kind in _WRITERS)
    if amplification is None:
        ingest, amplification, source = _rounded_write_amp(content, last, largest)
    if ingest and amplification is not None and source != "events":
        left_memtables = max(amplification, (user or 0) / ingest)
        if left_memtables < HARDLY_FLUSHED and ingest <= _most_in_memtables(content):
            amplification = None
    if amplification is None:
        written = known_sum((flushed, compacted))
        if written is None and last is not None and last.compacted_bytes is not None:
            written = round(last.compacted_bytes)
        below = _below(last) if ingest is None else None
        incomplete.append(no_write_amp_note(content, ingest, written, below))
    has_jobs = bool(content.event_lines or content.summaries.jobs) or content.nothing_ran
    took_s = [s for s in seconds if s is not None]
    of_dump: Period = "since_start" if content.is_status else "until_last_dump"
    return Totals(
        flush_write_bytes=flushed,
        compact_write_bytes=compacted,
        ingest_bytes=ingest,
        clients_period=None if ingest is None else "log" if source == "events" else of_dump,
        jobs_period=of_dump if source == "tickers" else "log" if flushed or compacted else None,
        write_amp=amplification,
        write_amp_from=source if amplification is not None else None,
        w_amp_table=(largest.w_amp_table or None) if largest else None,  # 0: nothing was flushed
        stall_s=last.stall_s if last else None,
        stall_percent=last.stall_percent if last else None,
        compactions=len(seconds) if has_jobs else None,
        compaction_s=sum(took_s) if has_jobs and len(took_s) == len(seconds) else None,
        ingest_below_bytes=_below(last) if ingest is None else None,
    )


def _most_in_memtables(content: LogContent) -> float:
    """Return the most bytes that can wait in memtables; a guess where the options are unknown."""
    sizes = [
        (as_number(told.get("write_buffer_size")) or 0)
        * (as_number(told.get("max_write_buffer_number")) or 2)
        for told in content.options.families.values()
    ]
    return sum(sizes) or GIB


def _below(last: StatsDump | None) -> int | None:
    """Return the bound of what clients wrote, if RocksDB printed 0.00 GB."""
    return None if last is None or last.ingest_below_bytes is None else int(last.ingest_below_bytes)


def _write_amp(
    tickers: Mapping[str, int], flushed: int | None, compacted: int | None, user: int | None
) -> tuple[int | None, float | None, str | None]:
    """Bytes of the clients, write amplification, and what it was computed from."""
    written = tickers.get("rocksdb.bytes.written")
    parts = [tickers.get(f"rocksdb.{kind}.write.bytes") for kind in _WRITERS]
    if written and written >= _LEAST_INGEST and None not in parts:
        return written, sum(part or 0 for part in parts) / written, "tickers"
    if user and user >= _LEAST_INGEST and flushed is not None:
        return user, (flushed + (compacted or 0)) / user, "events"
    return None, None, None


def _rounded_write_amp(
    content: LogContent, last: StatsDump | None, largest: LevelRow | None
) -> tuple[int | None, float | None, str | None]:
    """The same from the rounded sums of the last dump."""
    told = last.ingest_bytes if last else None
    ingest = None if told is None else round(told)
    written = parse_compacted_bytes(content.dump_text)
    if ingest is not None and ingest >= _LEAST_INGEST and written:
        return ingest, written / ingest, "cumulative"
    table = largest.w_amp_table if largest else None
    if table and largest and (largest.write_gb or 0) * GIB >= _LEAST_INGEST * table:
        return ingest, table, "table"
    return ingest, None, None


def _load(content: LogContent, main: str) -> Load:
    tables, tickers = _load_tables(content, main), content.statistics.tickers
    flushes = [job for job in content.ledger.jobs if job.kind == "flush"]
    span_s, writes, ingest = _writes(content, flushes)
    gets, seeks = _gets(tickers), tickers.get("rocksdb.number.db.seek")
    reads = None if gets is None and seeks is None else (gets or 0) + (seeks or 0)
    operations = None if reads is None or writes is None else reads + writes
    entries, filtered = tables.entries, tables.filter_entries
    raw = tables.key_bytes + tables.value_bytes

    def rate(count: float | None) -> float | None:
        return count / span_s if count is not None and span_s else None

    return Load(
        span_s=span_s,
        writes_s=rate(writes),
        ingest_bytes_s=rate(ingest),
        gets_s=rate(gets),
        seeks_s=rate(seeks),
        read_percent=100 * (reads or 0) / operations if operations else None,
        delete_percent=_delete_percent(flushes),
        range_deletes=_range_deletes(content),
        key_bytes=tables.key_bytes / entries - _INNER_KEY_BYTES if entries else None,
        value_bytes=tables.value_bytes / max(entries - tables.deletes, 1) if entries else None,
        compressed_to=tables.file_bytes / raw if raw >= _LEAST_RAW else None,
        filter_bits=8 * tables.filter_bytes / filtered if filtered >= _LEAST_FILTERED else None,
        records=writes,
        from_empty=_from_empty(content),
    )


def _gets(tickers: Mapping[str, int]) -> int | None:
    """Return the number of keys that were read; RocksDB counts those of MultiGet separately."""
    names = ("keys.read", "multiget.keys.read")
    return known_sum(tickers.get(f"rocksdb.number.{name}") for name in names)


def _load_tables(content: LogContent, main: str) -> TableTotals:
    """Return the sums over the tables that say most about the records of the clients.

    They are those of the main family before those of all families. Flushes and recovery write what
    the clients wrote; compactions write it again.
    """
    ledger = content.ledger
    origins: tuple[tuple[Origin, ...], ...] = (("flush", "recovery"), ("compaction",))
    for family in (main, None):
        for some in origins:
            if (found := ledger.made_by(*some, family=family)).entries:
                return found
    return TableTotals()


def _delete_percent(flushes: list[Job]) -> float | None:
    """Deletions among the entries of the memtables that were flushed."""
    told = [(job.deletes, job.records_in) for job in flushes if job.deletes is not None]
    entries = sum(count or 0 for _, count in told)
    return 100 * sum(deletes for deletes, _ in told) / entries if entries else None


def _range_deletes(content: LogContent) -> int | None:
    known = version_number(content.version or "") >= _RANGE_DELETES_SINCE
    tables = content.ledger.made_by("flush", "recovery")
    return tables.range_deletes if known and tables.entries else None


def _from_empty(content: LogContent) -> bool | None:
    """Whether the first flush found no more than its own file."""
    if not content.begins_with_opening or not content.ledger.shapes:
        return None
    return sum(content.ledger.shapes[0].files) <= 1


def _writes(
    content: LogContent, flushes: list[Job]
) -> tuple[float | None, int | None, float | None]:
    """The span in seconds, the keys and the bytes that were written in it.

    By the last dump, else by the flushes, with the tickers' exact counts where there are some.
    """
    tickers = content.statistics.tickers
    if content.dumps:
        dump = content.dumps[-1].dump
        keys, ingest = tickers.get(_KEYS, dump.keys_written), tickers.get(_BYTES, dump.ingest_bytes)
        return dump.uptime_s or None, keys, ingest
    if content.first_micros is None or content.last_micros is None or not flushes:
        return None, tickers.get(_KEYS), tickers.get(_BYTES)
    span_s = (content.last_micros - content.first_micros) / 1e6
    return (
        span_s or None,
        tickers.get(_KEYS, known_sum(job.records_in for job in flushes)),
        tickers.get(_BYTES, known_sum(job.user_bytes for job in flushes)),
    )
