"""Knobs that the driver can set: some need functions that older libraries do not have."""

from pathlib import Path

import pytest

from knobs.real import CAPTURED
from lsmtune.engines.base import EngineFacts
from lsmtune.engines.libraries.installed import Loaded
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.engines.rocksdb.driver.plans import store
from lsmtune.errors import UserError
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, make_spec

OPTIONS = (CAPTURED / "rocksdb-7.8.3-level" / "OPTIONS").read_text()
NEEDED = {
    "cache_type": b"rocksdb_wait_for_compact",
    "rate_limiter_auto_tuned": b"rocksdb_ratelimiter_create_auto_tuned",
}
VERSION = "8.1.1"


def ground(folder: Path, functions: list[bytes]) -> Ground:
    """The knobs and the baseline of a library that has these functions."""
    library = folder / "librocksdb.so"
    library.write_bytes(b"\0".join([b"ELF", *functions, b""]))
    engine = library_engine(Loaded(library, VERSION, "a source", "a hash"))
    options = OPTIONS.replace("rocksdb_version=7.8.3", f"rocksdb_version={VERSION}")
    unprinted = {"cache_size": 8 << 20, "cache_type": "lru_cache"}
    facts = EngineFacts(VERSION, str(library), False, options, None, unprinted=unprinted)
    return Ground(engine.catalogue, engine.base(facts, None, folder), 1024)


@pytest.mark.parametrize("name", NEEDED)
def test_a_knob_that_the_c_api_cannot_set_is_not_searched(name: str, tmp_path: Path) -> None:
    others = [function for knob, function in NEEDED.items() if knob != name]
    older, every = ground(tmp_path, others), make_spec({"knobs": "all"}, "here")
    searched = {knob.name for knob in knob_space(every, older).knobs}
    assert NEEDED.keys() - searched == {name}
    with pytest.raises(UserError, match=name):
        knob_space(make_spec({"knobs": name}, "here"), older)


def test_a_newer_c_api_can_set_all_knobs(tmp_path: Path) -> None:
    spec = make_spec({"knobs": ",".join(NEEDED)}, "here")
    space = knob_space(spec, ground(tmp_path, [*NEEDED.values()]))
    assert [knob.name for knob in space.knobs] == [*NEEDED]
    assert "hyper_clock_cache" in space.knobs[0].choices


def test_the_plan_has_defaults_for_knobs_that_cannot_be_set(tmp_path: Path) -> None:
    settings = ground(tmp_path, []).base.settings | {"rate_limiter_bytes_per_sec": 1 << 20}
    plan = store(OPTIONS, settings)
    assert plan["block_cache"]["kind"] == "lru"
    assert plan["rate_limiter"] == {"bytes_per_second": 1 << 20, "auto_tuned": False}
