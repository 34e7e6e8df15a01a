"""What really ran: the options that RocksDB wrote down, held against those it was given."""

from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.option_text import DERIVED, option_place, read_value
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.options_file import parse_options
from lsmtune.trials import Status

_CACHE = "cache_size"
"""The block cache stands in no OPTIONS file, but in RocksDB's LOG."""


def newest_options(database: Path) -> Path:
    """The OPTIONS file that the last open of the database wrote; TrialFailedError without one."""
    files = sorted(database.glob("OPTIONS-*"))
    if not files:
        raise TrialFailedError(Status.UNREADABLE, "RocksDB wrote no OPTIONS file")
    return files[-1]


def read_back(
    catalogue: Catalogue, settings: Settings, options_text: str, options: LogOptions
) -> dict[str, str]:
    """The options as RocksDB ran them, by knob name; TrialFailedError when they are others."""
    sections = parse_options(options_text).sections
    as_run: dict[str, str] = {}
    differing: list[str] = []
    for knob in _written_down(catalogue, settings):
        section, key = option_place(knob)
        as_run[knob.name] = sections.get(section, {}).get(key, "")
        actual = read_value(knob, sections)
        if not _same(knob, settings, actual):
            differing.append(
                f"{knob.name} is {as_run[knob.name] or 'missing'} instead of {settings[knob.name]}"
            )
    if _CACHE in settings:
        as_run[_CACHE] = str(options.block_cache_capacity_bytes)
        if options.block_cache_capacity_bytes != settings[_CACHE]:
            differing.append(f"{_CACHE} is {as_run[_CACHE]} instead of {settings[_CACHE]}")
    if differing:
        raise TrialFailedError(
            Status.MISMATCH, f"RocksDB ran other options than it was given: {'; '.join(differing)}"
        )
    return as_run


def _written_down(catalogue: Catalogue, settings: Settings) -> list[Knob]:
    return [k for k in catalogue.knobs if k.option is not None and k.name in settings]


def _same(knob: Knob, settings: Settings, actual: Value | None) -> bool:
    wanted = settings[knob.name]
    # 0 stands for what RocksDB computes from others and writes down, each version in its way.
    if knob.name in DERIVED and wanted == 0:
        return actual is not None
    if isinstance(wanted, float) and isinstance(actual, int | float):
        return abs(wanted - actual) < 10**-6 * max(1.0, abs(wanted))
    return actual == wanted
