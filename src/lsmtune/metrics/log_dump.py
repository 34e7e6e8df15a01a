"""One dump of the statistics in a LOG: what it says of all the time since the opening.

The lines are those of InternalStats::DumpDBStats in db/internal_stats.cc.
"""

import re
from dataclasses import dataclass

from lsmtune.units import GIB, KIB, MIB

_UPTIME = re.compile(r"^Uptime\(secs\): (\d{1,15}\.\d) total", re.MULTILINE)
_WRITES = re.compile(
    r"^Cumulative writes: (?P<writes>\d+)[KMG]? writes, (?P<keys>\d{1,15})(?P<unit>[KMG]?) keys, .*"
    r"ingest: (?P<gb>\d{1,15}\.\d+) GB, (?P<mb_s>\d{1,15}\.\d+) MB/s",
    re.MULTILINE,
)
_STALL = re.compile(
    r"^Cumulative stall: (\d{1,9}):(\d\d):(\d{1,9}(?:\.\d+)?) H:M:S, (\d{1,9}\.\d+) percent",
    re.MULTILINE,
)
_FAMILY = re.compile(r"\*\* Compaction Stats \[(.*?)\] \*\*")
_BLOBS = re.compile(
    r"Blob file count: (?P<files>\d{1,15}), .*space amp: (?P<amp>\d{1,9}(?:\.\d+)?)"
)
_WAL = re.compile(
    r"^Cumulative WAL: (?P<writes>\d{1,15})(?P<unit>[KMG]?) writes, "
    r"(?P<syncs>\d{1,15})(?P<sync_unit>[KMG]?) syncs",
    re.MULTILINE,
)
_INGESTED = re.compile(r"AddFile\((?P<what>Total|L0) Files\): cumulative (?P<count>\d{1,15})")
_COUNT_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
_ROUGH_GB = 1.0
_HALF_A_DIGIT = 0.005
"""What RocksDB prints as 0.00 is below this."""
_OF_DATABASE = re.compile(r"\*\* DB Stats \*\*")


@dataclass(frozen=True, slots=True)
class StatsDump:
    """What a dump says of the time since the opening; None for what it does not say.

    `keys_written`, `ingest_bytes` (keys and values as they came from the clients) and
    `compacted_bytes` (what flushes and compactions wrote) are as rounded as RocksDB prints them.
    If RocksDB prints 0.00 GB although there were writes, `ingest_bytes` is None, and less than
    `ingest_below_bytes` were written.
    """

    uptime_s: float
    keys_written: int | None
    ingest_bytes: float | None
    stall_s: float | None
    stall_percent: float | None
    compacted_bytes: float | None = None
    wal_writes: int | None = None
    wal_syncs: int | None = None
    ingest_below_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class IngestedFiles:
    """Files that a program added to a column family (IngestExternalFile); some into level 0."""

    files: int
    level_0_files: int


@dataclass(frozen=True, slots=True)
class BlobFiles:
    """The number of blob files of a column family, and their size over that of live values."""

    files: int
    space_amp: float


_COMPACTED_IN_SCOPE = re.compile(
    r"DB Stats \*|Compaction Stats \[(?P<family>.*?)\] \*|"
    r"^Cumulative compaction: +(?P<sum>\d{1,12}\.\d+) (?P<unit>[GT])B write", re.MULTILINE
)  # fmt: skip


def parse_compacted_bytes(text: str) -> float | None:
    """Read the bytes that flushes and compactions wrote, summed over the column families.

    Of a family that the text has several times, the last sum counts. RocksDB prints two digits of
    a GiB. Old versions print one sum of the whole database.
    """
    found, scope = dict[str, float](), ""
    for match in _COMPACTED_IN_SCOPE.finditer(text):
        if match["sum"] is None:
            scope = match["family"] or ""
        else:
            found[scope] = float(match["sum"]) * (KIB if match["unit"] == "T" else 1)
    return sum(found.values()) * GIB if found else None


def parse_blobs(text: str) -> dict[str, BlobFiles]:
    """Read the last line on blob files of each column family that has some."""
    found, family = dict[str, BlobFiles](), ""
    for line in text.split("\n"):
        if heading := _FAMILY.search(line):
            family = heading[1]
        elif (blobs := _BLOBS.search(line)) and int(blobs["files"]):
            found[family] = BlobFiles(int(blobs["files"]), float(blobs["amp"]))
    return found


def parse_ingested(text: str) -> dict[str, IngestedFiles]:
    """Read the last counts of each column family to which files were added."""
    counts, family = dict[str, dict[str, int]](), ""
    for line in text.split("\n"):
        if heading := _FAMILY.search(line):
            family = heading[1]
        elif match := _INGESTED.search(line):
            counts.setdefault(family, {})[match["what"]] = int(match["count"])
    return {
        family: IngestedFiles(found["Total"], found.get("L0", 0))
        for family, found in counts.items()
        if found.get("Total")
    }


def parse_stats_dump(text: str) -> StatsDump | None:
    """Read the part on the whole database, of several the last; None where there is no uptime."""
    uptime = _uptime(text)
    if uptime is None:
        return None
    uptime_s = float(uptime[1])
    writes, stall, wal = _last(_WRITES, text), _last(_STALL, text), _last(_WAL, text)
    keys = int(writes["keys"]) * _COUNT_UNITS[writes["unit"]] if writes else None
    ingest = _ingest(writes, uptime_s) if writes else None
    has_writes = keys != 0 or (writes is not None and int(writes["writes"]) != 0)
    is_rounded_away = ingest == 0 and has_writes
    return StatsDump(
        uptime_s=uptime_s,
        keys_written=keys,
        ingest_bytes=None if is_rounded_away else ingest,
        stall_s=int(stall[1]) * 3600 + int(stall[2]) * 60 + float(stall[3]) if stall else None,
        stall_percent=float(stall[4]) if stall else None,
        compacted_bytes=parse_compacted_bytes(text),
        wal_writes=int(wal["writes"]) * _COUNT_UNITS[wal["unit"]] if wal else None,
        wal_syncs=int(wal["syncs"]) * _COUNT_UNITS[wal["sync_unit"]] if wal else None,
        ingest_below_bytes=_HALF_A_DIGIT * GIB if is_rounded_away else None,
    )


def _uptime(text: str) -> re.Match[str] | None:
    """Find the uptime of the database: that of a family is shorter if the family is younger."""
    heading = _last(_OF_DATABASE, text)
    own = None if heading is None else _UPTIME.search(text, heading.end())
    return own or _last(_UPTIME, text)


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(reversed(list(pattern.finditer(text))), None)


def _ingest(writes: re.Match[str], uptime_s: float) -> float:
    """Return the printed GB, or the rate over the uptime if the rate has more digits."""
    gb, mb_s = float(writes["gb"]), float(writes["mb_s"])
    if gb >= min(_ROUGH_GB, mb_s):
        return gb * GIB
    return mb_s * MIB * uptime_s
