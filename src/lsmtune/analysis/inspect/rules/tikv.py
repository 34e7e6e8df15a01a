"""Settings of a tikv.toml that TiKV replaces by its own, or that lose data."""

from collections.abc import Iterator
from functools import cache, partial
from importlib.resources import files

from lsmtune.analysis.inspect.first_steps import Step
from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import OPTIONS
from lsmtune.analysis.inspect.rule import FirstSteps, Rule
from lsmtune.knobs.knob_files import read_folder
from lsmtune.knobs.tikv_toml import FLOW_CONTROL, THRESHOLDS
from lsmtune.units import format_bytes

_CACHE = "storage.block-cache.capacity"
_SYNC = "raftstore.sync-log"
_SLOWING = [option for option in THRESHOLDS if option != "level0_stop_writes_trigger"]
"""The options of a family before which a threshold of flow control acts."""


def _is_on(log: Inspection, name: str) -> bool:
    return log.kind == "tikv.toml" and log.option(name) != "0"


def _threshold(log: Inspection, name: str) -> float:
    """Return a threshold of flow control: that of the file, or TiKV's default."""
    own = log.number(name)
    return _defaults()[name] if own is None else own


@cache
def _defaults() -> dict[str, float]:
    """Return TiKV's defaults of the thresholds of flow control."""
    knobs, _ = read_folder(files("lsmtune.engines.tikv").joinpath("catalogue"))
    return {knob.name: float(knob.default) for knob in knobs if knob.name in THRESHOLDS.values()}


def _shown(name: str, value: float) -> str:
    return format_bytes(value) if name.endswith("_limit") else f"{value:.0f}"


def _family_caches(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for cache sizes of families, if another option sets the size of the cache.

    tikv/tikv, src/config/mod.rs, compatible_adjust: without `capacity`, TiKV adds up the sizes of
    the families (tikv/tikv#4563).
    """
    capacity = log.number(_CACHE)
    if capacity is None or not _is_on(log, "storage.block-cache.shared"):
        return
    for family in log.families:
        if size := log.family_number(family, "block_cache_size"):
            yield Finding(
                "tikv-family-cache", "block-cache-size of a column family has no effect",
                f"block-cache-size is {format_bytes(size)}. The column families share one block "
                f"cache, and {_CACHE} sets its size to {format_bytes(capacity)}.",
                (_CACHE,), 0.5, family=family,
            )  # fmt: skip


def _no_sync(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a Raft log that is not synced (tikv/tikv#7748 and #8631)."""
    if log.kind == "tikv.toml" and log.option(_SYNC) == "0":
        yield Finding(
            "tikv-sync-log", "A crash of the machine can lose acknowledged writes",
            f"{_SYNC} is false: TiKV acknowledges a write before the device has stored it. TiKV "
            "4.0.7 and newer ignore this key and always sync.",
            (_SYNC,), 0.6,
        )  # fmt: skip


def _flow_control(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for triggers that flow control replaces by other values.

    tikv/tikv, src/storage/config.rs, FlowControlConfig: on by default since TiKV 5.2.
    """
    if not _is_on(log, FLOW_CONTROL):
        return
    for family in log.families:
        limits = {name: _threshold(log, THRESHOLDS[name]) for name in _SLOWING}
        given = [n for n in _SLOWING if log.family_number(family, n) not in (0, limits[n])]
        if given:
            values = ", ".join(
                f"{name.replace('_', '-')} = {_shown(name, log.family_number(family, name))} "
                f"(flow control: {_shown(name, limits[name])})"
                for name in given
            )
            yield Finding(
                "tikv-flow-control", "Flow control slows down writes instead of these options",
                f"The file sets {values}. From TiKV 5.2 on, flow control is on by default: TiKV "
                "turns off RocksDB's write stalls, so only the values of flow control act.",
                tuple(_to_change(log, name) for name in given), 0.4, family=family,
            )  # fmt: skip


def _to_change(log: Inspection, name: str) -> str:
    """Return the option to change: a threshold that the file sets on purpose stays as it is."""
    threshold = THRESHOLDS[name]
    return threshold if log.number(threshold) is None else name


def _given(log: Inspection, family: str, name: str) -> float | None:
    """Return the value that the file gives an option of a family."""
    return log.family_number(family, name) or None


def _acting(log: Inspection, _family: str, name: str) -> float:
    return _threshold(log, name)


ORDER = 180
RULES = (
    Rule(_family_caches, (OPTIONS,)),
    Rule(_no_sync, (OPTIONS,)),
    Rule(_flow_control, (OPTIONS,)),
)
FIRST_STEPS: FirstSteps = {
    "tikv-family-cache": Step(
        "set", _CACHE, lambda log, _: sum(
            log.family_number(family, "block_cache_size") for family in log.families
        ) or None, reason="the sum of all block-cache-size values",
    ),
    "tikv-sync-log": Step("set", _SYNC, True),
    "tikv-flow-control": tuple(
        step
        for name, threshold in ((name, THRESHOLDS[name]) for name in _SLOWING)
        for step in (
            Step("set", threshold, partial(_given, name=name),
                 reason=f"the value of {name.replace('_', '-')}"),
            Step("set", name, partial(_acting, name=threshold),
                 reason=f"the value of {threshold}, which acts"),
        )
    ),
}  # fmt: skip
