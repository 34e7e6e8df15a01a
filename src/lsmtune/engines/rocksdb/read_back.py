"""What really ran: the options that RocksDB wrote down, held against those it was given."""

from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.option_text import option_place, option_text, same_option
from lsmtune.knobs.types import Knob, Settings
from lsmtune.metrics.options_file import OptionsFile, parse_options
from lsmtune.metrics.rocksdb_log import LogSummary
from lsmtune.trials import Status

_CACHE = "cache_size"
"""The one knob that RocksDB does not write into its OPTIONS file, but into its LOG."""


def newest_options(database: Path) -> Path:
    """The OPTIONS file that the last open of the database wrote; TrialFailedError without one."""
    files = sorted(database.glob("OPTIONS-*"))
    if not files:
        raise TrialFailedError(Status.UNREADABLE, "RocksDB wrote no OPTIONS file")
    return files[-1]


def read_back(
    catalogue: Catalogue, settings: Settings, options_text: str, log: LogSummary
) -> dict[str, str]:
    """The options as RocksDB ran them, by knob name; TrialFailedError when they are others."""
    options = parse_options(options_text)
    labels = catalogue.codec_labels
    expected = {
        knob.name: option_text(knob, settings, labels)
        for knob in catalogue.knobs
        if knob.name != _CACHE
    }
    actual = {name: _actual(catalogue.knob(name), options) for name in expected}
    expected[_CACHE] = str(settings[_CACHE])
    actual[_CACHE] = str(log.block_cache_capacity_bytes)
    _compare(expected, actual)
    return actual


def _actual(knob: Knob, options: OptionsFile) -> str:
    value = options.get(*option_place(knob))
    return "" if value is None else value


def _compare(expected: dict[str, str], actual: dict[str, str]) -> None:
    differing = [
        f"{name} is {actual[name] or 'missing'} instead of {wanted}"
        for name, wanted in expected.items()
        if not same_option(wanted, actual[name])
    ]
    if differing:
        raise TrialFailedError(
            Status.MISMATCH, f"RocksDB ran other options than it was given: {'; '.join(differing)}"
        )
