"""Readers of LOGs and of outputs that contain the same tables: the command `inspect`."""

import gzip
import json
from contextlib import suppress
from pathlib import Path

from status_texts import (
    FORMS,
    INFO,
    LEVELS,
    MONGODB,
    MYSQL,
    PERF,
    STATUS,
    TIKV,
    perf_text,
    variables,
)
from status_texts import OPTIONS as CF_OPTIONS

from fakes.bench_texts import MIDDLE_HEADER, report, row
from lsmtune.api.consent import nobody_to_ask
from lsmtune.api.resolve import Request, given_settings
from lsmtune.engines.registry import read_base
from lsmtune.errors import UserError
from lsmtune.spec import make_spec
from mutated.engines import db_bench_text
from mutated.mutations import MOST_BYTES
from mutated.reader import CAPTURED, DATA, ROOT, Reader, command, commands, inspected, write_file

_HEAD_LINES, _OTHER_LINES = 250, 60
"""The head has the options."""


def _short(text: str) -> str:
    """Return the head of a LOG, some lines of its middle, and its end."""
    lines = text.splitlines(keepends=True)
    middle = lines[_HEAD_LINES:-_OTHER_LINES]
    step = max(1, len(middle) // _OTHER_LINES)
    return "".join([*lines[:_HEAD_LINES], *middle[::step], *lines[-_OTHER_LINES:]])


def log_texts() -> list[bytes]:
    paths = [ROOT / "examples" / "LOG.gz", *sorted((DATA / "planted").glob("*.gz"))]
    paths += [CAPTURED / "rocksdb-11.8.1-universal" / "LOG.gz"]
    paths += [CAPTURED / "myrocks-6.29-tpcc-universal.LOG.gz"]
    texts = (gzip.decompress(path.read_bytes()).decode() for path in paths)
    return [_short(text).encode()[:MOST_BYTES] for text in texts]


def _zipped() -> list[bytes]:
    return [gzip.compress(text, mtime=0) for text in log_texts()[:3]]


def _framed() -> list[bytes]:
    """LOGs as TiKV writes them: rocksdb.info of both forms."""
    found = []
    for text in log_texts()[:3]:
        lines = []
        for line in text.decode().splitlines():
            stamp, thread, message = line[:26], *f"{line[27:]} ".split(" ", 1)
            day, _, time = stamp.partition("-")
            framed = f"[{day} {time[:12]} +08:00][{thread}][INFO] {message}"
            lines.append(framed if line[4:5] == "/" else line)
        found.append("\n".join(lines).encode()[:MOST_BYTES])
    quoted = found[0].decode().replace("][INFO] ", '] [INFO] [logger.rs:12] ["')
    return [*found, quoted.replace("\n", '"]\n').encode()]


def _inspected(path: Path, folder: Path) -> None:
    page, study = folder / "page.html", folder / "found.toml"
    for old in folder.glob("found*"):
        old.unlink()
    try:
        commands(("inspect", path, "--page", page), ("inspect", path, "--to-study", study))
    finally:
        json.loads(command("inspect", path, "--json"))
    if study.exists():
        with suppress(UserError):  # a study may be refused for its values, but it is TOML
            make_spec(given_settings(Request(study_file=study), nobody_to_ask), "study", {})


def _output(data: bytes, folder: Path) -> None:
    """An output of db_bench contains no options, so no study is made of it."""
    inspected(data, folder / "page.html", write_file(data, folder, "stdout.txt"))


def _log(data: bytes, folder: Path) -> None:
    _inspected(write_file(data, folder, "LOG"), folder)


def _log_folder(data: bytes, folder: Path) -> None:
    """Two parts of a LOG, cut at a form feed or in the middle."""
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    half = len(data) // 2
    write_file(data[:half], logs, "LOG.old.1700000000000000")
    write_file(data[half:], logs, "LOG")
    _inspected(logs, folder)


def _status_text() -> list[bytes]:
    return [(CAPTURED / "myrocks-6.29-engine-status-universal.txt").read_bytes()]


def _counters() -> list[bytes]:
    """What MyRocks, Kvrocks, exporters and PerfContext print, in each form."""
    tables = (variables(STATUS), LEVELS, CF_OPTIONS)
    texts = [form(rows) for form in FORMS.values() for rows in tables]
    texts += [INFO, TIKV, MYSQL, MONGODB, perf_text(PERF)]
    return [text.encode() for text in texts]


def _options(data: bytes, folder: Path) -> None:
    path = write_file(data, folder, "options")
    _inspected(path, folder)
    read_base(data.decode(errors="replace"), "options", "rocksdb")


OPTIONS_TEXTS = (
    'x_options = "write_buffer_size=64M,max_open_files=9,block_based_table_factory={block_size=8K;'
    'filter_policy=bloomfilter:10:false},compaction_options_universal.size_ratio=3"\n',
    '--a_options={"max_open_files":"9","write_buffer_size":"8388608"}\n',
    "[log]\nlevel = info\n[rocksdb]\nblock-cache-size = 1G\ntotal-write-buffer-size = 8388608\n",
    "[raftstore]\nsync-log = false\n[rocksdb.writecf]\nwrite-buffer-size = '8MB'\n",
    "[mysqld]\nrocksdb_max_total_wal_size=8m\nrocksdb_override_cf_options=a={ttl=7}\n",
)


def _options_texts() -> list[bytes]:
    return [text.encode() for text in OPTIONS_TEXTS]


def _reports() -> list[bytes]:
    texts = [report(row(250_000), row(90_000, "fillseq.wal_enabled.v800", "9.5.0"))]
    texts.append(report([str(1 + at) for at in range(16)] + ["bulkload"], header=MIDDLE_HEADER))
    texts.append(texts[0].replace("\t", "  "))
    return [text.encode() for text in texts]


READERS = {
    "inspect_options": Reader(_options, _options_texts),
    "inspect_report": Reader(_output, _reports),
    "inspect_db_bench": Reader(_output, db_bench_text),
    "inspect_status": Reader(_output, _status_text),
    "inspect_counters": Reader(_output, _counters),
    "log": Reader(_log, log_texts),
    "log_gzip": Reader(_log, _zipped),
    "log_folder": Reader(_log_folder, log_texts),
    "log_of_tikv": Reader(_log, _framed),
}
