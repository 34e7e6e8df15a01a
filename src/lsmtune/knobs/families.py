"""Column families: an option of one family is a knob of its own, `family.option`.

The rules between options use plain names. They are applied to one family at a time, on a view of
the settings with the options of this family and those of the whole database. An engine whose
options have other names brings its own `Names`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TypeVar

from lsmtune.knobs.types import Knob, Value

T = TypeVar("T")

DEFAULT_FAMILY = "default"
ANY_FAMILY = "*"
DATABASE_SECTION = "DBOptions"
"""The section of an OPTIONS file with the options of the whole database."""
FAMILY_SECTIONS = ("CFOptions", "TableOptions/BlockBasedTable")
"""The sections of an OPTIONS file that every column family has of its own."""
_SEPARATOR = "."
_MANY = 64
"""The same few hundred names come by in the same order again and again."""

Split = Callable[[str], tuple[str | None, str]]
"""Returns the family of a name, None for an option of the whole database, and the plain name."""
Join = Callable[[str, str | None], tuple[str, ...]]
"""Returns the names that a plain name may have in a family, the likeliest first."""


def knob_name(family: str, option: str) -> str:
    """Return the name of a family's option."""
    return f"{family}{_SEPARATOR}{option}"


def _split(name: str) -> tuple[str | None, str]:
    family, _, option = name.rpartition(_SEPARATOR)
    return family or None, option


def _join(option: str, family: str | None) -> tuple[str, ...]:
    return (option if family is None else knob_name(family, option),)


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """The form of the names of an engine's options, by default `option` and `family.option`.

    `split` takes a name apart, `join` puts it together again. Options that RocksDB's rules use
    have RocksDB's names as plain names. Every decision asks for names and views thousands of
    times, so answers are kept.
    """

    split: Split = _split
    join: Join = _join
    _parts: Split = field(init=False, repr=False)
    _joined: Join = field(init=False, repr=False)
    _families: Callable[[tuple[str, ...]], tuple[str | None, ...]] = field(init=False, repr=False)
    _seen: Callable[[tuple[str, ...], str | None], tuple[tuple[str, str], ...] | None] = field(
        init=False, repr=False
    )
    _lifted: Callable[[tuple[str, ...], str | None, tuple[str, ...]], tuple[str, ...]] = field(
        init=False, repr=False
    )
    _chosen: Callable[[tuple[str, ...], frozenset[str]], tuple[str, ...]] = field(
        init=False, repr=False
    )

    def __post_init__(self) -> None:
        kept = {
            "_parts": cache(self.split),
            "_joined": cache(self.join),
            "_families": lru_cache(_MANY)(self._find_families),
            "_seen": lru_cache(_MANY)(self._find_seen),
            "_lifted": lru_cache(_MANY)(self._find_lifted),
            "_chosen": lru_cache(_MANY)(self._find_chosen),
        }
        for name, function in kept.items():
            object.__setattr__(self, name, function)

    def option(self, name: str) -> str:
        """Return the plain name of the option that a knob sets, without its family."""
        return self._parts(name)[1]

    def family(self, name: str) -> str | None:
        """Return the family whose option a knob is; None for one of the whole database."""
        return self._parts(name)[0]

    def families(self, names: Iterable[str]) -> tuple[str | None, ...]:
        """Return the families among the names; None alone where options have no families."""
        return self._families(tuple(names))

    def _find_families(self, names: tuple[str, ...]) -> tuple[str | None, ...]:
        found = map(self.family, names)
        return tuple(dict.fromkeys(family for family in found if family)) or (None,)

    def view(self, values: Mapping[str, T], family: str | None) -> dict[str, T]:
        """Return one family's options by their plain names, with those of the database."""
        seen = self._seen(tuple(values), family)
        return dict(values) if seen is None else {option: values[name] for name, option in seen}

    def _find_seen(
        self, names: tuple[str, ...], family: str | None
    ) -> tuple[tuple[str, str], ...] | None:
        """Return the names that a family sees, each with the plain name of its option.

        None means all names, unchanged.
        """
        parts = ((name, *self._parts(name)) for name in names)
        seen = tuple((name, option) for name, own, option in parts if own in (None, family))
        return None if seen == tuple(zip(names, names, strict=True)) else seen

    def viewed(self, knobs: Iterable[Knob], family: str | None) -> tuple[Knob, ...]:
        """Return one family's knobs under their plain names, with those of the database."""
        return tuple(
            knob.model_copy(update={"name": self.option(knob.name)})
            for knob in knobs
            if self.family(knob.name) in (None, family)
        )

    def lifted(
        self, values: Mapping[str, T], family: str | None, known: Mapping[str, object]
    ) -> dict[str, T]:
        """Return what a view shows under the family's names, where `known` has these."""
        if values.keys() <= known.keys():
            return dict(values)
        names = self._lifted(tuple(values), family, tuple(known))
        return dict(zip(names, values.values(), strict=True))

    def _find_lifted(
        self, names: tuple[str, ...], family: str | None, known: tuple[str, ...]
    ) -> tuple[str, ...]:
        places = dict.fromkeys(known)
        return tuple(self.lifted_name(name, family, places) for name in names)

    def lifted_name(self, name: str, family: str | None, known: Mapping[str, object]) -> str:
        """Return the family's name of a plain one, where `known` has it."""
        if name in known:
            return name
        return next((full for full in self._joined(name, family) if full in known), name)

    def chosen(self, values: Mapping[str, T], options: frozenset[str]) -> dict[str, T]:
        """Return the values of these options in all families, by their full names."""
        return {name: values[name] for name in self._chosen(tuple(values), options)}

    def _find_chosen(self, names: tuple[str, ...], options: frozenset[str]) -> tuple[str, ...]:
        return tuple(name for name in names if self.option(name) in options)


PLAIN = Names()
"""The names of RocksDB's options, and of all engines that bring no names of their own."""


def with_families(values: Mapping[str, Value], names: Iterable[str]) -> dict[str, Value]:
    """Return the settings with more families, each as the default one has its options.

    Only plain names have a default family.
    """
    of_default = {n: v for n, v in values.items() if PLAIN.family(n) == DEFAULT_FAMILY}
    return dict(values) | {
        knob_name(family, PLAIN.option(name)): value
        for family in names
        for name, value in of_default.items()
    }
