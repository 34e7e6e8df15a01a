"""What TiKV makes of options by itself: flow control and the memory limit."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fakes.fake_tikv import Mode
from fakes.rig import Rig
from fakes.tikv_site import FILE, Site, site
from lsmtune.engines.base import Borrowed
from lsmtune.engines.tikv.toml_file import export_tikv_toml
from lsmtune.errors import LsmtuneError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Settings
from lsmtune.spec import make_spec
from lsmtune.trials import Status

CATALOGUE = load("tikv")
FLOW = "storage.flow-control."
CACHE = "storage.block-cache.capacity"
BLOCK = "rocksdb.defaultcf.block-size"
SLOWDOWN = "level0-slowdown-writes-trigger"
KIB, MIB, GIB, TIB = (1 << power for power in (10, 20, 30, 40))
ONLINE: dict[str, Any] = {"config": None, "restart": []}


pytestmark = pytest.mark.usefixtures("own_host")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path / "site") as found:
        yield found


def rig(place: Site, knobs: str, **table: Any) -> Rig:
    given = place.study("ycsb_c", memory="64GiB", knobs=knobs)
    given["tikv"] |= {"refresh_s": 0.01, **table}
    return Rig(str(place.program), place.folder.parent / "work", make_spec(given, "here"))


def give_back(rigged: Rig) -> None:
    assert isinstance(rigged.engine, Borrowed)
    rigged.engine.give_back()


def run(rigged: Rig, **changes: object) -> None:
    config = {name.replace("__", "."): value for name, value in changes.items()}
    result = rigged.run(rigged.space.settings({**rigged.base, **config})).result  # type: ignore[dict-item]
    assert result.status is Status.COMPLETE, result.reason


def triggers(place: Site, option: str = SLOWDOWN) -> list[object]:
    return [place.tikv.value(f"rocksdb.{name}cf.{option}") for name in ("default", "write", "lock")]


# --- flow control


@pytest.mark.parametrize(
    ("option", "value", "most"),
    [
        (SLOWDOWN, 64, 20),
        ("level0-stop-writes-trigger", 96, 20),
        ("soft-pending-compaction-bytes-limit", TIB, 192 * GIB),
        ("hard-pending-compaction-bytes-limit", 4 * TIB, TIB),
    ],
)
def test_no_trial_asks_for_more_than_flow_control_allows(
    place: Site, option: str, value: int, most: int
) -> None:
    name = f"rocksdb.defaultcf.{option}"
    found = rig(place, f"{name},{FLOW}enable", **ONLINE)
    assert found.space.settings({**found.base, name: value})[name] == most
    run(found, **{name: value})
    # The stand-in says yes and keeps its value, as the real one does.
    refused = found.run({**found.base, name: value}).result
    assert refused.status is Status.MISMATCH
    run(found, **{name: value, f"{FLOW}enable": False})


def test_a_file_names_what_flow_control_would_fill_in(place: Site) -> None:
    found = rig(place, f"{BLOCK},{FLOW}l0-files-threshold")
    run(found, **{BLOCK: 4 * KIB, f"{FLOW}l0-files-threshold": 64})
    assert place.tikv.starts == 2
    assert triggers(place) == [20, 20, 20]
    assert place.tikv.value(f"{FLOW}l0-files-threshold") == 64
    assert f"{SLOWDOWN} = 20" in place.config.read_text()
    give_back(found)
    assert place.config.read_text() == FILE


def test_the_exported_file_starts_tikv_as_the_trial_ran(place: Site) -> None:
    found = rig(place, f"{BLOCK},{FLOW}l0-files-threshold")
    settings = {**found.base, BLOCK: 4 * KIB, f"{FLOW}l0-files-threshold": 64}
    knobs = [CATALOGUE.knob(name) for name in (BLOCK, f"{FLOW}l0-files-threshold")]
    text = export_tikv_toml(knobs, CATALOGUE, settings, found.base, FILE, note="note")
    place.config.write_text(text)
    place.tikv.start()
    assert found.engine._node.settings() == settings  # type: ignore[attr-defined]
    assert export_tikv_toml(knobs, CATALOGUE, found.base, found.base, FILE, note="") == FILE


@pytest.mark.parametrize(
    ("knobs", "table"),
    [("core", {}), ("all", {}), ("online", ONLINE)],
    ids=["core", "all", "online"],
)
def test_every_config_of_a_preset_runs_as_it_was_given(
    place: Site, knobs: str, table: dict[str, Any]
) -> None:
    found, rng = rig(place, knobs, **table), np.random.default_rng(3)
    for _ in range(4):
        result = found.run(found.space.settings(found.space.sample(rng))).result
        assert result.status is Status.COMPLETE, result.reason
    give_back(found)
    assert triggers(place) == [20, 20, 20]


def test_what_flow_control_has_changed_is_given_back(place: Site) -> None:
    found = rig(place, f"{FLOW}l0-files-threshold", **ONLINE)
    run(found, **{f"{FLOW}l0-files-threshold": 16})
    assert triggers(place) == [16, 16, 16]
    give_back(found)
    assert triggers(place) == [20, 20, 20]
    assert triggers(place, "level0-stop-writes-trigger") == [20, 20, 20]


def test_no_trial_runs_with_the_triggers_of_another(place: Site) -> None:
    found = rig(place, f"{FLOW}l0-files-threshold", **ONLINE)
    run(found, **{f"{FLOW}l0-files-threshold": 16})
    run(found, **{f"{FLOW}l0-files-threshold": 96})
    assert triggers(place) == [20, 20, 20]
    run(found)
    assert triggers(place) == [20, 20, 20]


def test_what_is_not_as_before_is_named_and_tried_again(place: Site) -> None:
    found = rig(place, f"{FLOW}l0-files-threshold", **ONLINE)
    run(found, **{f"{FLOW}l0-files-threshold": 16})
    place.tikv.mode = Mode.KEEPS_TRIGGERS
    with pytest.raises(LsmtuneError, match=rf"rocksdb\.lockcf\.{SLOWDOWN} is 16, but was 20"):
        give_back(found)
    place.tikv.mode = Mode.WORKS
    rig(place, f"{FLOW}l0-files-threshold", **ONLINE)
    assert triggers(place) == [20, 20, 20]


def test_a_marker_of_an_older_lsmtune_is_understood(place: Site) -> None:
    found = rig(place, "online", **ONLINE)
    marker = found.engine._node._marker  # type: ignore[attr-defined]
    give_back(found)
    place.tikv.change({"rocksdb.defaultcf.write-buffer-size": "256MiB"})
    marker.leave(json.dumps(found.base))
    assert rig(place, "online", **ONLINE).base == found.base


# --- memory


def test_no_search_draws_a_cache_that_tikv_refuses(place: Site) -> None:
    place.tikv.config["memory-usage-limit"] = "3GiB"
    place.tikv.change({"rocksdb.write-buffer-limit": "1GiB"})
    found = rig(place, "online", **ONLINE)
    (cache,) = (knob for knob in found.space.knobs if knob.name == CACHE)
    assert cache.bounds()[1] == 2 * GIB
    run(found, **{CACHE: 2 * GIB})
    refused = found.run({**found.base, CACHE: 2 * GIB + MIB}).result
    assert (refused.status, "memory-usage-limit" in str(refused.reason)) == (Status.REFUSED, True)


def test_a_cache_that_needs_another_memory_limit_needs_a_restart(place: Site) -> None:
    """TiKV derives its memory limit from the cache that it starts with."""
    found = rig(place, f"{BLOCK},{CACHE}")
    run(found, **{BLOCK: 4 * KIB, CACHE: 64 * MIB})
    run(found, **{BLOCK: 4 * KIB, CACHE: GIB})
    assert place.tikv.starts == 3
    assert place.tikv.asked == []


def test_a_base_is_given_the_same_space_again(place: Site) -> None:
    found = rig(place, "online", **ONLINE)
    stored = type(found.ground.base).model_validate_json(found.ground.base.model_dump_json())
    assert stored.most == {CACHE: round(GIB * 0.75 / 0.45)}
    settings: Settings = stored.settings
    assert settings == found.base
