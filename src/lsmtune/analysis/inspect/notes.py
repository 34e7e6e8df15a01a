"""Sentences on what a text lacks, for the notes of an inspection."""

import re
from collections import Counter
from collections.abc import Iterable

from lsmtune.metrics.log_content import LogContent
from lsmtune.units import MIB, format_bytes

_LEAST_UNREAD, _MOST_UNREAD = 3, 1 / 15
"""There is no diagnosis if this number of lines, and more than this share, cannot be read.

Text inside a tenth of the lines is noticed in about two of three of them.
"""
_LONGEST_EXAMPLE = 160
LEAST_INGEST = 16 * MIB
"""No write amplification is computed from fewer bytes of clients."""
HARDLY_FLUSHED = 0.1
"""If so small a share of the clients' bytes was flushed, the others can still be in memtables."""

_PLACE = re.compile(r"line \d+: (?:compaction table of \[[^\]]*\]: )?")


def grouped_faults(faults: Iterable[str]) -> list[str]:
    """Return the first fault of each kind, with the number of the others.

    Faults are of one kind if they differ only in their line and their column family.
    """
    told = list(faults)
    counts = Counter(map(_kind, told))
    firsts = {_kind(fault): fault for fault in reversed(told)}
    more = {kind: f" ({count - 1:,} more of this kind)" for kind, count in counts.items()}
    return [firsts[kind] + (more[kind] if counts[kind] > 1 else "") for kind in counts]


def _kind(fault: str) -> str:
    return _PLACE.sub("", fault, count=1)


def no_dump_note(content: LogContent) -> str | None:
    """Return what is missing because no statistics dump can be used; None if one can be."""
    if content.dump_text:
        return None
    missing = ["level tables", "stall time"]
    if not content.statistics.tickers:
        missing.append("tickers (counters)")
    return (
        f"no statistics dump can be used, so {', '.join(missing[:-1])} and {missing[-1]} are "
        "missing"
    )


def no_write_amp_note(
    content: LogContent,
    ingest_bytes: int | None,
    written_bytes: int | None,
    below_bytes: int | None = None,
) -> str:
    """Return why the write amplification is unknown; flushes and compactions `written_bytes`.

    `below_bytes` is the bound of `ingest_bytes` if a dump has no more digits.
    """
    if content.nothing_ran:
        return (
            "RocksDB flushed and compacted nothing since the opening, so there is no write "
            "amplification yet"
        )
    if ingest_bytes is not None and ingest_bytes < LEAST_INGEST:
        return (
            f"clients wrote {format_bytes(ingest_bytes)}; below {format_bytes(LEAST_INGEST)}, "
            "lsmtune computes no write amplification"
        )
    if below_bytes is not None:
        return (
            f"clients wrote less than {format_bytes(below_bytes)} until the last dump; below "
            f"{format_bytes(LEAST_INGEST)}, lsmtune computes no write amplification"
        )
    written = ingest_bytes if written_bytes is None else written_bytes
    if ingest_bytes is not None and written is not None and written < HARDLY_FLUSHED * ingest_bytes:
        return (
            f"clients wrote {format_bytes(ingest_bytes)} and flushes and compactions only "
            f"{format_bytes(written)}, so most of it is still in memtables, and lsmtune "
            "computes no write amplification"
        )
    if ingest_bytes is not None:
        return (
            "the number of bytes that flushes and compactions wrote is missing, so the write "
            "amplification is unknown"
        )
    missing = "the number of bytes that clients wrote"
    if written_bytes is None:
        missing = "the numbers of bytes that clients, flushes and compactions wrote"
    are = "are" if written_bytes is None else "is"
    return f"{missing} {are} missing, so the write amplification is unknown"


def no_parts_note(kind: str, content: LogContent) -> str | None:
    """Return which parts of a LOG another kind of text does not contain; None if it has them."""
    has_options = bool(content.options.families or content.options.database)
    missing = {"options": not has_options, "single compactions": not content.event_lines}
    parts = [part for part, is_missing in missing.items() if is_missing]
    if not parts:
        return None
    contains = "contains neither" if len(parts) > 1 else "does not contain"
    return f"this {kind} {contains} {' nor '.join(parts)}"


def unread_note(content: LogContent) -> str | None:
    """Return which lines are unread; None if they are too few to spoil a diagnosis."""
    options, statistics = content.options, content.statistics
    kinds = (
        ("events", [content.first_cut] * content.cut_events, content.read_events),
        ("options", options.damaged, options.read),
        ("counters", statistics.unreadable, len(statistics.tickers) + len(statistics.histograms)),
    )
    for kind, unread, read in kinds:
        if len(unread) >= _LEAST_UNREAD and len(unread) > _MOST_UNREAD * (len(unread) + read):
            return _unread(f"{len(unread)} of {len(unread) + read} {kind}", unread[0])
    if content.falling_events > max(_LEAST_UNREAD, content.read_events / 2):
        return (
            "the newest lines come first, and lsmtune cannot turn this file around. Export the "
            "lines with the oldest first, or use the file LOG in the folder of the database."
        )
    if content.no_version and not content.version:
        return _unread("the version of RocksDB", content.no_version)
    return None


def _unread(what: str, line: str) -> str:
    """Return which lines are unread, one of them, and what to do."""
    shown = "".join(char if char.isprintable() else " " for char in line)
    if len(shown) > _LONGEST_EXAMPLE:
        shown = f"{shown[:_LONGEST_EXAMPLE]}…"
    return (
        f"lsmtune cannot read {what}, because other text is inside the lines or the lines are cut; "
        f"the first such line: {shown} Use the file LOG in the folder of the database."
    )
