"""Files with the newest line first, as services for logs export them, turned around."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise

from lsmtune.metrics.anchors import CONTINUED
from lsmtune.metrics.frame_times import last_date, time_of
from lsmtune.metrics.log_lines import STAMP, STAMP_LENGTH

_SAMPLE_LINES = 1000
_LEAST_FALLS = 3
_LONGEST_BEGIN = 60
"""A line has its time in these characters. RocksDB can write a second time behind them."""
_MOST_TURNED = 1 << 27
"""Characters of a file that is turned around in memory."""
_BLOCK_BEGINS = ("** DB Stats **", "table_factory options:")


def oldest_first(records: Iterable[str]) -> Iterable[str]:
    """Return the records of a file in the order of time; a record can have several lines."""
    records = iter(records)
    first = list(islice(records, _SAMPLE_LINES))
    whole = chain(first, records)
    return turned(whole) if is_newest_first(first) else whole


def is_newest_first(lines: Sequence[str]) -> bool:
    """Return whether the times of the lines fall in most steps."""
    times = [time for line in lines if (time := _time(line))]
    falls = [before > after for before, after in pairwise(times) if before != after]
    return sum(falls) >= _LEAST_FALLS and sum(falls) * 2 > len(falls)


def turned(lines: Iterable[str]) -> Iterator[str]:
    """Yield the last message first; lines without a time belong to the message above them.

    If the lines of a message are turned too, all lines are turned. A file that is too large for the
    memory stays as it is.
    """
    lines, held, length = iter(lines), list[str](), 0
    for line in lines:
        held.append(line)
        length += len(line)
        if length > _MOST_TURNED:
            yield from held
            yield from lines
            return
    if any(map(_is_turned, held, held[1:])):
        yield from reversed(held)
        return
    end = len(held)
    for begin in range(len(held) - 1, -1, -1):
        if begin == 0 or _time(held[begin]):
            yield from held[begin:end]
            end = begin


def _is_turned(line: str, following: str) -> bool:
    """Return whether a further line of a message comes before its begin."""
    is_begin = any(words in following for words in _BLOCK_BEGINS)
    return is_begin and CONTINUED.search(line) is not None


def _time(line: str) -> str:
    """Return the time at the begin of a line as RocksDB writes it, or nothing."""
    if STAMP.match(line):
        return line[:STAMP_LENGTH]
    date = last_date(line[:_LONGEST_BEGIN])
    return "" if date is None else time_of(date)
