"""Stores that are opened with options and closed again, on an installed RocksDB."""

import resource
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from pathlib import Path

from fakes.driving import Driven, Json, drive
from lsmtune.engines.libraries.installed import Installed
from lsmtune.engines.read_back import is_as_wanted
from lsmtune.engines.rocksdb.options import (
    NOT_READ,
    option_string,
    read_settings,
    rendered_options,
    with_filter_bits,
)
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.knobs.constraints import Context, normalise, refusals
from lsmtune.knobs.option_text import read_value
from lsmtune.knobs.types import Knob, Settings, Value
from lsmtune.metrics.options_file import parse_options

OPEN_FILES = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
CACHE_BYTES = 8 << 20
_IN_FORCE = {"max_background_compactions", "max_background_flushes", "initial_auto_readahead_size"}
"""Options that rules set to the value in force, while RocksDB writes down another one."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The OPTIONS that RocksDB wrote, or why it did not open the store."""

    options: str
    refusal: str


class Opener:
    """An installed RocksDB: its defaults, its knobs, and what it makes of settings."""

    def __init__(self, engine: Installed, folder: Path) -> None:
        self.version = engine.record.version
        self._library = engine.library
        self._folder = folder
        self._numbers = count()

    @cached_property
    def defaults(self) -> str:
        """The OPTIONS of a store without options."""
        return self.open("").options

    @cached_property
    def base(self) -> Settings:
        """The defaults of the knobs that this version has."""
        settings = read_settings(load("rocksdb"), self.defaults)
        return {name: value for name, value in settings.items() if name not in NOT_READ}

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs and choices of this version."""
        return load("rocksdb").restricted(self.base).of_version(self.version)

    @property
    def knobs(self) -> list[Knob]:
        """The knobs that have a place in OPTIONS files."""
        return [knob for knob in self.catalogue.knobs if knob.option is not None]

    def open(self, options: str) -> Opened:
        """Open a new store with a text of options."""
        driven = self.run(options)
        failed = driven.of("failed")
        assert failed or driven.returncode == 0, driven
        if failed:
            return Opened("", str(failed[0]["message"]))
        return Opened(str(driven.one("opened")["options"]), "")

    def run(self, options: str, *phases: Json) -> Driven:
        """Carry out phases on a new store."""
        folder = self._folder / str(next(self._numbers))
        folder.mkdir()
        plan = {"library": str(self._library), "folder": str(folder / "db"), "options": options,
                "block_cache": {"bytes": CACHE_BYTES}, "phases": phases}  # fmt: skip
        return drive(plan, folder)

    def faults(self, settings: Settings) -> Iterator[str]:
        """Open a store with settings; yield what RocksDB does otherwise than the rules say."""
        given = self.base | settings
        context = Context(self.base, OPEN_FILES, version=self.version)
        text = rendered_options(self.catalogue, self.defaults, settings)
        rate = given["rate_limiter_bytes_per_sec"]
        limiter = f"rate_limiter_bytes_per_sec={rate};" if rate else ""
        opened = self.open(option_string(text) + limiter)
        reasons = refusals(given, context)
        if opened.refusal or reasons:
            if not (opened.refusal and reasons):
                yield f"{settings}: RocksDB: {opened.refusal or 'runs'}; rules: {reasons or 'runs'}"
            return
        ran = self.read(with_filter_bits(opened.options, text))
        normal = normalise(given, context)
        for name, value in ran.items():
            # RocksDB keeps the values of options without effect, and the rules do not.
            kept = name in settings or name in _IN_FORCE
            allowed = {given[name], normal[name]} if kept else {normal[name]}
            if not any(is_as_wanted(name, wanted, value) for wanted in allowed):
                yield f"{settings}: {name} is {value}, not {given[name]} or {normal[name]}"

    def read(self, options: str) -> Mapping[str, Value | None]:
        """The values of the knobs in an OPTIONS text."""
        sections = parse_options(options).sections
        return {knob.name: read_value(knob, sections) for knob in self.knobs}


def others(knob: Knob, default: Value) -> list[Value]:
    """All values of a list other than the default; of a range one from its middle, and special."""
    if not knob.is_range:
        return [value for value in knob.values if value != default]
    low, high = knob.bounds()
    middle = knob.rounded((low * high) ** 0.5 if knob.log else (low + high) / 2)
    inner = knob.rounded(high) if middle == default else middle
    return [value for value in (inner, *knob.special_values) if value != default]
