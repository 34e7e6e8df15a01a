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
import typer

from lsmtune import study_keys
from lsmtune.cli.main import app, run
from lsmtune.engine_traits import offered_workloads
from lsmtune.engines.tikv import settings
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.spec import StudySettings, all_keys, make_spec
from lsmtune.study_keys import flag_help, split_default

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
    assert set(schema["properties"]) == set(all_keys())


def test_no_description_is_of_an_unknown_key(schema: dict[str, Any]) -> None:
    described = {
        "study": {**study_keys.STUDY_KEYS, "tikv": settings.Cluster.__doc__},
        "Workload": study_keys.WORKLOAD_KEYS,
        "Mix": study_keys.MIX_KEYS, "Protocol": study_keys.PROTOCOL_KEYS,
        "Screen": study_keys.SCREEN_KEYS, "Sweep": study_keys.SWEEP_KEYS,
        "Online": study_keys.ONLINE_KEYS,
        "Cluster": settings.KEYS,
    }  # fmt: skip
    assert described == {
        table: {name: key["description"] for name, key in properties["properties"].items()}
        for table, properties in tables(schema)
    }


FLAGS = {"limits": "limit"}
"""Flags of `tune` with another name than their key."""
OWN_HELP = {"program"}
"""Keys whose flag has a help of its own: --db-bench gives the program of one engine."""


def test_flags_of_tune_have_the_descriptions_of_their_keys(schema: dict[str, Any]) -> None:
    tune = typer.main.get_command(app).commands["tune"]
    helps = {parameter.name: parameter.help for parameter in tune.params}
    keys = schema["properties"] | {"num": schema["$defs"]["Workload"]["properties"]["num"]}
    flags = {name: FLAGS.get(name, name) for name in keys if FLAGS.get(name, name) in helps}
    assert {"objective", "limits", "online", "num", "workload"} <= flags.keys()
    other = {
        name for name, flag in flags.items()
        if not helps[flag].startswith(split_default(keys[name]["description"])[0].removesuffix("."))
    }  # fmt: skip
    assert other == OWN_HELP


@pytest.mark.parametrize(
    ("more", "default", "text"),
    [
        ("", "", "Time of the search [an hour]."),
        ("", "none", "Time of the search [none]."),
        ("See the page.", "", "Time of the search. See the page [an hour]."),
    ],
)
def test_help_of_a_flag_has_the_default_in_brackets(more: str, default: str, text: str) -> None:
    assert flag_help("Time of the search. Default: an hour.", more, default) == text


def test_help_of_a_flag_without_a_default_has_no_brackets() -> None:
    assert flag_help("Time of the search.", "See the page.") == "Time of the search. See the page."


def test_names_are_offered(schema: dict[str, Any]) -> None:
    properties = schema["properties"]
    assert {"enum": list(offered_workloads())} in properties["workload"]["anyOf"]
    assert schema["$defs"]["Workload"]["properties"]["name"]["enum"] == list(offered_workloads())
    assert properties["optimizer"]["enum"] == sorted(OPTIMIZERS)
    assert any("all" in form.get("enum", []) for form in properties["knobs"]["anyOf"])
    assert {"balanced", "write_amp"} <= set(properties["objective"]["anyOf"][0]["enum"])


def test_defaults_are_those_of_a_study(schema: dict[str, Any]) -> None:
    told = {k: s["default"] for k, s in schema["properties"].items() if "default" in s}
    assert told["trials"] == StudySettings().trials
    assert make_spec(told, "the defaults of the schema") == StudySettings()


@pytest.mark.skipif(not find_spec("jsonschema"), reason="the package jsonschema is not installed")
def test_it_judges_as_tune_does(schema: dict[str, Any]) -> None:
    validator = importlib.import_module("jsonschema").Draft202012Validator
    validator.check_schema(schema)
    check = validator(schema)
    assert README_STUDY is not None
    assert list(check.iter_errors(tomllib.loads(README_STUDY[1]))) == []
    assert check.is_valid({})
    assert [wrong for wrong in WRONG if check.is_valid(wrong)] == []
