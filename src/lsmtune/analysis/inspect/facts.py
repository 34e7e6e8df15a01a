"""Facts: numbers that rules judge, each with its source. A new source feeds all rules at once.

NAMES lists every fact. `fact_sources.py` reads them out of tickers, histograms, events, tables,
options and results. A fact that no source has is missing; it is never 0.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

Source = Literal["ticker", "event", "histogram", "table", "result", "option"]

_TRUST: Mapping[Source, int] = {
    "ticker": 0, "event": 1, "histogram": 2, "table": 3, "result": 4, "option": 5,
}  # fmt: skip
"""Exact counts come before rounded ones, and RocksDB's own counts before those of a benchmark."""
_DISPUTED = 0.2
"""Two sources that differ by more than this share are both kept."""

NAMES: Mapping[str, tuple[str, str]] = {
    "gets": ("count", "gets"),
    "seeks": ("count", "seeks of iterators"),
    "nexts": ("count", "steps of iterators to the next entry"),
    "skipped_entries": ("count", "entries that iterators stepped over, such as deleted ones"),
    "gets_found_percent": ("%", "gets that found their key"),
    "read_percent": ("%", "gets and seeks among all operations"),
    "get_data_blocks": ("blocks per get", "data blocks that a get looked at"),
    "get_filter_bytes": ("bytes per get", "filter blocks read into the block cache"),
    "get_index_bytes": ("bytes per get", "index blocks read into the block cache"),
    "filter_block_misses": ("count", "filter blocks that were not in the block cache"),
    "index_block_misses": ("count", "index blocks that were not in the block cache"),
    "filter_checks": ("count", "gets and seeks for which a filter was asked"),
    "cache_hit_percent": ("%", "blocks that were in the block cache"),
    "data_cache_hit_percent": ("%", "data blocks that were in the block cache"),
    "data_block_misses": ("count", "data blocks that were not in the block cache"),
    "cache_insert_bytes": ("bytes", "blocks that were inserted into the block cache"),
    "table_opens": ("count", "table files that were opened"),
    "merge_operands_p99": ("count", "merge operands per get, 99th percentile"),
    "merge_operands_max": ("count", "merge operands per get, largest number"),
    "prefix_checks": ("count", "seeks for which a filter of prefixes was asked"),
    "keys_written": ("count", "keys that clients wrote"),
    "ingest_bytes": ("bytes", "keys and values that clients wrote"),
    "flush_write_bytes": ("bytes", "table files that flushes wrote"),
    "compact_write_bytes": ("bytes", "table files that compactions wrote"),
    "compact_read_bytes": ("bytes", "table files that compactions read"),
    "compaction_s": ("s", "time of compactions"),
    "compaction_cpu_s": ("s", "time of compactions on the CPU"),
    "l0_intra_read_bytes": ("bytes", "files of level 0 that compactions into level 0 read"),
    "l0_intra_write_bytes": ("bytes", "files of level 0 that compactions into level 0 wrote"),
    "l0_intra_percent": ("%", "of the compacted bytes, those written from level 0 into level 0"),
    "l0_files": ("files", "files in level 0"),
    "live_sst_bytes": ("bytes", "live table files"),
    "stall_s": ("s", "time in which writers waited"),
    "stall_l0_s": ("s", "longest possible time of stalls by files in level 0"),
    "stall_memtable_s": ("s", "longest possible time of stalls by full memtables"),
    "stall_pending_s": ("s", "longest possible time of stalls by pending compaction bytes"),
    "pending_compaction_bytes": ("bytes", "the largest number in a warning of a stall"),
    "writers_stalled_s": ("s", "time in which writers waited, added up over all writers"),
    "stall_percent": ("%", "time in which writers waited"),
    "wal_syncs": ("count", "syncs of the WAL"),
    "wal_writes": ("count", "writes to the WAL"),
    "iterators_created": ("count", "iterators that were created"),
    "iterators_deleted": ("count", "iterators that were deleted"),
    "limiter_drains": ("count", "times at which the rate limiter had no bytes left"),
    "auto_resumes": ("count", "errors after which RocksDB resumed by itself"),
}
"""Each fact with its unit and its meaning. Options are facts too, under their own names."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number with its source.

    `family` is a column family; None for the whole store. `period_s` is the time over which it was
    counted, if it is known.
    """

    name: str
    value: float
    source: Source
    family: str | None = None
    period_s: float | None = None

    @property
    def unit(self) -> str:
        """The unit; "" for an option."""
        return NAMES[self.name][0] if self.name in NAMES else ""


class Facts:  # noqa: PLW1641 - a hash would change when rules use facts
    """The facts of a store. Of several sources the most exact one counts."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._facts: dict[tuple[str, str | None], list[Fact]] = {}
        self._used: set[tuple[str, str | None]] = set()
        for fact in facts:
            self._facts.setdefault((fact.name, fact.family), []).append(fact)
        for found in self._facts.values():
            found.sort(key=lambda fact: _TRUST[fact.source])

    def fact(self, name: str, family: str | None = None) -> Fact | None:
        """Return a fact of the store or of a family; None if no source has it."""
        self._used.add((name, family))
        found = self._facts.get((name, family))
        return found[0] if found else None

    def value(self, name: str, family: str | None = None) -> float | None:
        """Return the number of a fact; None if no source has it."""
        found = self.fact(name, family)
        return None if found is None else found.value

    def count(self, name: str, family: str | None = None) -> int:
        """Return a fact as a whole number; 0 if no source has it."""
        return round(self.value(name, family) or 0)

    @contextmanager
    def watched(self) -> Iterator[list[tuple[Fact, Fact]]]:
        """Give a list that has, at the end, the disputed facts that were used meanwhile."""
        before, self._used = self._used, set()
        disputed: list[tuple[Fact, Fact]] = []
        yield disputed
        used, self._used = self._used, before | self._used
        disputed += [pair for key in sorted(used, key=str) if (pair := self._disputed(key))]

    def __eq__(self, other: object) -> bool:
        """Return whether both have the same facts."""
        return isinstance(other, Facts) and list(self) == list(other)

    def __iter__(self) -> Iterator[Fact]:
        """Yield the facts, and the second source of those that are disputed."""
        for key, found in self._facts.items():
            yield found[0]
            if (pair := self._disputed(key)) is not None:
                yield pair[1]

    def _disputed(self, key: tuple[str, str | None]) -> tuple[Fact, Fact] | None:
        """Return the fact and the first other source that differs from it by more than 20 %."""
        found = self._facts.get(key, [])
        others = (fact for fact in found[1:] if _differ(found[0].value, fact.value))
        other = next(others, None)
        return None if other is None else (found[0], other)


def _differ(one: float, other: float) -> bool:
    return abs(one - other) > _DISPUTED * max(abs(one), abs(other))
