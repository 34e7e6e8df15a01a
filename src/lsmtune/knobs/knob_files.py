"""Knobs in the data files of catalogues: one file per area."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from lsmtune.knobs.families import knob_name
from lsmtune.knobs.types import Knob

_PRESETS = "presets.toml"
"""The file of a catalogue that contains everything except knobs."""


def read_folder(folder: Traversable) -> tuple[tuple[Knob, ...], Mapping[str, Any]]:
    """Return the knobs that the files of a folder describe, by area, and all that is no knob."""
    data = {
        file.name: tomllib.loads(file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".toml")
    }
    rest = data.pop(_PRESETS)
    return tuple(_knobs(data.values(), rest.get("areas", []))), rest


def rocksdb_folder() -> Traversable:
    """Return the folder of RocksDB's catalogue."""
    return files("lsmtune.knobs").joinpath("catalogue", "rocksdb")


@cache
def rocksdb_knobs() -> tuple[Knob, ...]:
    """Return RocksDB's knobs of all versions."""
    return read_folder(rocksdb_folder())[0]


def _knobs(data: Iterable[dict[str, Any]], areas: list[str]) -> Iterable[Knob]:
    """Yield the knobs of the files by area; if a file names families, each has all its knobs."""
    for area in sorted(data, key=lambda area: areas.index(area["area"])):
        for family in area.get("families", [None]):
            for entry in area["knob"]:
                yield Knob(area=area["area"], **_of_family(area, entry, family))


def _of_family(
    area: Mapping[str, Any], entry: Mapping[str, Any], family: str | None
) -> dict[str, Any]:
    """Return the entry of a knob: `every`, its own keys, and what differs in one family."""
    told: dict[str, Any] = {**area.get("every", {}), **entry}
    elsewhere = told.pop("elsewhere", {})
    if family is not None:
        told |= {**elsewhere.get(family, {}), "name": knob_name(family, told["name"])}
    return told
