"""Statistics dumps of stores with several column families, in RocksDB's form."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from log_texts import event, line

_HEAD = (
    "{:8} Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp "
    "Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop Rblob(GB) "
    "Wblob(GB)"
)
_ROW = (
    "{:>4} {:6}/0  {:>10}   {}      0.0     0.0      0.0       {:.1f}      {:.1f}       0.0   {} "
    "     0.0      9.8      1.00              0.50        12    0.083       0      0       0.0 "
    "      0.0"
)
OLD_STALLS = (
    "Stalls(count): {0} level0_slowdown, {0} level0_slowdown_with_compaction, 0 level0_numfiles, "
    "0 level0_numfiles_with_compaction, 0 stop for pending_compaction_bytes, 0 slowdown for "
    "pending_compaction_bytes, 0 memtable_compaction, 0 memtable_slowdown, interval 0 total count"
)
NEW_STALLS = (
    "Write Stall (count): cf-l0-file-count-limit-delays-with-ongoing-compaction: {0}, "
    "cf-l0-file-count-limit-stops-with-ongoing-compaction: 0, l0-file-count-limit-delays: {0}, "
    "l0-file-count-limit-stops: 0, memtable-limit-delays: 0, memtable-limit-stops: 0, "
    "pending-compaction-bytes-delays: 0, pending-compaction-bytes-stops: 0, total-delays: {0}, "
    "total-stops: 0"
)


@dataclass(frozen=True)
class Table:
    """One column family of a dump."""

    files: int
    size: str
    written_gb: float = 0.0
    stalls: int = 0
    stall_form: str = NEW_STALLS
    uptime_s: float | None = None
    is_cut: bool = False

    def text(self, name: str, uptime_s: float) -> str:
        """Return the block of the family."""
        levels = [_ROW.format("L0", self.files, self.size, 0.5, *[self.written_gb] * 2, 1.0)]
        if self.is_cut:
            return "\n".join([f"** Compaction Stats [{name}] **", _HEAD.format("Level"), *levels])
        total = _ROW.format("Sum", self.files, self.size, 0.0, *[self.written_gb] * 2, 1.0)
        return "\n".join([
            f"** Compaction Stats [{name}] **", _HEAD.format("Level"), "-" * 180,
            *(levels if self.files else []), total, "",
            f"** Compaction Stats [{name}] **", _HEAD.format("Priority"), "-" * 180, "",
            "Blob file count: 0, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 0.0", "",
            f"Uptime(secs): {self.uptime_s or uptime_s:.1f} total, 3.0 interval",
            f"Flush(GB): cumulative {self.written_gb:.3f}, interval 0.000",
            "AddFile(Total Files): cumulative 0, interval 0",
            f"Cumulative compaction: {self.written_gb:.2f} GB write, 0.00 MB/s write, 0.00 GB "
            "read, 0.00 MB/s read, 0.0 seconds",
            self.stall_form.format(self.stalls),
            "", f"** File Read Latency Histogram By Level [{name}] **",
            "** Level 0 read latency histogram (micros):", "Count: 12 Average: 0.9  StdDev: 0.9",
            "",
        ])  # fmt: skip


def dump(
    at_s: float, tables: Mapping[str, Table], *, keys: str = "10K", ingest: str = "0.01 GB, 1.00",
    stalled: str = "00:00:0.000 H:M:S, 0.0", tickers: Mapping[str, int] | None = None,
) -> str:  # fmt: skip
    """Return a dump with the blocks of these families."""
    text = [
        line(at_s, "[db/db_impl/db_impl.cc:1105] ------- DUMPING STATS -------"),
        line(at_s, "[db/db_impl/db_impl.cc:1107] "),
        "** DB Stats **",
        f"Uptime(secs): {at_s:.1f} total, 3.0 interval",
        f"Cumulative writes: {keys} writes, {keys} keys, {keys} commit groups, 1.0 writes per "
        f"commit group, ingest: {ingest} MB/s",
        f"Cumulative stall: {stalled} percent",
        "",
        *(table.text(name, at_s) for name, table in tables.items()),
    ]
    if tickers is not None:
        text.append(line(at_s, "[db/db_impl/db_impl.cc:788] STATISTICS:"))
        text += [f"rocksdb.{name} COUNT : {count}" for name, count in tickers.items()]
    return "\n".join(text)


def table_event(at_s: float, job: int, family: str, **properties: int) -> tuple[float, str]:
    """Return the event of a table that a job made."""
    return event(at_s, "table_file_creation", cf_name=family, job=job, file_number=job,
                 file_size=50_000, table_properties=properties)  # fmt: skip


def recovery(at_s: float, families: Sequence[str], **properties: int) -> list[tuple[float, str]]:
    """Return the events of a recovery that makes a table of each family."""
    return [
        event(at_s, "recovery_started", job=1, wal_files=[7]),
        *(table_event(at_s + 0.1, 1, name, **properties) for name in families),
        event(at_s + 0.2, "recovery_finished", job=1, status="OK"),
    ]
