"""What a rule is, and small helpers for its texts."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import Need


@dataclass(frozen=True, slots=True)
class Rule:
    """Looks at one thing. Without its data, it can neither find nor exclude anything."""

    find: Callable[[Inspection], Iterator[Finding]]
    needs: tuple[Need, ...]


def percent(share: float) -> str:
    """Return a share as text: 0.5 is `50 %`."""
    return f"{100 * share:.0f} %"


def share_of_reason(log: Inspection, reason: str) -> float:
    """Return the share of the compacted bytes that compactions with this reason wrote."""
    written = [(job.reason, job.written_bytes or 0) for job in log.jobs if job.kind == "compaction"]
    total = sum(count for _, count in written)
    return sum(count for own, count in written if own == reason) / total if total else 0.0


def quoted(log: Inspection, notice: str) -> str:
    """Return how often RocksDB wrote a line, and the first such line."""
    found = log.notices[notice]
    often = "once" if found.count == 1 else f"{found.count:,} times"
    return f"RocksDB wrote {often}: “{found.first.partition('] ')[2] or found.first}”."
