"""Column families: each has knobs of its own, and the rules hold in each by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Preset, load
from lsmtune.knobs.constraints import refusals
from lsmtune.knobs.families import PLAIN, with_families
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace
from lsmtune.workloads.sql import LOOKUP_FAMILIES

MIB = 1 << 20
FAMILIES = ("cf_orders", "cf_stock")
CATALOGUE = load("myrocks").with_families(FAMILIES)
BASE = {knob.name: knob.default for knob in CATALOGUE.knobs}


def make_space(names: str, memory: float = 1) -> KnobSpace:
    limit = MemoryLimit(round(memory_bytes(BASE) * memory))
    return KnobSpace(CATALOGUE.select(names), BASE, 1024, limit)


def test_an_option_of_each_family_is_a_knob_and_one_of_the_database_is_one() -> None:
    names = [knob.name for knob in CATALOGUE.knobs]
    for family in ("default", *FAMILIES):
        assert f"{family}.block_size" in names
    assert names.count("cache_size") == 1
    assert "block_size" not in names


def test_a_preset_names_an_option_of_every_family_at_once() -> None:
    chosen = [knob.name for knob in CATALOGUE.select("families")]
    assert chosen[:3] == ["default.block_size", "cf_orders.block_size", "cf_stock.block_size"]
    assert chosen[-1] == "cache_size"


@pytest.mark.parametrize("preset", load("myrocks").presets, ids=lambda preset: preset.name)
def test_every_name_of_a_preset_is_a_knob(preset: Preset) -> None:
    known = {knob.name for knob in CATALOGUE.with_families(LOOKUP_FAMILIES).knobs}
    for name in preset.knobs or ():
        assert name.replace("*.", "default.") in known


def test_a_family_that_the_load_has_not_is_unknown() -> None:
    with pytest.raises(UserError, match=r"^knobs: .*'cf_item\.block_size'"):
        CATALOGUE.select("cf_item.block_size")


def test_more_families_begin_as_the_default_one_is() -> None:
    more = with_families({"default.block_size": 4096, "cache_size": 8 * MIB}, FAMILIES)
    assert more["cf_stock.block_size"] == 4096
    assert PLAIN.families(more) == ("default", *FAMILIES)
    assert PLAIN.families({"block_size": 4096}) == (None,)


def test_a_family_sees_its_own_options_and_those_of_the_database() -> None:
    own = PLAIN.view(BASE | {"cf_stock.block_size": 8192}, "cf_stock")
    assert own["block_size"] == 8192
    assert own["cache_size"] == BASE["cache_size"]
    back = PLAIN.lifted({"block_size": 1024, "cache_size": 1}, "cf_stock", BASE)
    assert back == {"cf_stock.block_size": 1024, "cache_size": 1}


def test_memtables_of_all_families_count() -> None:
    one = int(BASE["default.write_buffer_size"]) * int(BASE["default.max_write_buffer_number"])
    assert memory_bytes(BASE) == 3 * one + int(BASE["cache_size"])


def test_a_refusal_names_the_family() -> None:
    space = make_space("*.block_align,default.compression_type".replace("*.", "cf_stock."))
    told = refusals(BASE | {"cf_stock.block_align": True, "cf_stock.compression_type": "lz4"})
    assert any("cf_stock.block_align" in reason for reason in told)
    assert not any("cf_orders" in reason for reason in told)
    assert space.violations({"cf_stock.block_align": True})


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000))
def test_what_is_drawn_is_legal_in_every_family(seed: int) -> None:
    space = make_space("all", memory=0.5 + seed % 3 if seed % 3 else 1)
    config = space.sample(np.random.default_rng(seed))
    assert space.violations(config) == []
    run = space.settings(config)
    assert memory_bytes(run) <= space.memory.limit_bytes
    for family in ("default", *FAMILIES):
        own = PLAIN.view(run, family)
        stop, slow = (own[f"level0_{n}_writes_trigger"] for n in ("stop", "slowdown"))
        assert own["level0_file_num_compaction_trigger"] <= slow <= stop  # type: ignore[operator]
    assert space.canonical(config) == config
