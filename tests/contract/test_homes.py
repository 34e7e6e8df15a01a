"""A home of every earlier version opens, and shows the same numbers.

`--write-contract` writes only records that are missing, so that no wrong change is recorded.
"""

import json
from math import isclose
from pathlib import Path
from typing import Any

import pytest

from fakes.recorded_home import HOMES, VERSIONS, Enter, studies_in
from lsmtune.cli.main import run
from lsmtune.rule import SizeRule
from lsmtune.store.home import Home


@pytest.mark.parametrize("version", VERSIONS)
def test_home_of_an_earlier_version_shows_the_numbers_of_the_record(
    enter: Enter, capsys: pytest.CaptureFixture[str], write: bool, version: str
) -> None:
    found = {}
    for study in studies_in(enter(version)):
        assert run(["show", study, "--json"]) == 0
        shown = json.loads(capsys.readouterr().out)
        assert run(["trials", study, "--json"]) == 0
        found[study] = {"show": shown, "trials": json.loads(capsys.readouterr().out)}
    record = HOMES / f"{version}.json"
    if write and not record.exists():
        record.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
    assert list(_lost(json.loads(record.read_text()), found)) == []


TEXTS = {"reason", "ended", "headline"}
"""Sentences for people, which may be reworded; the status next to them may not change."""
ADVICE = "next"
"""What to do next may get better: for example, a verification that takes less time."""


def _lost(recorded: Any, found: Any, path: str = "") -> Any:
    """Yield what the record has and the document lacks or has otherwise."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for key, value in recorded.items():
            if key in TEXTS:
                if (value is None) != (found.get(key) is None):
                    yield f"{path}.{key}"
            elif key == ADVICE:
                if bool(value) != bool(found.get(key)):
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


@pytest.mark.parametrize("version", VERSIONS)
def test_page_of_an_earlier_version_is_written(
    enter: Enter, capsys: pytest.CaptureFixture[str], version: str
) -> None:
    for study in studies_in(enter(version)):
        assert run(["report", study, "-o", f"{study}.html"]) == 0
        assert study in Path(f"{study}.html").read_text()


def test_results_of_an_earlier_version_are_marked_as_judged_by_its_constraints(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "verified", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["claim"]["judged_by"] == "means"
    assert run(["show", "verified"]) == 0
    assert "older lsmtune" in capsys.readouterr().out


def test_studies_of_version_0_3_are_sized_by_the_stored_rule(enter: Enter) -> None:
    with Home(enter("0.3.0.dev0") / "home", create=False) as home:
        rules = {name: home.study(name).rule for name in ("sized", "limited", "published")}
    assert rules == {"sized": SizeRule(cores=4), "limited": SizeRule(cores=4), "published": None}


@pytest.mark.parametrize("study", ["simplified", "stores-simplified"])
def test_simplified_winner_of_version_0_3_is_shown_with_fewer_changes(
    enter: Enter, capsys: pytest.CaptureFixture[str], study: str
) -> None:
    enter("0.3.0.dev0")
    assert run(["show", study, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    simplified = shown["claim"]["simplified"]
    needed = {name for unit in simplified["needed"] for name in unit["names"]}
    assert simplified["used"]
    assert shown["claim"]["trial"] == simplified["simple_trial"]
    assert needed
    assert simplified["taken_back"]
    assert needed.isdisjoint(simplified["taken_back"])
