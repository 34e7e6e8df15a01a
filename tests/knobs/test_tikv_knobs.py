"""TiKV's knobs: published ranges, RocksDB's rules under TiKV's names, flow control, memory."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.each import each
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace, place_of, value_at
from lsmtune.knobs.types import Knob, Settings, Value

KIB, MIB = 1 << 10, 1 << 20
CATALOGUE = load("tikv")
NAMES = CATALOGUE.names
BASE = {knob.name: knob.default for knob in CATALOGUE.knobs}
DATA = "rocksdb.defaultcf."
FLOW = "storage.flow-control."


def make_space(names: str = "all", memory: float = 1, **changes: Value) -> KnobSpace:
    base = BASE | {
        name.replace("__", ".").replace("_", "-"): value for name, value in changes.items()
    }
    limit = MemoryLimit(round(memory_bytes(base, NAMES) * memory))
    advice = tuple(start.settings for start in CATALOGUE.starts)
    return KnobSpace(
        CATALOGUE.select(names), base, 1024, limit, advice, names=NAMES, rules=CATALOGUE.rules
    )


def run(**changes: Value) -> Settings:
    told = {f"{DATA}{name.replace('_', '-')}": value for name, value in changes.items()}
    return make_space(",".join(told)).settings(told)


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("defaultcf.write-buffer-size", (64 * MIB, 1024 * MIB)),
        ("defaultcf.max-bytes-for-level-base", (512 * MIB, 4096 * MIB)),
        ("defaultcf.target-file-size-base", tuple(n * MIB for n in (8, 16, 32, 64, 128))),
        ("defaultcf.disable-auto-compactions", (False, True)),
        ("defaultcf.block-size", tuple(n * KIB for n in (4, 8, 16, 32, 64))),
        ("defaultcf.bloom-filter-bits-per-key", (5, 10, 15, 20)),
        ("writecf.bloom-filter-bits-per-key", (5, 10, 15, 20)),
        ("writecf.optimize-filters-for-hits", (False, True)),
    ],
)
def test_autotikv_has_its_ranges(name: str, allowed: tuple[Value, ...]) -> None:
    knobs = {knob.name: knob for knob in CATALOGUE.select("autotikv")}
    assert len(knobs) == 8
    knob = knobs[f"rocksdb.{name}"]
    assert (knob.bounds() if knob.is_range else knob.values) == allowed


@pytest.mark.parametrize("preset", [p.name for p in CATALOGUE.presets if p.name != "autotikv"])
def test_no_other_preset_stops_compactions(preset: str) -> None:
    chosen = CATALOGUE.select(preset)
    assert chosen
    assert not any(knob.name.endswith("disable-auto-compactions") for knob in chosen)
    assert preset != "online" or {knob.apply for knob in chosen} == {"online"}


def test_names_are_tikvs_and_families_are_told_apart() -> None:
    assert NAMES.family(f"{DATA}block-size") == "rocksdb.defaultcf"
    assert NAMES.family("rocksdb.max-background-jobs") is None
    assert NAMES.family("storage.block-cache.capacity") is None
    assert NAMES.option(f"{DATA}block-size") == "block-size"
    assert NAMES.option("rocksdb.writecf.write-buffer-size") == "write_buffer_size"
    own = NAMES.view(BASE | {"rocksdb.writecf.block-size": 4 * KIB}, "rocksdb.writecf")
    assert own["block-size"] == 4 * KIB
    assert own["cache_size"] == BASE["storage.block-cache.capacity"]


def test_memtables_of_all_families_and_the_shared_cache_are_memory() -> None:
    assert memory_bytes(BASE, NAMES) == (128 * 5 * 3 + 32 * 5 + 1024) * MIB


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # RocksDB's own: compaction trigger <= slowdown trigger <= stop trigger
        ({"level0_slowdown_writes_trigger": 12, "level0_file_num_compaction_trigger": 12,
          "level0_stop_writes_trigger": 16}, {}),
        ({"level0_slowdown_writes_trigger": 18, "level0_stop_writes_trigger": 16},
         {"level0_stop_writes_trigger": 18}),
        ({"max_write_buffer_number": 2, "min_write_buffer_number_to_merge": 4},
         {"min_write_buffer_number_to_merge": 1}),
        # TiKV's: no later than flow control, whose threshold is 20 files here
        ({"level0_slowdown_writes_trigger": 64}, {"level0_slowdown_writes_trigger": 20}),
        ({"level0_stop_writes_trigger": 96}, {"level0_stop_writes_trigger": 20}),
        ({"soft_pending_compaction_bytes_limit": 1 << 40},
         {"soft_pending_compaction_bytes_limit": 192 << 30}),
    ],
)  # fmt: skip
def test_options_become_what_tikv_would_make_of_them(
    changes: dict[str, Value], expected: dict[str, Value]
) -> None:
    found = run(**changes)
    for name, value in {**changes, **expected}.items():
        assert found[f"{DATA}{name.replace('_', '-')}"] == value
    assert found["rocksdb.writecf.level0-stop-writes-trigger"] == 20


def test_without_flow_control_rocksdbs_thresholds_stand() -> None:
    names = f"{DATA}level0-stop-writes-trigger,{FLOW}enable,{FLOW}l0-files-threshold"
    told = {f"{DATA}level0-stop-writes-trigger": 96, f"{FLOW}enable": False,
            f"{FLOW}l0-files-threshold": 64}  # fmt: skip
    found = make_space(names).settings(told)
    assert found[f"{DATA}level0-stop-writes-trigger"] == 96
    assert found[f"{FLOW}l0-files-threshold"] == 20  # says nothing, and is as the base has it


def test_a_file_size_counts_only_without_the_compaction_guard() -> None:
    guarded = make_space("autotikv")
    size = {f"{DATA}target-file-size-base": 64 * MIB}
    assert guarded.canonical(size) == guarded.default()
    name = f"{DATA}target-file-size-base"
    free = make_space(name, rocksdb__defaultcf__enable_compaction_guard=False)
    assert dict(free.canonical(size)) == size


@settings(max_examples=30)
@given(seed=st.integers(0, 10_000))
def test_what_is_drawn_is_legal_and_in_whole_steps(seed: int) -> None:
    space = make_space("all", memory=1.7) if seed % 2 else make_space("core")
    config = space.sample(np.random.default_rng(seed))
    assert space.violations(config) == []
    assert space.canonical(config) == config
    for knob in space.knobs:
        if knob.step > 1:
            assert int(config[knob.name]) % knob.step == 0, knob.name


@each(CATALOGUE.knobs, lambda knob: knob.name)
def test_places_and_values_agree(knob: Knob) -> None:
    assert knob.allows(knob.default)
    for value in (*knob.values, *(knob.bounds() if knob.is_range else ()), knob.default):
        if value not in knob.named_only:
            assert value_at(knob, min(place_of(knob, value), 1 - 1e-12)) == value


def test_memory_is_given_back_by_the_cache_first() -> None:
    space = make_space("core")
    config = space.legalise({f"{DATA}write-buffer-size": 256 * MIB})
    assert config[f"{DATA}write-buffer-size"] == 256 * MIB
    assert config["storage.block-cache.capacity"] == (1024 - 128 * 5) * MIB
    assert space.violations(config) == []


def test_every_advice_can_be_tried() -> None:
    for preset in ("core", "online", "all"):
        knobs = {knob.name for knob in CATALOGUE.select(preset)}
        assert any(
            start.settings.keys() & knobs for start in CATALOGUE.advised(preset, sized=False)
        )
    assert len(make_space("core").starts()) == 3
