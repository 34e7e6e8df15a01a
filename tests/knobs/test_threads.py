"""Ranges of threads that suit the cores of a host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.threads import with_cores
from lsmtune.knobs.types import Knob, Value

ENGINES = ("rocksdb", "simulated", "myrocks", "tikv", "embedded")
JOBS = {"max_background_jobs"}
PER_CORE = {"subcompactions", "num_bottom_pri_threads"}
ROCKSDB = load("rocksdb")


def ranged(name: str, cores: int, base: Value | None = None, engine: str = "rocksdb") -> Knob:
    """Return the knob for a host, next to a knob that has nothing to do with threads."""
    catalogue, other = load(engine), ROCKSDB.knob("block_size")
    knob = catalogue.knob(name)
    settings = {name: knob.default if base is None else base, "block_size": other.default}
    found, unchanged = with_cores((knob, other), cores, settings, catalogue.names)
    assert unchanged == other
    return found


def bounds(name: str, cores: int, base: Value | None = None, engine: str = "rocksdb") -> object:
    return ranged(name, cores, base, engine).bounds()


@pytest.mark.parametrize(
    ("cores", "jobs", "parts", "bottom"),
    [(2, 4, 2, 2), (3, 6, 3, 3), (4, 8, 4, 4), (8, 16, 8, 8), (64, 128, 64, 64)],
)
def test_with_cores_ends_ranges_at_the_cores(
    cores: int, jobs: int, parts: int, bottom: int
) -> None:
    assert bounds("max_background_jobs", cores) == (2, jobs)
    assert bounds("subcompactions", cores) == (1, parts)
    assert bounds("num_bottom_pri_threads", cores) == (0, bottom)


def test_with_cores_on_one_core_leaves_out_knobs_with_one_value() -> None:
    names = ("subcompactions", "max_background_jobs", "num_bottom_pri_threads")
    kept = with_cores(map(ROCKSDB.knob, names), 1, ROCKSDB.defaults(1))
    found = {knob.name: knob.bounds() for knob in kept}
    assert found == {"max_background_jobs": (2, 4), "num_bottom_pri_threads": (0, 1)}


def test_with_cores_without_any_knob_left_is_refused() -> None:
    knobs = (ROCKSDB.knob("subcompactions"),)
    with pytest.raises(UserError, match=r"^knobs: .*subcompactions.*\(1\)"):
        with_cores(knobs, 1, ROCKSDB.defaults(1))
    assert with_cores((), 1, {}) == ()


def test_with_cores_has_room_for_the_value_of_the_base() -> None:
    assert bounds("max_background_jobs", 2, base=12) == (2, 12)
    assert bounds("max_background_jobs", 2, base=1) == (1, 4)
    assert bounds("subcompactions", 1, base=3) == (1, 3)
    assert bounds("num_bottom_pri_threads", 2, base=4) == (0, 4)


def test_with_cores_keeps_a_value_of_the_base_far_outside_as_special() -> None:
    found = ranged("subcompactions", 2, base=1_000_000)
    assert (found.bounds(), found.special_values) == ((1, 2), (1_000_000,))


def test_with_cores_uses_the_names_of_tikv() -> None:
    assert bounds("rocksdb.max-background-jobs", 8, base=9, engine="tikv") == (2, 16)
    assert bounds("rocksdb.max-background-jobs", 2, base=9, engine="tikv") == (2, 9)
    assert bounds("rocksdb.max-sub-compactions", 8, base=3, engine="tikv") == (1, 8)


def test_with_cores_does_not_exceed_what_the_engine_accepts() -> None:
    limited = load("tikv").limited({"rocksdb.max-background-jobs": 6})
    knob = limited.knob("rocksdb.max-background-jobs")
    assert with_cores((knob,), 16, {knob.name: 4}, limited.names)[0].bounds() == (2, 6)


def test_with_cores_keeps_lists_of_choices() -> None:
    listed = ROCKSDB.knob("max_background_jobs").drawing((2, 8, 32))
    assert with_cores((listed,), 1, {listed.name: 2}) == (listed,)


@pytest.mark.parametrize("engine", ENGINES)
def test_with_cores_changes_only_options_that_count_threads(engine: str) -> None:
    catalogue = load(engine)
    knobs, names = catalogue.knobs, catalogue.names
    kept = with_cores(knobs, 100, catalogue.defaults(1), names)
    changed = [knob.name for knob, found in zip(knobs, kept, strict=True) if knob != found]
    counting = [knob.name for knob in knobs if names.option(knob.name) in JOBS | PER_CORE]
    assert changed == counting
    assert bool(changed) == (engine != "embedded")


@given(engine=st.sampled_from(ENGINES), cores=st.integers(1, 512), base=st.integers(0, 10_000))
def test_with_cores_of_any_host_allows_the_base_and_at_most_the_threads(
    engine: str, cores: int, base: int
) -> None:
    catalogue = load(engine)
    names = catalogue.names
    threads = [knob for knob in catalogue.knobs if names.option(knob.name) in JOBS | PER_CORE]
    settings = catalogue.defaults(1) | {knob.name: base for knob in threads}
    for knob in with_cores(catalogue.knobs, cores, settings, names):
        option = names.option(knob.name)
        if option not in JOBS | PER_CORE:
            continue
        low, high = knob.bounds()
        most = max(4, 2 * cores) if option in JOBS else cores
        assert low < high <= max(most, base)
        assert knob.allows(base) or base < (knob.least or 0)
        Knob.model_validate(knob.model_dump() | {"default": knob.clip(base)})
