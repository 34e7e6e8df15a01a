"""What a program says about its RocksDB, as the records that a LOG gives."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from lsmtune.metrics.log_content import LogContent, TimedDump
from lsmtune.metrics.log_dump import StatsDump
from lsmtune.metrics.log_jobs import TreeShape
from lsmtune.metrics.statistics import Statistics
from lsmtune.units import KIB, format_duration

_SUM = "Sum"
_FORMATS = {
    "Files": "{:.0f}/0", "Comp(sec)": "{:.2f}", "CompMergeCPU(sec)": "{:.2f}",
    "Comp(cnt)": "{:.0f}", "KeyIn": "{:.0f}", "KeyDrop": "{:.0f}",
}  # fmt: skip
_NOT_ADDED = ("Score", "W-Amp")
"""Columns whose sum over the levels means nothing."""

Levels = dict[str, dict[str, dict[str, float]]]
"""Values by column family, level (`L0`, `Sum`) and column of RocksDB's level table, in bytes,
GiB and seconds as there."""


@dataclass(slots=True)
class StatusText:
    """What a program says about its RocksDB since it started; what it does not say is missing.

    `tickers` have RocksDB's names without `rocksdb.`. `stalls` are RocksDB's counts by column
    family, those of the whole database under "". `options` are by column family. `more` says where
    the LOG of the program is, which contains more, and `wanted` which text has the counters.
    """

    kind: str
    more: str
    wanted: str
    tickers: dict[str, int] = field(default_factory=dict)
    levels: Levels = field(default_factory=dict)
    stalls: dict[str, dict[str, int]] = field(default_factory=dict)
    options: dict[str, dict[str, str]] = field(default_factory=dict)
    version: str | None = None
    uptime_s: float | None = None
    stall_s: float | None = None
    stall_percent: float | None = None
    source: str = ""
    """Who wrote the text, behind its kind: ` of TiKV`; "" if it is not known."""

    def set_level(self, family: str, level: str, column: str, value: float) -> None:
        """Take a value of the level table."""
        self.levels.setdefault(family, {}).setdefault(level, {})[column] = value

    def count_stalls(self, family: str, cause: str, count: int) -> None:
        """Take a count of stalls of a column family, or of the database for ""."""
        self.stalls.setdefault(family, {})[cause] = count

    @property
    def is_empty(self) -> bool:
        """Whether there is no number and no option that rules could judge."""
        shown = any("Files" in row for rows in self.levels.values() for row in rows.values())
        return not (self.tickers or shown or self.stalls or self.options)

    def content(self) -> LogContent:
        """Return the records, with notes on what they cover."""
        content = LogContent(
            version=self.version,
            statistics=Statistics(
                {f"rocksdb.{name}": count for name, count in self.tickers.items()}, {}, ()
            ),
            dump_text=self._dump_text(),
            incomplete=[self._period(), self.more],
            is_status=True,
        )
        content.options.families = self.options
        written = [self.tickers.get(f"{kind}.write.bytes") for kind in ("flush", "compact")]
        dump = StatsDump(
            uptime_s=self.uptime_s or 0.0,  # 0: unknown
            keys_written=self.tickers.get("number.keys.written"),
            ingest_bytes=self.tickers.get("bytes.written"),
            stall_s=self.stall_s,
            stall_percent=self.stall_percent,
            compacted_bytes=None if None in written else float(sum(n or 0 for n in written)),
        )
        content.dumps = [TimedDump(0, dump)]
        content.ledger.shapes = [
            TreeShape(0, family, _files(rows))
            for family, rows in self.levels.items()
            if not _has_sizes(rows)
        ]
        return content

    def _period(self) -> str:
        if self.uptime_s:
            return f"the counters cover {format_duration(self.uptime_s)} since the program started"
        return (
            "the text does not contain the time since the program started, so lsmtune computes no "
            "rates"
        )

    def _dump_text(self) -> str:
        """Return levels and stalls as RocksDB prints them in a statistics dump."""
        lines = ["** DB Stats **", *_stall_line(self.stalls.get("", {}))]
        for family in dict.fromkeys((*self.levels, *self.stalls)):
            rows = self.levels.get(family, {})
            if family:
                # RocksDB prints the counts below a level table; its heading alone is a fault.
                kind = "Compaction" if _has_sizes(rows) else "DB"
                lines.append(f"** {kind} Stats [{family}] **")
                lines += _table(rows) if _has_sizes(rows) else ()
                lines += _stall_line(self.stalls.get(family, {}))
        return "\n".join([*lines, ""])


def _has_sizes(rows: Mapping[str, Mapping[str, float]]) -> bool:
    return bool(rows) and all({"Files", "Size"} <= row.keys() for row in rows.values())


def _files(rows: Mapping[str, Mapping[str, float]]) -> tuple[int, ...]:
    """Return the number of files by level, from level 0 down."""
    files = {int(level[1:]): row.get("Files", 0) for level, row in rows.items() if level != _SUM}
    return tuple(round(files.get(level, 0)) for level in range(max(files, default=-1) + 1))


def _table(rows: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the lines of a level table; what is read into level 0 may be missing, it is 0."""
    below = [row for level, row in rows.items() if level not in ("L0", _SUM)] or [*rows.values()]
    columns = [name for name in below[0] if all(name in row for row in below)]
    columns.sort(key=lambda name: (name != "Files", name != "Size"))
    whole = {level: rows[level] for level in sorted(rows, key=_place) if level != _SUM}
    total = rows.get(_SUM) or {
        name: 0.0 if name in _NOT_ADDED else sum(row.get(name, 0.0) for row in whole.values())
        for name in columns
    }
    return [
        " ".join(("Level", *columns)),
        *(
            " ".join((level, *(_cell(name, row.get(name, 0.0)) for name in columns)))
            for level, row in (*whole.items(), (_SUM, total))
        ),
    ]


def _place(level: str) -> int:
    return int(level[1:]) if level != _SUM else -1


def _cell(column: str, value: float) -> str:
    if column == "Size":
        return f"{value / KIB:.2f} KB"
    return _FORMATS.get(column, "{:.1f}").format(value)


def _stall_line(counts: Mapping[str, int]) -> list[str]:
    listed = ", ".join(f"{cause}: {count}" for cause, count in counts.items())
    return [f"Write Stall (count): {listed}"] if listed else []
