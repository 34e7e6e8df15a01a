"""A home of every earlier version opens, and shows and exports the same numbers."""

import json
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from lsmtune.cli.main import run

RECORD = Path(__file__).parent / "homes" / "0.1.0.json"
EXPORTS = Path(__file__).parent / "exports"
STUDIES = ("finished", "interrupted", "verified", "front", "server", "cluster", "stores")
FORMATS = {
    "verified": ("options", "db_bench"), "server": ("my.cnf",), "cluster": ("tikv-toml",),
    "stores": ("toml",),
}  # fmt: skip
CASES = [
    (name, form, flags) for name in FORMATS for form in FORMATS[name] for flags in ([], ["--back"])
]


def test_home_shows_the_numbers_of_the_record(
    place: Path, capsys: pytest.CaptureFixture[str], write: bool
) -> None:
    found = {}
    for study in STUDIES:
        assert run(["show", study, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert run(["trials", study, "--json"]) == 0
        found[study] = {"show": shown, "trials": json.loads(capsys.readouterr().out)}
    if write:
        RECORD.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert list(_lost(json.loads(RECORD.read_text()), found)) == []


TEXTS = {"reason", "ended"}
"""Sentences for people, which may be reworded; the status next to them may not change."""


def _lost(recorded: Any, found: Any, path: str = "") -> Any:
    """Yield what the record has and the document lacks or has otherwise."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key, value in recorded.items():
            if key in TEXTS:
                if (value is None) != (found.get(key) is None):
                    yield f"{path}.{key}"
            elif key not in found:
                yield f"{path}.{key} is missing"
            else:
                yield from _lost(value, found[key], f"{path}.{key}")
    elif isinstance(recorded, list) and isinstance(found, list) and len(recorded) == len(found):
        for number, (one, other) in enumerate(zip(recorded, found, strict=True)):
            yield from _lost(one, other, f"{path}[{number}]")
    elif not _same(recorded, found):
        yield f"{path}: {recorded!r} became {found!r}"


def _same(recorded: Any, found: Any) -> bool:
    """Processors round the last digit of a logarithm differently, so numbers may differ by 1e-12.

    Booleans and whole numbers must be equal.
    """
    if isinstance(recorded, float) and isinstance(found, float):
        return isclose(recorded, found, rel_tol=1e-12)
    return bool(recorded == found)


@pytest.mark.parametrize("study", ["finished", "interrupted", "verified", "front"])
def test_page_of_an_earlier_version_is_written(
    place: Path, capsys: pytest.CaptureFixture[str], study: str
) -> None:
    assert run(["report", study, "-o", "page.html"]) == 0
    assert study in Path("page.html").read_text()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_exported_file_has_the_values_of_the_record(
    place: Path, capsys: pytest.CaptureFixture[str], write: bool, case: tuple[str, str, list[str]]
) -> None:
    study, form, flags = case
    picked = ["--trial", "1"] if study == "cluster" else []
    assert run(["export", study, "--format", form, *picked, *flags]) == 0
    text = capsys.readouterr().out
    kept = EXPORTS / f"{form}{'.back' if flags else ''}.txt"
    if write:
        EXPORTS.mkdir(exist_ok=True)
        kept.write_text(text)
    assert _values(text) or flags  # an option that tikv.toml did not have is left out again
    assert _values(text) == _values(kept.read_text())


def _values(text: str) -> list[str]:
    """Return the lines of a file without its comments."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def test_results_of_an_earlier_version_are_marked_as_judged_by_its_constraints(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "verified", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["claim"]["judged_by"] == "means"
    assert run(["show", "verified"]) == 0
    assert "older lsmtune" in capsys.readouterr().out
