"""An engine of another package with names, rules and memory of its own, instead of RocksDB's."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lsmtune
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.function import FunctionEngine, function_engine
from lsmtune.errors import UserError
from lsmtune.knobs.families import Names
from lsmtune.knobs.memory import Memory, OwnMemory
from lsmtune.knobs.rules.base import Context, Normalisation, Refusal, Rules, number
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Knob, Settings
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, make_spec
from lsmtune.trials import Base

KIB = 1024
METRICS = ("write_amp", "throughput_ops_s")


def _knob(name: str, **members: Any) -> Knob:
    return Knob(name=name, area="store", shapes=True, apply="restart", trade="None.", **members)


KNOBS = (
    _knob("hot/buffer", kind="int", unit="bytes", low=KIB, high=64 * KIB, log=True,
          default=8 * KIB),
    _knob("hot/direct", kind="bool", unit="", default=False),
    _knob("hot/mapped", kind="bool", unit="", default=False),
    _knob("cold/direct", kind="bool", unit="", default=False),
    _knob("cold/mapped", kind="bool", unit="", default=False),
    _knob("write_buffer_size", kind="int", unit="bytes", low=1, high=4 * KIB, default=KIB),
)  # fmt: skip
"""Two families with the same switches, and a name of RocksDB whose smallest values RocksDB raises.
"""


def split(name: str) -> tuple[str | None, str]:
    family, _, option = name.rpartition("/")
    return family or None, option


def join(option: str, family: str | None) -> tuple[str, ...]:
    return (option,) if family is None else (f"{family}/{option}", option)


def both(settings: Settings, _: Context) -> bool:
    return bool(settings["direct"] and settings["mapped"])


def even(settings: Settings, _: Context) -> Settings:
    return {"buffer": int(number(settings, "buffer")) // 2 * 2}


def needs(settings: Settings) -> Memory:
    return Memory(memtables=4 * int(settings["hot/buffer"]), caches=0)


RULES = Rules(
    (Normalisation("a buffer is even", "store.c", ("buffer",), even),),
    (
        Refusal(
            ("direct", "mapped"), "a file is either read directly or mapped", "store.c", both,
            (lambda _: {"mapped": False},),
        ),
    ),
)  # fmt: skip


def cost(config: Settings, seed: int, workdir: str) -> dict[str, float]:
    if any(config[f"{family}/direct"] and config[f"{family}/mapped"] for family in ("hot", "cold")):
        raise ValueError("direct and mapped")
    switches = sum(bool(config[name]) for name in ("hot/direct", "hot/mapped", "cold/direct"))
    return {
        "write_amp": 20 - np.log2(float(config["hot/buffer"])) - switches,
        "throughput_ops_s": 1000.0,
    }


def of_function(**members: Any) -> EngineEntry:
    """The entry of an engine of a function whose catalogue has more than knobs."""
    plain = function_engine("own", cost, knobs=KNOBS, metrics=METRICS, times_matter=False)
    catalogue = replace(plain.catalogue(), **members)
    return replace(
        plain,
        catalogue=lambda: catalogue,
        make=lambda _: FunctionEngine(catalogue, cost, METRICS, times_matter=False),
    )


def own() -> EngineEntry:
    memory = OwnMemory(needs, ("buffer",))
    return of_function(names=Names(split, join), rules=RULES, own_memory=memory)


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    """After a test, this process no longer knows the engine."""
    yield
    ENGINES.pop("own", None)


def space_of(entry: EngineEntry, **keys: Any) -> KnobSpace:
    ENGINES["own"] = entry
    catalogue = entry.catalogue()
    spec = make_spec({"engine": "own", **keys}, "")
    return knob_space(spec, Ground(catalogue, Base(options="", settings=catalogue.defaults(1)), 64))


def test_a_refusal_names_the_options_of_the_family() -> None:
    space = space_of(own())
    (told,) = space.violations({"cold/direct": True, "cold/mapped": True})
    assert "cold/direct = true" in told
    assert "cold/mapped = true" in told
    assert space.violations({"hot/direct": True, "cold/mapped": True}) == []
    assert len(space.violations({knob.name: True for knob in KNOBS if knob.kind == "bool"})) == 2


def test_the_way_out_repairs_the_family_alone() -> None:
    space = space_of(own())
    found = space.legalise({"hot/direct": True, "hot/mapped": True, "cold/mapped": True})
    assert (found["hot/direct"], found["hot/mapped"], found["cold/mapped"]) == (True, False, True)


def test_configs_that_the_engine_runs_alike_are_one() -> None:
    space = space_of(own(), memory="1MiB")
    assert space.canonical({"hot/buffer": 4097}) == space.canonical({"hot/buffer": 4096})


@given(seed=st.integers(0, 1000))
def test_what_is_drawn_is_legal_and_needs_little_enough_memory(seed: int) -> None:
    space = space_of(own())
    rng = np.random.default_rng(seed)
    for config in (space.sample(rng), space.neighbour(space.default(), rng)):
        assert space.violations(config) == []
        assert needs(space.settings(config)).total <= 4 * 8 * KIB


def test_the_options_of_the_engine_give_memory_back() -> None:
    space = space_of(own(), memory="100KiB")
    found = space.legalise({"hot/buffer": 64 * KIB, "hot/direct": True})
    assert 16 * KIB <= int(found["hot/buffer"]) <= 25 * KIB
    assert found["hot/direct"] is True
    assert space.full_memory(found).total == 4 * int(found["hot/buffer"])
    with pytest.raises(UserError, match=r"^memory: "):
        space_of(own(), memory="16KiB")


def test_without_rules_and_memory_any_config_runs() -> None:
    space = space_of(of_function())
    config = {"write_buffer_size": 1, "hot/buffer": 64 * KIB, "hot/direct": True,
              "hot/mapped": True}  # fmt: skip
    assert space.violations(config) == []
    assert dict(space.legalise(config)) == {**space.default(), **config}
    assert space.memory.limit_bytes == 0


def test_a_study_tries_no_config_that_the_engine_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    result = lsmtune.tune(engine=own(), trials=12, study="s", home=home)
    assert result.claim.gain
    capsys.readouterr()
    assert run(["trials", "s", "--json", "--home", str(home)]) == 0
    trials = json.loads(capsys.readouterr().out)
    assert {trial["status"] for trial in trials} == {"complete"}
