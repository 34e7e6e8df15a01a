"""How many bytes flushes and compactions read and wrote for each level, from a LOG's events.

The table of compaction statistics says it too, but rounded to a tenth of a GB.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lsmtune.metrics.rocksdb_log import Event


@dataclass(frozen=True, slots=True)
class LevelBytes:
    """Bytes of input files that went into a level, and bytes that were written into it."""

    read: int = 0
    written: int = 0

    def plus(self, read: int, written: int) -> "LevelBytes":
        """The sum with further bytes."""
        return LevelBytes(self.read + read, self.written + written)


def bytes_by_level(events: Iterable[Event]) -> dict[int, LevelBytes]:
    """The bytes by output level, of finished compactions and of tables that flushes made."""
    levels: dict[int, LevelBytes] = {}
    inputs: dict[int | None, int] = {}
    flushing: set[int | None] = set()
    for event in events:
        if event.name == "flush_started":
            flushing.add(event.job)
        elif event.name == "compaction_started":
            flushing.discard(event.job)
            inputs[event.job] = event.number("input_data_size") or 0
        elif event.name == "table_file_creation" and event.job in flushing:
            levels[0] = levels.get(0, LevelBytes()).plus(0, event.number("file_size") or 0)
        elif event.name == "compaction_finished":
            level = event.number("output_level") or 0
            written = event.number("total_output_size") or 0
            levels[level] = levels.get(level, LevelBytes()).plus(inputs.pop(event.job, 0), written)
    return levels
