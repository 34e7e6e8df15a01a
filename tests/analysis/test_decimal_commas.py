"""A LOG with decimal commas says the same as with points."""

import gzip
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.metrics.options_file import COMMA_NOTE, dump_with_points, with_points

DATA = Path(__file__).parents[1] / "data"
LOGS = [DATA / "planted" / "memtable.LOG.gz", DATA / "planted" / "cache.LOG.gz",
        DATA / "captured" / "rocksdb-7.8.3-level" / "LOG.gz"]  # fmt: skip
_STAMP = re.compile(r"\d{4}/")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")


def with_commas(line: str) -> str:
    """The line as RocksDB prints it in a program whose locale has commas."""
    is_option = re.search(r"Options\.\w+: \d+\.\d+$", line)
    if _STAMP.match(line) and not is_option:
        return line
    head, colon, rest = line.rpartition("Options.") if is_option else ("", "", line)
    return head + colon + _POINT.sub(",", rest)


@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_log_with_commas_says_what_it_says_with_points(path: Path, tmp_path: Path) -> None:
    text = gzip.decompress(path.read_bytes()).decode()
    found = {}
    for kind, lines in (
        ("points", text),
        ("commas", "\n".join(map(with_commas, text.split("\n")))),
    ):
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "LOG").write_text(lines)
        found[kind] = asdict(inspect_path(tmp_path / kind / "LOG"))
    assert COMMA_NOTE in found["commas"].pop("incomplete")
    found["points"].pop("incomplete")
    names = {kind: told.pop("name") for kind, told in found.items()}
    assert len(set(names.values())) == 2
    assert found["commas"] == found["points"]


@pytest.mark.parametrize("text", ["1,2,3", "a1,5", "1,5,", "{cost=1,2,3;}", "10, 5"])
def test_lists_keep_their_commas(text: str) -> None:
    assert with_points(text) == text


def test_a_dump_with_points_keeps_its_commas() -> None:
    text = "Uptime(secs): 10.0 total, 3.0 interval\nranges 1,5\n"
    assert dump_with_points(text) == text
    assert "ranges 1.5" in dump_with_points(text.replace("10.0", "10,0").replace("3.0", "3,0"))
