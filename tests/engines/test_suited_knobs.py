"""The knobs that the facts of a workload choose, and the first configs of their search."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lsmtune.engines.rocksdb.settings import LARGE_VALUE_BYTES, suited_knobs
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Value
from lsmtune.report.text.plan_text import knobs_text
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings, make_spec
from lsmtune.trials import Base, SizeRule
from lsmtune.workloads import Workload
from lsmtune.workloads.records import RECORDS

MIB = 1 << 20
CATALOGUE = load("rocksdb")
CACHES = {"6.29.5": 8 * MIB, "11.8.1": 32 * MIB}
"""RocksDB's default block cache."""
CODECS = {"6.29.5": "snappy", "11.8.1": "lz4"}
BLOBS = {
    "enable_blob_files", "min_blob_size", "blob_file_size", "blob_compression_type",
    "enable_blob_garbage_collection", "blob_garbage_collection_age_cutoff",
    "blob_garbage_collection_force_threshold",
}  # fmt: skip
FILTERS = {"bloom_bits", "use_ribbon_filter", "optimize_filters_for_hits"}


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    definition = draw(st.sampled_from(RECORDS))
    given_: dict[str, object] = {
        "name": definition.name,
        "value_size": draw(st.integers(1, 1 << 20)),
        "compression_ratio": draw(st.floats(0.01, 1)),
    }
    if definition.name == "trace":
        given_["trace"] = "FILE"
    if definition.name == "mix":
        get, put = draw(st.sampled_from([(1, 0), (0, 1), (0, 0), (0.5, 0.5), (0, 0.5), (0.2, 0.2)]))
        given_["mix"] = {"get": get, "put": put, "scan": 1 - get - put}
    return Workload.model_validate(given_)


@given(workload=workloads())
def test_fewer_than_30_knobs_follow_from_the_facts(workload: Workload) -> None:
    chosen = {knob.name: knob for knob in CATALOGUE.select(suited_knobs(workload))}
    is_large = workload.value_size >= LARGE_VALUE_BYTES
    assert 14 <= len(chosen) < 30
    assert chosen.keys() & BLOBS == (BLOBS if is_large else set())
    only_scans = workload.definition.measured_kinds in (("scan",), ("write", "scan"))
    assert chosen.keys() & FILTERS == (set() if only_scans else FILTERS)
    assert ("write_buffer_size" in chosen) == (workload.kind != "read")
    assert ("bottommost_compression" in chosen) == (workload.compression_ratio <= 7 / 8)
    assert not any(knob.avoid or knob.risk for knob in chosen.values())


def test_tables_may_be_smaller_only_with_blob_files() -> None:
    for size, low in ((100, 32 * MIB), (1024, 4 * MIB)):
        chosen = CATALOGUE.select(suited_knobs(Workload(value_size=size)))
        found = next(knob for knob in chosen if knob.name == "target_file_size_base")
        assert found.bounds() == (low, 128 * MIB)


@pytest.mark.parametrize("given_", [{}, {"rocksdb": "11.8.1"}, {"library": "/lib.so"}])
@pytest.mark.parametrize("name", ["overwrite", "fillrandom", "readrandom", "scanshort"])
def test_a_study_keeps_the_names_of_the_presets(name: str, given_: dict[str, str]) -> None:
    spec = make_spec({"workload": name, **given_}, "here")
    assert spec.knobs == suited_knobs(spec.workload)
    again = make_spec(spec.lasting(), "here")
    assert (again.knobs, again.name) == (spec.knobs, spec.name)


def test_other_engines_and_published_presets_keep_their_knobs() -> None:
    names = {"simulated": "core", "myrocks": "mixed", "embedded": "all"}
    for engine, knobs in names.items():
        assert make_spec({"workload": "fillrandom", "engine": engine}, "here").knobs == knobs
    assert make_spec({"knobs": "jin2022"}, "here").knobs == "jin2022"
    with pytest.raises(UserError, match="jin2022"):
        CATALOGUE.select("jin2022,blobs")


def test_presets_and_names_make_one_list() -> None:
    chosen = [knob.name for knob in CATALOGUE.select("scans, num_levels, codecs, scans")]
    assert chosen == [
        "initial_auto_readahead_size", "max_auto_readahead_size", "bottommost_compression",
        "compression_max_dict_bytes", "num_levels",
    ]  # fmt: skip
    with pytest.raises(UserError, match="nosuch"):
        CATALOGUE.select("scans,nosuch")


def test_the_plan_says_why() -> None:
    told = knobs_text(make_spec({"workload": {"name": "overwrite", "value_size": 2048}}, ""), 29)
    assert told.startswith("29, ")
    assert "filters" in told
    assert "2,048 bytes" in told
    small = knobs_text(make_spec({"workload": {"name": "scanshort", "value_size": 100}}, ""), 16)
    assert "filters" not in small
    assert "blob" not in small
    assert knobs_text(make_spec({"knobs": "core"}, ""), 22) == "22, core"
    assert knobs_text(make_spec({"knobs": "block_size"}, ""), 1) == "1"


def space_of(version: str, scale: str = "1/64", **load_: object) -> KnobSpace:
    """The space of a study around the defaults of a RocksDB."""
    number = version_number(version)
    defaults: dict[str, Value] = {
        knob.name: knob.default
        for knob in CATALOGUE.knobs
        if version_number(knob.since) <= number
        and (knob.until is None or number <= version_number(knob.until))
    }
    defaults |= {"cache_size": CACHES[version], "compression_type": CODECS[version]}
    options = f"[Version]\n  rocksdb_version={version}\n"
    base = Base(options=options, settings=defaults, codecs=None)
    ground = Ground(CATALOGUE, base, 20_000, SizeRule(cores=2))
    workload = {"name": "overwrite", "num": 200_000, **load_}
    spec: StudySettings = make_spec({"workload": workload, "scale": scale}, "here")
    return knob_space(spec, ground)


def changed(space: KnobSpace, config: Config) -> dict[str, Value]:
    """The values at full size that are not the baseline's."""
    base = space.default()
    return {k: v for k, v in space.at_full_size(config).items() if config[k] != base[k]}


@pytest.mark.parametrize("version", CACHES)
def test_a_search_begins_with_a_filter_and_with_blob_files(version: str) -> None:
    space = space_of(version)
    found = [changed(space, config) for config in space.starts()[:2]]
    assert found[0] == {"bloom_bits": 10, "block_size": 8192}
    assert {name: found[1][name] for name in found[1].keys() & BLOBS} == {
        "enable_blob_files": True, "min_blob_size": 512, "blob_compression_type": "lz4",
        "enable_blob_garbage_collection": True, "blob_garbage_collection_force_threshold": 0.5,
    }  # fmt: skip
    assert found[1]["target_file_size_base"] == 16 * MIB
    # Neither caches nor memtables pay for them.
    assert not {"cache_size", "write_buffer_size", "max_write_buffer_number"} & found[1].keys()


@settings(max_examples=25, deadline=None)
@given(
    version=st.sampled_from(sorted(CACHES)),
    name=st.sampled_from(["overwrite", "fillrandom", "readrandom", "scanshort", "updaterandom"]),
    value_size=st.sampled_from([20, 100, 512, 1024, 8192]),
    scale=st.sampled_from(["1/64", "1/8", "1"]),
)
def test_each_start_is_legal(version: str, name: str, value_size: int, scale: str) -> None:
    space = space_of(version, scale, name=name, value_size=value_size)
    whole = space.full_size
    for config in space.starts():
        assert space.violations(config) == []
        assert space.full_memory(config).total <= whole.memory.limit_bytes
        assert Fraction(scale) == 1 or changed(space, config)
