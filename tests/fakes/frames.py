"""A LOG as other programs, mails and terminals contain it."""

import codecs
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

_FORMAT = "%Y/%m/%d-%H:%M:%S.%f"
_STAMP = len("2026/11/21-21:17:44.881941")


def _entries(text: str) -> Iterator[tuple[datetime, str, str]]:
    """Yield time, thread and message; a message has all lines that belong to it."""
    entry: list[str] = []
    for line in text.rstrip("\n").split("\n"):
        if line[4:5] == "/" and entry:
            yield _entry(entry)
            entry = []
        entry.append(line)
    yield _entry(entry)


def _entry(lines: list[str]) -> tuple[datetime, str, str]:
    moment = datetime.strptime(lines[0][:_STAMP], _FORMAT).replace(tzinfo=UTC)
    thread, _, message = lines[0][_STAMP + 1 :].partition(" ")
    return moment, thread, "\n".join([message, *lines[1:]])


def _by_message(prefix: Callable[[datetime, str], str]) -> Callable[[str], bytes]:
    """Put a prefix in the place of RocksDB's own time, in front of the first line of a message."""
    return lambda text: "".join(
        f"{prefix(moment, thread)}{message}\n" for moment, thread, message in _entries(text)
    ).encode()


def _by_line(prefix: Callable[[int], str]) -> Callable[[str], bytes]:
    """Put a prefix in front of each line."""
    return lambda text: "".join(
        f"{prefix(place)}{line}\n" for place, line in enumerate(text.rstrip("\n").split("\n"))
    ).encode()


def _hex(thread: str) -> str:
    return f"7f{int(thread, 16) % 2**40:010x}"


def _journald(text: str) -> bytes:
    """Ceph's messages in the journal, which has a prefix of its own in front of each line."""
    found = []
    for moment, thread, message in _entries(text):
        outer = f"{moment:%b %d %H:%M:%S} host ceph-mon[1234]: "
        first, *rest = message.split("\n")
        found.append(f"{outer}{_ceph(moment, thread)}{first}")
        found += [outer + line for line in rest]
    return ("\n".join(found) + "\n").encode()


def _ceph(moment: datetime, thread: str) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}+0000 {_hex(thread)}  4 rocksdb: "


def _docker(text: str) -> bytes:
    return "".join(
        json.dumps({"log": f"{line}\n", "stream": "stderr", "time": "2026-11-21T21:17:44.8819Z"})
        + "\n"
        for line in text.rstrip("\n").split("\n")
    ).encode()


def _kubectl(place: int) -> str:
    moment = datetime(2026, 11, 21, 21, tzinfo=UTC) + timedelta(milliseconds=place)
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}123Z "


def _tikv_quoted(text: str) -> bytes:
    return "".join(
        f"[{moment:%Y/%m/%d %H:%M:%S}.{moment.microsecond // 1000:03} +08:00] [INFO] "
        f"[rocks_logger.rs:12] [{json.dumps(message)}]\n"
        for moment, _, message in _entries(text)
    ).encode()


FRAMES: dict[str, Callable[[str], bytes]] = {
    "glog": _by_message(
        lambda moment, _: f"I{moment:%y%m%d %H:%M:%S.%f} storage/engine/rocksdb.go:72  "),
    "ceph crash": _by_message(
        lambda moment, thread:
        f"   -99> {moment:%Y-%m-%d %H:%M:%S.%f} {_hex(thread)}  4 rocksdb: "),
    "ceph debug": _by_message(lambda moment, thread: f"debug {_ceph(moment, thread)}"),
    "ceph": _by_message(_ceph),
    "journald": _journald,
    "kubectl": _by_line(_kubectl),
    "docker": _docker,
    "log4j": _by_message(
        lambda moment, thread: f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03} "
        f"[Thread-{int(thread, 16) % 9}] INFO  (RocksLoggerAdapter.java [log]:53) - "),
    "grep": _by_line(lambda _: "data/db/LOG:"),
    "mail": _by_line(lambda _: "> "),
    "indented": _by_line(lambda _: "    "),
    "byte order mark": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "TiKV, quoted": _tikv_quoted,
}  # fmt: skip
"""What each frame makes of the text of a LOG."""
