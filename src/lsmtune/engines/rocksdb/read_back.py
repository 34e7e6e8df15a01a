"""Check of a trial's options: those that RocksDB wrote down against those that it was given."""

from lsmtune.engines.read_back import check_as_given, is_as_wanted
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.option_text import NAMELESS_FILTER, option_place, read_value
from lsmtune.knobs.types import Knob, Settings
from lsmtune.metrics.log_options import LogOptions
from lsmtune.metrics.options_file import parse_options

_CACHE = "cache_size"
"""The size of the block cache is in RocksDB's LOG, not in an OPTIONS file."""
_FILTERS = ("filter_bits", "ribbon")


def read_back(
    catalogue: Catalogue, settings: Settings, options_text: str, options: LogOptions
) -> dict[str, str]:
    """Return the options that RocksDB ran, by the name of the knob.

    TrialFailedError if they are not those of the settings.
    """
    sections = parse_options(options_text).sections
    as_run: dict[str, str] = {}
    differing: list[str] = []
    for knob in _written_down(catalogue, settings):
        section, key = option_place(knob)
        as_run[knob.name] = sections.get(section, {}).get(key, "")
        actual = read_value(knob, sections)
        if _is_a_filter(knob, settings, as_run[knob.name]):
            continue
        if not is_as_wanted(knob.name, settings[knob.name], actual):
            differing.append(
                f"option {knob.name} is {as_run[knob.name] or 'missing'}, "
                f"but the trial set {settings[knob.name]}"
            )
    if _CACHE in settings:
        as_run[_CACHE] = str(options.block_cache_capacity_bytes)
        if options.block_cache_capacity_bytes != settings[_CACHE]:
            differing.append(
                f"option {_CACHE} is {as_run[_CACHE]}, but the trial set {settings[_CACHE]}"
            )
    check_as_given("RocksDB", differing)
    return as_run


def _is_a_filter(knob: Knob, settings: Settings, text: str) -> bool:
    """Return whether the trial has a filter and RocksDB 6 wrote the filter without its bits."""
    form = None if knob.option is None else knob.option.form
    return form in _FILTERS and text == NAMELESS_FILTER and int(settings.get("bloom_bits", -1)) > 0


def _written_down(catalogue: Catalogue, settings: Settings) -> list[Knob]:
    return [k for k in catalogue.knobs if k.option is not None and k.name in settings]
