"""An engine says which keys of a study it reads, and may have a table of its own."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from pydantic import Field

from lsmtune.api.schema import study_schema
from lsmtune.engine_traits import ENGINES, EngineTraits, checked_engine
from lsmtune.engines.function import function_engine
from lsmtune.errors import UserError
from lsmtune.knobs.types import Knob
from lsmtune.spec import StudySettings, make_spec
from lsmtune.tables import EngineSettings

KNOB = Knob(
    name="size", area="a", kind="int", unit="", low=1, high=9, default=3, shapes=True,
    apply="restart", trade="A larger size is larger.",
)  # fmt: skip


class Sizes(EngineSettings):
    """Sizes of the store."""

    rows: int = Field(default=3, ge=1, description="Number of rows.")
    name: str | None = Field(default=None, description="Name of the table.")


def no_names(spec: StudySettings) -> Iterator[str]:
    """Refuse tables with a name, and a cache."""
    if isinstance(spec.engine_settings, Sizes) and spec.engine_settings.name:
        yield "toy.name: the store has no names; remove name"
    if spec.cache is not None:
        yield "cache: the store has none; set rows in the table [toy]"


@pytest.fixture(autouse=True)
def toy() -> Iterator[EngineTraits]:
    """An engine with a table, in this process."""
    plain = function_engine("toy", lambda *_: {}, knobs=[KNOB], metrics=["write_amp"])
    more = {"trials": 5, "knobs": "size"}
    entry = replace(plain, settings=Sizes, check=no_names, complete=lambda _: more)
    ENGINES["toy"] = entry
    yield entry
    del ENGINES["toy"]


def made(**keys: Any) -> StudySettings:
    return make_spec({"engine": "toy", **keys}, "study.toml")


def refusal(**keys: Any) -> str:
    with pytest.raises(UserError) as error:
        made(**keys)
    return str(error.value)


def test_a_table_has_no_other_name() -> None:
    # `starts` of an entry reads the table by its name, and so does the question before commands run
    assert "unknown setting" in refusal(**{"[engine]": {"rows": 7}})
    assert "unknown setting" in refusal(engine_settings={"rows": 7})


def test_a_table_is_checked_and_kept_with_the_study() -> None:
    spec = made(toy={"rows": 7})
    assert spec.engine_settings == Sizes(rows=7)
    assert (spec.trials, spec.knobs, spec.scale) == (5, "size", "1")
    stored = spec.model_dump(mode="json")
    assert stored["toy"] == {"rows": 7, "name": None}
    assert list(stored)[-1] == "toy"
    again = make_spec(stored, "here")
    assert again == spec
    assert again.identity() == spec.identity() != made().identity()
    assert spec.changed_since(made(toy={"rows": 8})) == ["toy"]
    assert "toy" not in made().model_dump()


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"toy": {"rows": 0}}, ["toy.rows = 0", "at least 1"]),
        ({"toy": {"row": 1}}, ["toy.row: ", "'row'", "rows, name"]),
        ({"toy": 3}, ["toy = 3", "a table"]),
        ({"toy": {"rows": 0}, "trials": 0}, ["toy.rows = 0", "trials = 0"]),
        ({"toy": {"name": "x"}}, ["toy.name", "no names"]),
        ({"tikv": {}}, ["[tikv]", "engine toy"]),
        ({"toys": {}}, ["toys: ", "toy"]),
        ({"engine": "rocksdb", "toy": {}}, ["[toy]", "engine rocksdb"]),
        ({"scale": "1/64"}, ["scale: 1/64 is not possible with the engine toy; use 1"]),
        ({"cache": "1GiB"}, ["cache: the store has none"]),
        ({"program": "db_bench"}, ["program: ", "toy"]),
        ({"rocksdb": "8.1.1"}, ["rocksdb: ", "toy"]),
        ({"library": "x.so"}, ["library: ", "toy"]),
        ({"libraries": {"lmdb": "x.so"}}, ["libraries: ", "toy"]),
        ({"base": "OPTIONS"}, ["base: ", "toy"]),
        ({"family": "orders"}, ["family: ", "toy"]),
        (
            {"online": {}, "objective": "write_amp"},
            ["online: ", "engine toy", "rocksdb", "myrocks"],
        ),
    ],
)
def test_what_does_not_fit_is_refused(keys: dict[str, Any], words: list[str]) -> None:
    message = refusal(**keys)
    assert message.startswith("study.toml: ")
    assert all(word in message for word in words), message


def test_an_engine_that_reads_a_key_may_have_it(toy: EngineTraits) -> None:
    ENGINES["toy"] = replace(
        toy, check=lambda _: iter(()), uses=frozenset({"cache", "base"}), full_size=False,
    )  # fmt: skip
    found = made(cache="1GiB", base="b", scale="1/8")
    assert (found.cache, found.base, found.scale) == ("1GiB", "b", "1/8")


@pytest.mark.parametrize("member", ["complete", "check", "refuses"])
@pytest.mark.parametrize("error", [KeyError, ValueError])
def test_a_member_that_fails_is_an_error_of_its_package(
    toy: EngineTraits, monkeypatch: pytest.MonkeyPatch, member: str, error: type[Exception]
) -> None:
    def fail(_: object) -> Any:
        raise error("oh")

    members: dict[str, Any] = {member: fail}
    monkeypatch.setitem(ENGINES, "toy", replace(toy, **members))
    assert "oh" in refusal()


def test_the_schema_has_the_table() -> None:
    schema = study_schema()
    assert schema["properties"]["toy"]["$ref"] == "#/$defs/Sizes"
    table = schema["$defs"]["Sizes"]
    assert (table["description"], table["additionalProperties"]) == ("Sizes of the store.", False)
    assert table["properties"]["rows"]["description"] == "Number of rows."


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"settings": StudySettings}, "EngineSettings"),
        ({"settings": Sizes()}, "EngineSettings"),
        ({"uses": frozenset({"caches"})}, "caches"),
        ({"name": "limits"}, "limits is a key"),
    ],
)
def test_an_entry_that_does_not_fit_studies_is_refused(
    toy: EngineTraits, members: dict[str, Any], words: str
) -> None:
    entry = replace(toy, **members)
    with pytest.raises(ValueError, match=words):
        checked_engine(entry.name, entry)
