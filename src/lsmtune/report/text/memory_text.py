"""Sentences about the memory of the full-size tree."""

from lsmtune.analysis.study_view import FullMemory
from lsmtune.errors import Argument, Message
from lsmtune.report.text.words import listed
from lsmtune.units import format_bytes

_MILLION = 1_000_000


def small_tree_text(*, all_sizes_scale: bool) -> str:
    """Return which sizes of a trial are smaller than at full size."""
    caches = " caches," if all_sizes_scale else ""
    return f"with smaller memtables,{caches} files and levels"


def memory_sentence(found: FullMemory) -> str:
    """Return how much memory the full-size tree needs, and for what."""
    parts = found.estimate
    consumers = [("memtables", parts.memtables), ("caches", parts.caches),
                 ("filters", parts.filters), ("indexes", parts.indexes)]  # fmt: skip
    used = listed([f"{name} {format_bytes(size)}" for name, size in consumers if size])
    keys = "" if found.keys is None else f", for {found.keys / _MILLION:.3g} million keys"
    text = (
        f"Memory at full size: {format_bytes(parts.total)} by estimate, and the limit is "
        f"{format_bytes(found.limit_bytes)}. By consumer{keys}: {used}."
    )
    if found.measured_bytes is not None:
        text += f" With the measured filters and indexes: {format_bytes(found.measured_bytes)}."
    if found.keys is None:
        return text
    if per_million := found.table_bytes_per_million_keys:
        text += (
            " Filters and indexes are outside the block cache and need "
            f"{format_bytes(per_million)} more per million keys."
        )
    return text


def assumed_cache_text(size_bytes: int) -> Message:
    """Return that the size of the user's block cache is not known, and how to give it."""
    return Message(
        "your OPTIONS file does not contain the size of the block cache; lsmtune assumes "
        f"{format_bytes(size_bytes)}; give yours with ",
        Argument("cache"),
    )
