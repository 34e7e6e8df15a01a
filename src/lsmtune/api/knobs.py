"""What can be chosen: knobs and optimizers."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import get_args

from lsmtune.errors import Argument, UserError, unknown_word
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Knob
from lsmtune.optimizers.base import Optimizer
from lsmtune.optimizers.registry import OPTIMIZERS
from lsmtune.workloads import EngineName


def optimizers() -> list[Optimizer]:
    """Return the search algorithms."""
    return [make() for make in OPTIMIZERS.values()]


def chosen_knobs(name: str, area: str | None) -> tuple[EngineName, Sequence[Knob]]:
    """Return an engine and its knobs, or the one knob of RocksDB that has the name.

    `area` keeps only the knobs of an area. UserError for an unknown engine, knob or area.
    """
    engines = get_args(EngineName)
    if name not in engines:
        if area is not None:
            raise UserError(
                Argument("area"), ": not allowed with the name of a knob; remove one of them"
            )
        catalogue = load("rocksdb")
        names = [knob.name for knob in catalogue.knobs]
        if name not in names:
            known = [*engines, *names] if get_close_matches(name, names, n=1) else sorted(engines)
            raise UserError(f"knobs: {unknown_word('engine or knob', name, known)}")
        return "rocksdb", [catalogue.knob(name)]
    engine: EngineName = next(known for known in engines if known == name)
    knobs = load(engine).knobs
    areas = tuple(dict.fromkeys(knob.area for knob in knobs))
    if area is not None and area not in areas:
        raise UserError(Argument("area"), f": {unknown_word('area', area, areas)}")
    return engine, [knob for knob in knobs if area in (None, knob.area)]
