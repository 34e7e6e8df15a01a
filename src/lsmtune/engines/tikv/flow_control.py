"""Options of column families that TiKV's flow control changes without being asked.

When TiKV starts and when an option is changed, it lowers these options to the thresholds of flow
control, in all families. An option that its file does not name gets the threshold when TiKV
starts. A higher threshold does not raise the options of a running TiKV again. (TikvConfig::validate
in tikv/src/config/mod.rs, and a real TiKV 9.0.0-beta.)
"""

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.tikv_toml import FLOW_CONTROL, THRESHOLDS, Flat, size_of
from lsmtune.knobs.types import Settings

_THRESHOLDS = {option.replace("_", "-"): name for option, name in THRESHOLDS.items()}
_STALLS = "disable-write-stall"
"""Flow control turns RocksDB's own stalls off when it is turned on."""


def is_changed(name: str) -> bool:
    """Return whether flow control changes this option of a column family."""
    option = name.rpartition(".")[2]
    return not name.startswith("storage.") and (option in _THRESHOLDS or option == _STALLS)


def to_name(catalogue: Catalogue, settings: Settings, file: Flat) -> Settings:
    """Return the settings that a file has to name, because TiKV would fill in another value.

    While flow control is off, TiKV fills in the default thresholds.
    """
    defaults = {knob.name: knob.default for knob in catalogue.knobs}
    return {
        name: value
        for name, value in settings.items()
        if name not in file
        and (threshold := _threshold(name)) in settings
        and value != (settings if settings.get(FLOW_CONTROL, True) else defaults)[threshold]
    }


def drifted(catalogue: Catalogue, settings: Settings, found: Flat, now: Flat) -> Flat:
    """Return options that are not knobs and that flow control has changed, as they were found.

    What the thresholds of these settings would lower again is not in the result.
    """
    knobs = {knob.name for knob in catalogue.knobs}
    return {
        name: told
        for name, told in found.items()
        if name not in knobs
        and (threshold := _threshold(name)) is not None
        and size_of(now.get(name)) not in _allowed(settings, threshold, size_of(told))
    }


def _allowed(settings: Settings, threshold: str, found: int | None) -> list[int | None]:
    """Return the values that an option may run with: as found, or lowered to the threshold."""
    most = settings.get(threshold)
    if found is None or not settings.get(FLOW_CONTROL, True) or not isinstance(most, int):
        return [found]
    return [found, min(found, most)]


def _threshold(name: str) -> str | None:
    """Return the threshold that limits an option; None for other options."""
    return None if name.startswith("storage.") else _THRESHOLDS.get(name.rpartition(".")[2])
