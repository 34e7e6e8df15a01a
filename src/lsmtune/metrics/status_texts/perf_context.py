"""PerfContext: what RocksDB counts for the operations of one thread.

The text is that of PerfContext::ToString (monitoring/perf_context.cc): `name = count`, separated
by commas, which mails break into lines. MyRocks shows the same counts in its tables.
"""

import re
from collections.abc import Mapping

from lsmtune.metrics.status_texts.names import PERF_CONTEXT
from lsmtune.metrics.status_texts.status import StatusText

KIND = "PerfContext"
_MORE = (
    "PerfContext counts the operations of one thread, and no writes; use it with the LOG, which "
    "contains options, levels and stalls"
)
_WANTED = "use the whole text of PerfContext::ToString"
_PAIR = re.compile(r"\b([a-z][a-z_]{3,60}) = (\d{1,20})\b")
_OTHERS = {"user_key_comparison_count", "block_read_time", "block_checksum_time"}
_FEWEST_NAMES = 2


def read_perf_context(text: str) -> StatusText | None:
    """Return what the text says; None if it is not a PerfContext."""
    counts = {name: int(count) for name, count in _PAIR.findall(text)}
    if len(counts.keys() & (PERF_CONTEXT.keys() | _OTHERS)) < _FEWEST_NAMES:
        return None
    return StatusText(KIND, _MORE, _WANTED, tickers=tickers_of(counts))


def tickers_of(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the tickers that count the same, and those of data blocks.

    PerfContext counts all blocks, and of these the blocks of indexes and filters.
    """
    found = {ticker: counts[name] for name, ticker in PERF_CONTEXT.items() if name in counts}
    for what in ("hit", "miss"):
        names = [f"block.cache.{kind}{what}" for kind in ("", "index.", "filter.")]
        if all(name in found for name in names):
            total, index, filters = (found[name] for name in names)
            found[f"block.cache.data.{what}"] = max(0, total - index - filters)
    return found
