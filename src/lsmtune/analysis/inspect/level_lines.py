"""The levels of a store: files, sizes, and the bytes that were read for and written into each."""

from collections.abc import Mapping

from lsmtune.analysis.inspect.inspection import LevelLine
from lsmtune.metrics.compaction_table import CompactionTable, LevelRow
from lsmtune.metrics.families import DEFAULT as _DEFAULT
from lsmtune.metrics.log_content import LogContent
from lsmtune.metrics.log_jobs import Job, JobLedger, LevelBytes, TreeShape, bytes_by_level
from lsmtune.units import GIB


def levels_of(content: LogContent, tables: Mapping[str, CompactionTable]) -> list[LevelLine]:
    """Return the levels of each family by the tables, or by the last shape without tables."""
    moved = _moved(content.ledger) if content.is_whole and content.event_lines else None
    lines = [
        _level_line(family, row, moved) for family, table in tables.items() for row in table.rows
    ]
    if lines:
        return lines
    last = {shape.family or _DEFAULT: shape.files for shape in shapes_of(content)}
    return [
        _shape_line(family, level, count, moved)
        for family, files in last.items()
        for level, count in enumerate(files)
        if count or (moved and level in moved.get(family, {}))
    ]


Moved = dict[str, dict[int, LevelBytes]]
"""Bytes read for and written into the levels of each family."""


def _moved(ledger: JobLedger) -> Moved:
    by_family: dict[str, list[Job]] = {}
    for job in ledger.jobs:
        by_family.setdefault(job.family or _DEFAULT, []).append(job)
    moved = {family: bytes_by_level(found) for family, found in by_family.items()}
    for family, recovered in ledger.made.get("recovery", {}).items():  # into level 0
        levels = moved.setdefault(family, {})
        before = levels.get(0, LevelBytes())
        levels[0] = LevelBytes(before.read, before.written + recovered.file_bytes)
    return moved


def _level_line(family: str, row: LevelRow, moved: Moved | None) -> LevelLine:
    if moved is None:
        # A tenth of a GiB is the least that is printed: 0.0 may be a little, or nothing.
        rounded = (row.read_gb, row.write_gb)
        read, written = (round(gb * GIB) if gb else None for gb in rounded)
    else:
        read, written = _bytes(moved, family, int(row.level[1:]))
    return LevelLine(
        family, row.level, row.files, row.size_bytes, read, written, row.w_amp_table,
        is_rough=moved is None,
    )  # fmt: skip


def _shape_line(family: str, level: int, files: int, moved: Moved | None) -> LevelLine:
    read, written = (None, None) if moved is None else _bytes(moved, family, level)
    return LevelLine(family, f"L{level}", files, None, read, written, None)


def _bytes(moved: Moved, family: str, level: int) -> tuple[int, int]:
    found = moved.get(family, {}).get(level, LevelBytes())
    return found.read, found.written


def shapes_of(content: LogContent) -> list[TreeShape]:
    """Return the shapes; of several families only those whose family is known."""
    shapes = content.ledger.shapes
    several = len(content.options.families) > 1
    return [shape for shape in shapes if shape.family is not None or not several]
