"""RocksDB's LOG as TiKV writes it (`rocksdb.info`), turned back into RocksDB's own form.

    [2022/03/19 20:18:40.055 +08:00][5][INFO] [db/db_impl/db_impl.cc:704] message

What RocksDB logs as a header (its version, the options) stands there without any time. For some
weeks of 2020 messages were quoted instead, each with the place in TiKV that logged it:

    [2020/05/06 06:05:47.546 +00:00] [INFO] [logger.rs:12] ["message"]

The first form is that of RocksFormat in components/tikv_util/src/logger/mod.rs.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain

_TIME = r"\[(?P<day>\d{4}/\d\d/\d\d) (?P<time>\d\d:\d\d:\d\d\.\d{3}) [+-]\d\d:\d\d\]"
_FRAME = re.compile(_TIME + r"\[(?P<thread>\d+)\]\[(?P<level>\w+)\] (?P<message>.*)")
_QUOTING_FRAME = re.compile(_TIME + r" \[(?P<level>\w+)\] \[[^\]]*\] (?P<message>\[.*)")
_QUOTED = re.compile(r'\[("(?:[^"\\]|\\.)*")\]')
_BARE = re.compile(r"\[([^\]\"][^\]]*)\]")
_HEADER = re.compile(
    r"\s*(?:RocksDB version: |Options\.\w|table_factory options:|DB SUMMARY|DB pointer )"
)
_MOST_HELD = 5000
"""A head of more lines is none."""


def without_frames(lines: Iterable[str]) -> Iterator[str]:
    """The lines as RocksDB itself would have written them; those of other LOGs as they are.

    TiKV keeps milliseconds; a line gets the last microsecond of its own, so that no warning comes
    before the event that led to it. Lines of a header get the time of their neighbour.
    """
    head: list[str] = []
    rest = iter(lines)
    for line in rest:
        head.append(line)
        if _unframed(line) is not None:
            yield from _without_frames(chain(head, rest), line)
            return
        if line[4:5] == "/" or len(head) >= _MOST_HELD:
            break
    yield from head
    yield from rest


def _without_frames(lines: Iterable[str], first_framed: str) -> Iterator[str]:
    """The lines of TiKV's LOG; its head has the time of the first that has one."""
    stamp, _ = _unframed(first_framed) or ("", "")
    for line in lines:
        framed = _unframed(line)
        if framed is None:
            yield _with_time(line, stamp)
            continue
        stamp, message = framed
        first, *rest = message.split("\n")
        yield f"{stamp} {first}"
        yield from rest


def _unframed(line: str) -> tuple[str, str] | None:
    """The time and thread as RocksDB writes them, and the message; None of other lines."""
    if line[:1] != "[":
        return None
    frame = _FRAME.match(line)
    message = frame and frame["message"]
    if frame is None and (frame := _QUOTING_FRAME.match(line)) is not None:
        message = _unquoted(frame["message"])
    if frame is None or message is None:
        return None
    thread = frame.groupdict().get("thread") or "0"
    level = "" if frame["level"] == "INFO" else f"[{frame['level']}] "
    return f"{frame['day']}-{frame['time']}999 {thread}", level + message


def _unquoted(text: str) -> str | None:
    """The message out of its brackets and quotes; None where it is cut."""
    quoted, bare = _QUOTED.match(text), _BARE.match(text)
    if quoted is None:
        return bare and bare[1]
    try:
        return str(json.loads(quoted[1]))
    except ValueError:
        return None


def _with_time(line: str, stamp: str) -> str:
    """A line of a header with the time; any other belongs to the line above it."""
    return f"{stamp} {line}" if _HEADER.match(line) else line
