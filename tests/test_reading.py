"""Files that users name: only regular files of a bounded size, and no traceback."""

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from lsmtune.errors import UserError
from lsmtune.reading import parse_json, parse_toml, read_text

DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5000


def test_a_text_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("ü = 1\n", encoding="utf-8")
    assert read_text(tmp_path / "x", "x") == "ü = 1\n"


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "x")
    assert read_text(tmp_path / "link", "x") == "text"


@pytest.mark.parametrize("name", ["pipe", "folder", "missing", "/dev/zero"])
def test_only_regular_files_are_read(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserError, match=r"^--base: "):
        read_text(tmp_path / name, "--base")


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("y" * 11)
    with pytest.raises(UserError, match=r"^x: .*larger"):
        read_text(tmp_path / "x", "x", most_bytes=10)
    assert read_text(tmp_path / "x", "x", most_bytes=11) == "y" * 11


def test_a_gzip_file_is_read_like_its_text(tmp_path: Path) -> None:
    packed = gzip.compress(b"ab" * 50_000)
    (tmp_path / "x.gz").write_bytes(packed)
    assert read_text(tmp_path / "x.gz", "x") == "ab" * 50_000
    with pytest.raises(UserError, match=r"^x: .*larger"):
        read_text(tmp_path / "x.gz", "x", most_bytes=99_999)


@pytest.mark.parametrize("damage", [lambda b: b[:-12], lambda b: b[:9] + b"xx" + b[11:],
                                    lambda b: b[:2] + b"xx"])  # fmt: skip
def test_a_damaged_gzip_file_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (tmp_path / "x.gz").write_bytes(damage(gzip.compress(b"ab" * 50_000)))
    with pytest.raises(UserError, match=r"^x: "):
        read_text(tmp_path / "x.gz", "x")


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=r"^x: "):
        read_text(tmp_path / "x", "x")


DOTTED = "a." * 2000 + "a = 1"
"""Tables in tables, which the parser makes without calling itself."""


@pytest.mark.parametrize(
    "text", [f"x = {DEEP}", f"x = {LONG}", "x =", "x", DOTTED, f"x = {'9' * 400}"]
)
def test_toml_is_refused_without_a_traceback(text: str) -> None:
    with pytest.raises(UserError, match=r"^study.toml: "):
        parse_toml(text, "study.toml")


@pytest.mark.parametrize("text", [DEEP, "[" * 101 + "]" * 101, LONG, "9" * 400, "{", ""])
def test_json_is_refused_without_a_traceback(text: str) -> None:
    with pytest.raises(UserError, match=r"^line 3: "):
        parse_json(text, "line 3")


def test_a_document_of_a_hundred_levels_is_read() -> None:
    assert parse_json("[" * 100 + "]" * 100, "x")


def test_a_text_of_toml_with_nul_is_refused() -> None:
    with pytest.raises(UserError, match=r"^study.toml: "):
        parse_toml('x = [{y = "a\\u0000"}]', "study.toml")
