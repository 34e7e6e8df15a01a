"""Readers of two sides of a change, one of them damaged: `inspect BEFORE AFTER --compare`."""

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

from fakes.bench_texts import (
    MIDDLE_HEADER,
    OLD_HEADER,
    banner,
    histogram,
    report,
    result,
    row,
    statistics,
)
from fakes.tikv_site import FILE as TIKV_TOML
from mutated.engines import MY_CNF
from mutated.logs import OPTIONS_TEXTS, log_texts
from mutated.pastes import tables, tickers
from mutated.reader import Reader, command, inspected, write_file
from mutated.settings import OPTIONS


def _results() -> list[bytes]:
    text = banner() + result("overwrite", 100) + histogram(11, 70) + statistics(4, 12, 5)
    mean = "overwrite [AVG 4 runs] : 100000 (± 1960) ops/sec;   11.1 (± 0.2) MB/sec\n"
    several = "".join(banner() + result("overwrite", ops) for ops in (90, 100, 110))
    other = banner("6.2.2", 5000, 400) + result("readrandom", 800, threads=8)
    return [part.encode() for part in (text + mean, several, other)]


def _reports() -> list[bytes]:
    rows = row(250_000), row(90_000, "fillseq.wal_enabled.v800", "9.5.0", job_id="7")
    middle = report([str(1 + at) for at in range(16)] + ["bulkload"], header=MIDDLE_HEADER)
    old = report([str(1 + at) for at in range(16)] + ["overwrite"], header=OLD_HEADER)
    parts = (report(*rows), report(*rows).replace("\t", "  "), middle, old)
    return [part.encode() for part in parts]


def _logs() -> list[bytes]:
    return log_texts()[:3]


def _dumps() -> list[bytes]:
    return [*tickers(), *tables()]


def _options() -> list[bytes]:
    settings = "write_buffer_size=64MB;compaction_options_universal={size_ratio=5;};"
    return [part.encode() for part in (settings, OPTIONS, MY_CNF, TIKV_TOML, *OPTIONS_TEXTS)]


def _compared(make: Callable[[], Sequence[bytes]], data: bytes, folder: Path) -> None:
    """Read the damaged text before the change alone, and as one of two texts after it."""
    whole, damaged = folder / "whole.txt", write_file(data, folder, "damaged.txt")
    if not whole.exists():
        write_file(_first(make), folder, whole.name)
    command("inspect", damaged, whole, "--compare")
    inspected(data, folder / "page.html", whole, "--after", whole, "--after", damaged)


@cache
def _first(make: Callable[[], Sequence[bytes]]) -> bytes:
    return make()[0]


READERS = {
    f"compared_{name}": Reader(partial(_compared, make), make)
    for name, make in (
        ("results", _results), ("reports", _reports), ("logs", _logs), ("dumps", _dumps),
        ("options", _options),
    )
}  # fmt: skip
