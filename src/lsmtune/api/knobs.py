"""What can be chosen: knobs and optimizers."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from lsmtune.engine_traits import ENGINES
from lsmtune.errors import Argument, UserError, unknown_word
from lsmtune.knobs.catalogue import Catalogue, rocksdb_catalogue
from lsmtune.knobs.reference import page, tables
from lsmtune.knobs.types import Knob
from lsmtune.optimizers.base import Optimizer
from lsmtune.optimizers.registry import OPTIMIZERS

__all__ = ["Catalogue", "Knob"]


@dataclass(frozen=True, slots=True)
class ChosenKnobs:
    """Knobs of an engine, and the catalogue that has all of them."""

    catalogue: Catalogue
    knobs: Sequence[Knob]

    @property
    def is_whole(self) -> bool:
        """Whether these are all knobs of the engine."""
        return len(self.knobs) == len(self.catalogue.knobs)

    def document(self) -> list[dict[str, Any]]:
        """Return the knobs as JSON."""
        return [
            {
                **knob.model_dump(),
                "allowed": knob.allowed_text(),
                "store_changes": [c.model_dump() for c in self.catalogue.store_changes(knob)],
            }
            for knob in self.knobs
        ]

    def markdown(self) -> str:
        """Return the reference page of the engine, or the tables of some knobs, in Markdown."""
        if self.is_whole:
            return page(self.catalogue)
        return "".join(f"{line}\n" for line in tables(self.catalogue, self.knobs))


def optimizers() -> list[Optimizer]:
    """Return the search algorithms."""
    return sorted((make() for make in OPTIMIZERS.usable()), key=lambda made: made.name)


def chosen_knobs(name: str, area: str | None) -> ChosenKnobs:
    """Return the knobs of an engine, or the one knob of RocksDB that has the name.

    `area` keeps only the knobs of an area. UserError for an unknown engine, knob or area.
    """
    engines = list(ENGINES)
    if name not in engines:
        if area is not None:
            raise UserError(
                Argument("area"), ": not allowed with the name of a knob; remove one of them"
            )
        catalogue = rocksdb_catalogue()
        names = [knob.name for knob in catalogue.knobs]
        if name not in names:
            known = [*engines, *names] if get_close_matches(name, names, n=1) else sorted(engines)
            raise UserError(f"knobs: {unknown_word('engine or knob', name, known)}")
        return ChosenKnobs(catalogue, [catalogue.knob(name)])
    catalogue = ENGINES[name].catalogue()
    areas = tuple(dict.fromkeys(knob.area for knob in catalogue.knobs))
    if area is not None and area not in areas:
        raise UserError(Argument("area"), f": {unknown_word('area', area, areas)}")
    shown = [knob for knob in catalogue.knobs if area in (None, knob.area)]
    return ChosenKnobs(catalogue, shown)
