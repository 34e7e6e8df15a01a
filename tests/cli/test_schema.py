"""The schema of study files: what editors know is what `tune` accepts."""

import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from lsmtune.cli.main import run
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.spec import StudySpec, make_spec
from lsmtune.workloads import PRESETS

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference" / "study.schema.json"
README_STUDY = re.search(r"```toml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)

WRONG: list[dict[str, Any]] = [
    {"numm": 3}, {"trials": 0}, {"trials": "many"}, {"study": "../outside"}, {"workload": 3},
    {"workload": {"numm": 3}}, {"workload": "nosuch"}, {"workload": {"value_size": 0}},
    {"optimizer": "nosuch"}, {"objective": "speed"}, {"limits": "write_amp <= 2"},
    {"limits": ["write_amp < 2"]}, {"protocol": {"quiet": 3}}, {"program": ""},
]  # fmt: skip


@pytest.fixture
def schema(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["schema"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return dict(json.loads(out))


def tables(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "study", schema
    yield from schema["$defs"].items()


def test_the_reference_is_what_the_program_prints(schema: dict[str, Any]) -> None:
    """To generate it again: lsmtune schema > docs/reference/study.schema.json."""
    assert json.loads(REFERENCE.read_text()) == schema


def test_it_is_a_document_for_editors(schema: dict[str, Any]) -> None:
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    for name, table in tables(schema):
        assert table["additionalProperties"] is False, name
        assert table["description"], name
    assert "null" not in json.dumps(schema)  # TOML has none


def test_every_key_is_described(schema: dict[str, Any]) -> None:
    keys = [(f"{table}.{key}", told) for table, s in tables(schema)
            for key, told in s["properties"].items()]  # fmt: skip
    assert [key for key, told in keys if not told.get("description")] == []
    assert set(schema["properties"]) == set(StudySpec.model_fields)


def test_names_are_offered(schema: dict[str, Any]) -> None:
    properties = schema["properties"]
    assert {"enum": list(PRESETS)} in properties["workload"]["anyOf"]
    assert schema["$defs"]["Workload"]["properties"]["name"]["enum"] == list(PRESETS)
    assert properties["optimizer"]["enum"] == list(OPTIMIZERS)
    assert any("all" in form.get("enum", []) for form in properties["knobs"]["anyOf"])
    assert {"balanced", "write_amp"} <= set(properties["objective"]["anyOf"][0]["enum"])


def test_defaults_are_those_of_a_study(schema: dict[str, Any]) -> None:
    told = {k: s["default"] for k, s in schema["properties"].items() if "default" in s}
    assert told["trials"] == StudySpec().trials
    assert make_spec(told, "the defaults of the schema") == StudySpec()


@pytest.mark.skipif(not find_spec("jsonschema"), reason="the package jsonschema is not installed")
def test_it_judges_as_tune_does(schema: dict[str, Any]) -> None:
    validator = importlib.import_module("jsonschema").Draft202012Validator
    validator.check_schema(schema)
    check = validator(schema)
    assert README_STUDY is not None
    assert list(check.iter_errors(tomllib.loads(README_STUDY[1]))) == []
    assert check.is_valid({})
    assert [wrong for wrong in WRONG if check.is_valid(wrong)] == []
