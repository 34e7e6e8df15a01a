"""A LOG as other programs, mails and terminals contain it."""

import codecs
import csv
import html
import io
import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

Frame = Callable[[str], bytes]
"""Makes of the text of a LOG what another program writes."""
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


def _by_message(prefix: Callable[[datetime, str], str]) -> Frame:
    """Put a prefix in the place of RocksDB's own time, in front of the first line of a message."""
    return lambda text: "".join(
        f"{prefix(moment, thread)}{message}\n" for moment, thread, message in _entries(text)
    ).encode()


def _by_line(prefix: Callable[[int], str]) -> Frame:
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


Record = dict[str, object]


def _json_by_line(record: Callable[[str], Record]) -> Frame:
    """Put each line into a JSON object."""
    return _by_line_of(lambda line: json.dumps(record(line)))


def _json_by_message(record: Callable[[datetime, str], Record]) -> Frame:
    """Put each message, without the time of RocksDB, into a JSON object with another time."""
    return lambda text: "".join(
        json.dumps(record(moment, message)) + "\n" for moment, _, message in _entries(text)
    ).encode()


def _by_line_of(whole: Callable[[str], str]) -> Frame:
    """Put something around each line."""
    return lambda text: "".join(
        f"{whole(line)}\n" for line in text.rstrip("\n").split("\n")
    ).encode()


def _docker(line: str) -> Record:
    return {"log": f"{line}\n", "stream": "stderr", "time": "2026-11-21T21:17:44.8819Z"}


def _tracing(line: str) -> Record:
    return {"timestamp": "2026-11-21T21:17:44.881Z", "level": "INFO",
            "fields": {"message": line, "thread": 7}, "target": "rocksdb"}  # fmt: skip


def _loki(line: str) -> Record:
    return {"line": line, "timestamp": "1763759864881941000", "labels": {"pod": "store-0"}}


def _elastic(line: str) -> Record:
    return {"_id": "x1", "_source": {"@timestamp": "2026-11-21T21:17:44.881Z", "host": ["a", "b"],
            "event": {"original": f"<14>1 host store: {line}"}, "message": line}}  # fmt: skip


def _level(message: str) -> str:
    return "warn" if message.startswith("[WARN]") else "info"


def _pretty(text: str) -> bytes:
    records = [{"ts": 1, "message": line, "host": "a"} for line in text.rstrip("\n").split("\n")]
    return json.dumps(records, indent=2).encode()


def _grafana(text: str) -> bytes:
    """Answers of Loki's interface: many lines in one line."""
    lines, found = text.rstrip("\n").split("\n"), []
    for at in range(0, len(lines), 200):
        values = [[f"{1763759864881941000 + at}", line] for line in lines[at : at + 200]]
        streams = [{"stream": {"job": "store"}, "values": values}]
        found.append(json.dumps({"status": "success", "data": {"result": streams}}))
    return ("\n".join(found) + "\n").encode()


def _table(*columns: str, by_message: bool = False, **form: Any) -> Frame:
    """Put each line, or each message with all its lines, into a row with further columns."""

    def made(text: str) -> bytes:
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n", **form)
        writer.writerow(columns)
        whole = text.rstrip("\n")
        lines = whole.split("\n") if not by_message else [
            f"{moment:{_FORMAT}} {thread} {message}" for moment, thread, message in _entries(text)
        ]  # fmt: skip
        others = {"time": "Nov 21, 2026 @ 21:17:44.881", "host": "store-0", "n": "17"}
        for line in lines:
            writer.writerow([others.get(column, line) for column in columns])
        return file.getvalue().encode()

    return made


def _folded(width: int) -> Frame:
    return lambda text: "".join(
        f"{line[at : at + width]}\n"
        for line in text.rstrip("\n").split("\n")
        for at in range(0, max(1, len(line)), width)
    ).encode()


def _coloured(text: str) -> bytes:
    """Messages of a program that colours its level, as `less` saves them."""
    return _by_message(
        lambda moment, _: (
            f"\x1b[2m{moment:%Y-%m-%dT%H:%M:%S.%f}Z\x1b[0m \x1b[32m INFO\x1b[0m "
            "\x1b[2mrocksdb\x1b[0m\x1b[2m:\x1b[0m "
        )
    )(text)


def _found(text: str) -> bytes:
    """What `grep --color -n` prints."""
    return "".join(
        f"\x1b[35mLOG\x1b[m\x1b[36m:\x1b[m\x1b[32m{place}\x1b[m\x1b[36m:\x1b[m"
        + line.replace("rocksdb", "\x1b[01;31mrocksdb\x1b[m")
        + "\n"
        for place, line in enumerate(text.rstrip("\n").split("\n"), 1)
    ).encode()


def _tikv_threads(text: str) -> bytes:
    """Messages as TiKV 7.5 writes them; single words have no quotes."""
    found = []
    for moment, thread, message in _entries(text):
        quoted = message if message.isalnum() else json.dumps(message)
        time = f"{moment:%Y/%m/%d %H:%M:%S}.{moment.microsecond // 1000:03}"
        thread_id = f"thread_id=0x{int(thread, 16) % 41:x}"
        found.append(f"[{time} +08:00] [INFO] [rocks_logger.rs:12] [{quoted}] [{thread_id}]\n")
    return "".join(found).encode()


def _logfmt(text: str) -> bytes:
    return "".join(
        f'time="{moment:%Y-%m-%dT%H:%M:%S.%f}Z" level={_level(message)} msg={json.dumps(message)} '
        f"component=store thread={thread}\n"
        for moment, thread, message in _entries(text)
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


def _newest_first(frame: Frame, header: int = 0) -> Frame:
    """Turn the records of a frame around, one in each line, below the lines of a header."""

    def made(text: str) -> bytes:
        lines = frame(text).rstrip(b"\n").split(b"\n")
        return b"\n".join([*lines[:header], *reversed(lines[header:]), b""])

    return made


def _newest_messages_first(prefix: Callable[[datetime, str], str]) -> Frame:
    """Turn the messages around; the lines of a message stay in their order."""
    return lambda text: "".join(
        f"{prefix(moment, thread)}{message}\n"
        for moment, thread, message in reversed(list(_entries(text)))
    ).encode()


def _datadog(text: str) -> bytes:
    """Rows of all lines of a message, the newest first."""
    file = io.StringIO()
    writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["Date", "Host", "Service", "Message"])
    for moment, thread, message in reversed(list(_entries(text))):
        time = f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"
        whole = f"{moment:{_FORMAT}} {thread} {message}"
        writer.writerow([time, "store-0", "store", whole])
    return file.getvalue().encode()


def _rsyslog(messages: int) -> Frame:
    """Put a number of messages into each line, with escapes in the place of the ends of lines."""

    def made(text: str) -> bytes:
        entries = list(_entries(text))
        found = []
        for at in range(0, len(entries), messages):
            whole = "\n".join(
                f"{moment:{_FORMAT}} {thread} {message}"
                for moment, thread, message in entries[at : at + messages]
            )
            escaped = whole.replace("\n", "#012").replace("\t", "#011")
            found.append(f"{entries[at][0]:%b %d %H:%M:%S} host store[17]: {escaped}\n")
        return "".join(found).encode()

    return made


def _journal(indent: str) -> Frame:
    """Messages of `journalctl -o short-iso`, which indents the further lines of a message."""
    return lambda text: "".join(
        f"{moment:%Y-%m-%dT%H:%M:%S}+0000 host store[17]: {moment:{_FORMAT}} {thread} "
        + message.replace("\n", f"\n{indent}")
        + "\n"
        for moment, thread, message in _entries(text)
    ).encode()


FRAMES: dict[str, Frame] = {
    "glog": _by_message(
        lambda moment, _: f"I{moment:%y%m%d %H:%M:%S.%f} storage/engine/rocksdb.go:72  "),
    "ceph crash": _by_message(
        lambda moment, thread:
        f"   -99> {moment:%Y-%m-%d %H:%M:%S.%f} {_hex(thread)}  4 rocksdb: "),
    "ceph debug": _by_message(lambda moment, thread: f"debug {_ceph(moment, thread)}"),
    "ceph": _by_message(_ceph),
    "journald": _journald,
    "kubectl": _by_line(_kubectl),
    "docker": _json_by_line(_docker),
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
    "TiKV with threads": _tikv_threads,
    "tracing": _json_by_line(_tracing),
    "Loki": _json_by_line(_loki),
    "Loki's interface": _grafana,
    "Elasticsearch": _json_by_line(_elastic),
    "JSON over lines": _pretty,
    "zap": _json_by_message(lambda moment, message: {
        "level": _level(message), "ts": moment.timestamp(), "caller": "store/log.go:31",
        "msg": message}),
    "logstash": _json_by_message(lambda moment, message: {
        "@timestamp": f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z", "level": _level(message).upper(),
        "message": message, "logger_name": "org.rocksdb"}),
    "journald, JSON": _json_by_message(lambda moment, message: {
        "__REALTIME_TIMESTAMP": str(round(moment.timestamp() * 1e6)), "MESSAGE": message,
        "_HOSTNAME": "a"}),
    "logfmt": _logfmt,
    "Kibana": _table("time", "message", quoting=csv.QUOTE_ALL),
    "Kibana, messages": _table("time", "host", "message", by_message=True),
    "CSV": _table("message", "n", "host"),
    "semicolons": _table("n", "message", "host", delimiter=";"),
    "tabs": _table("n", "message", delimiter="\t"),
    "colours": _coloured,
    "coloured grep": _found,
    "line numbers": _by_line(lambda place: f"{place + 1}:"),
    "cat -n": _by_line(lambda place: f"{place + 1:6}\t"),
    "CRI": _by_line(lambda place: f"{_kubectl(place).strip()} stdout F "),
    "compose": _by_line(lambda _: "store-1  | "),
    "RFC 5424": _by_line(lambda place: f"<14>1 {_kubectl(place)}host store {place % 90} - - "),
    "text behind": _by_line_of(lambda line: f"{line} | host=store-0 pod=a7f"),
    "text around": _by_line_of(lambda line: f"<<{line}>>"),
    "table in Markdown": _by_line_of(lambda line: f"| {line} |"),
    "folded at 100": _folded(100),
    "folded at 160": _folded(160),
    "newest line first": _newest_first(_by_line_of(str)),
    "newest first, JSON": _newest_first(_json_by_line(_docker)),
    "newest first, JSON of messages": _newest_first(_json_by_message(lambda moment, message: {
        "timestamp": f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z", "content": {"message": message}})),
    "newest first, CSV": _newest_first(_table("time", "message", quoting=csv.QUOTE_ALL), 1),
    "newest first, rows of messages": _datadog,
    "newest first, TiKV": _newest_first(_tikv_threads),
    "newest first, ceph": _newest_messages_first(_ceph),
    "newest first, kubectl": _newest_first(_by_line(_kubectl)),
    "rsyslog": _rsyslog(1),
    "rsyslog, two messages": _rsyslog(2),
    "journalctl": _journal(" " * 42),
    "further lines with spaces": _journal("    "),
    "further lines with a tab": _journal("\t"),
    "HTML": lambda text: html.escape(text).encode(),
}  # fmt: skip
"""What each frame makes of the text of a LOG."""

_OUTER = ("kubectl", "docker", "grep", "mail", "tracing", "Loki", "Elasticsearch", "Kibana", "CSV",
          "semicolons", "line numbers", "cat -n", "CRI", "compose", "CRLF", "folded at 160",
          "text behind", "coloured grep")  # fmt: skip
"""Frames that may contain lines of any program."""


def layered(seed: int) -> tuple[str, Frame]:
    """Return one to three frames in one another, with their names from the inside."""
    rng = random.Random(seed)
    names = [rng.choice(sorted(FRAMES)), *rng.sample(_OUTER, rng.randint(0, 2))]

    def made(text: str) -> bytes:
        for name in names:
            text = FRAMES[name](text).decode("utf-16" if name == "UTF-16" else "utf-8-sig")
        return text.encode()

    return " in ".join(names), made
