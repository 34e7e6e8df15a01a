"""Readers of what people paste: counters, tables, single lines, LOGs in frames, config files."""

import gzip
import json
from functools import partial
from pathlib import Path

from family_dumps import OLD_STALLS, Table, dump
from log_texts import compaction, event, flush, line, log, stalls
from planted_texts import HEAD, row

from fakes.frames import FRAMES
from fakes.tikv_site import FILE as TIKV_TOML
from mutated.engines import MY_CNF
from mutated.logs import log_texts
from mutated.mutations import MOST_BYTES
from mutated.reader import CAPTURED, DATA, Reader, command, inspected, texts, write_file

_STATISTICS = "STATISTICS:"
_HIDDEN = "***@***.***"
_STATS = """** DB Stats **
Uptime(secs): 7200.5 total, 600.0 interval
Cumulative writes: 910K writes, 31M keys, 910K commit groups, 1.0 writes per commit group, ingest: \
12.50 GB, 1.78 MB/s
Cumulative stall: 00:30:0.500 H:M:S, 25.0 percent
"""
_TICKERS = """rocksdb.block.cache.miss COUNT : 900000
rocksdb.block.cache.data.miss COUNT : 800,000
rocksdb.bloom.filter.useful COUNT : 12
rocksdb.number.keys.read COUNT : 70000
rocksdb.number.db.seek COUNT : 3000
rocksdb.bytes.written COUNT : 13421772800
rocksdb.stall.micros COUNT : 5000000
rocksdb.db.get.micros P50 : 11.5 P95 : 90.0 P99 : 410.0 P100 : 61000.0 COUNT : 70000 SUM : 1400000
rocksdb.db.write.micros statistics Percentiles :=> 50 : 3.1 95 : 9.0 99 : 44.0 100 : 812.0
"""


def _pasted(name: str, data: bytes, folder: Path) -> None:
    """Read a text; no study can be made of most pastes."""
    inspected(data, folder / "page.html", write_file(data, folder, name))


def tickers() -> list[bytes]:
    """Counters of a real LOG, below a heading and in a mail."""
    whole = gzip.decompress((CAPTURED / "rocksdb-11.8.1-level" / "LOG.gz").read_bytes()).decode()
    last = whole[whole.rindex(_STATISTICS) :]
    lines = [told for told in last.split("\n") if told.startswith("rocksdb.")]
    mail = "".join(f"> {told}\n" for told in _TICKERS.splitlines())
    return [text.encode() for text in (_TICKERS, mail, "\n".join([_STATISTICS, *lines, ""]))]


def tables() -> list[bytes]:
    """Tables by level: of several families, old and new, in Markdown, without their header."""
    levels = row("L0", 31, "1.91 GB", written=12.5) + row("L5", 40, "1.25 GB", 3.5, 44.0)
    total = row("Sum", 71, "3.16 GB", 4.5, 56.5)
    cells = (f"| {' | '.join(told.split())} |\n" for told in (levels + total).splitlines())
    marked = "".join(cells).replace(" | GB", " GB")
    families = {
        "default": Table(24, "1.50 GB", 12.0, 40), "rev:cf2": Table(0, "0.00 KB"),
        "meta": Table(3, "9.1 MB", 0.5, 7, OLD_STALLS), "blocks": Table(8, "2 GB", is_cut=True),
    }  # fmt: skip
    made = [f"{_STATS}\n{HEAD}{levels}{total}", levels, marked, dump(600, families)]
    return [*(text.encode() for text in made),
            (DATA / "seeds" / "compaction-tables-wrapped.txt").read_bytes()]  # fmt: skip


def _fragments() -> list[bytes]:
    """Parts of LOGs: warnings, events that a mail folds, hidden values, options, old summaries."""
    warnings = [told for _, told in stalls("we have 24 level-0 files", family="blocks", times=3)]
    warnings.append(warnings[0].partition("[blocks] ")[2])
    jobs = [told for _, told in [*flush(1, 10), *compaction(2, 11)]]
    whole = log(*flush(1, 10), *compaction(2, 11), dump(600, {"default": Table(3, "9.1 MB")}))
    folded = "".join(f"> {told[at : at + 76]}\n" for told in jobs for at in range(0, len(told), 76))
    hidden = line(*event(3, "flush_finished", job=12, lsm_state=[1, 0]))
    summaries = [
        line(4, "[default] compacted to: files[8 9 12 0 0] MB/sec: 80.1 rd, 75.2 wr, level 1, "
             "files in(4, 2) out(3) MB in(60.5, 30.2) out(84.1), read-write-amplify(2.9)"),
        line(5, "[default] Level-0 flush table #15: 1048576 bytes OK"),
        line(6, "wait for fewer level0 files"),
        line(7, "[WARN] WC setting delay of 1048576"),
    ]  # fmt: skip
    options = "\n".join(told for told in whole.splitlines() if "Options" in told)
    parts = ("\n".join(warnings), folded, hidden.replace("12", _HIDDEN), "\n".join(summaries),
             options, f"{warnings[0]}\n{_STATS}\n{_TICKERS}", whole)  # fmt: skip
    return [f"{part}\n".encode() for part in parts]


def _framed() -> list[bytes]:
    whole = log_texts()[0].decode()
    framed = (FRAMES[name](whole) for name in ("journald", "kubectl", "docker"))
    return [text[:MOST_BYTES] for text in framed]


def _in_frame(data: bytes, folder: Path) -> None:
    """A LOG in a frame, of all families and of one."""
    path = write_file(data, folder, "LOG")
    command("inspect", path, "--page", folder / "page.html")
    json.loads(command("inspect", path, "--json", "--family", "default"))


READERS = {
    "inspect_tickers": Reader(partial(_pasted, "tickers.txt"), tickers),
    "inspect_tables": Reader(partial(_pasted, "tables.txt"), tables),
    "inspect_fragments": Reader(partial(_pasted, "paste.txt"), _fragments),
    "inspect_my_cnf": Reader(partial(_pasted, "my.cnf"), texts(MY_CNF)),
    "inspect_tikv_toml": Reader(partial(_pasted, "tikv.toml"), texts(TIKV_TOML)),
    "log_in_frames": Reader(_in_frame, _framed),
}
