"""Column families: an option of one family is a knob of its own, `family.option`.

The rules between options know plain names. So they are applied to one family at a time, in a view
of the settings in which its options stand beside those of the whole database.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from lsmtune.knobs.types import Knob, Value

T = TypeVar("T")

DEFAULT_FAMILY = "default"
ANY_FAMILY = "*"
FAMILY_SECTIONS = ("CFOptions", "TableOptions/BlockBasedTable")
"""The sections of an OPTIONS file that every column family has of its own."""
_SEPARATOR = "."


def option_name(name: str) -> str:
    """The option that a knob sets, without its family."""
    return name.rpartition(_SEPARATOR)[2]


def family_of(name: str) -> str | None:
    """The family whose option a knob is; None for one of the whole database."""
    return name.rpartition(_SEPARATOR)[0] or None


def knob_name(family: str, option: str) -> str:
    """The name of a family's option."""
    return f"{family}{_SEPARATOR}{option}"


def families(names: Iterable[str]) -> tuple[str | None, ...]:
    """The families among the names; None alone where options have no families."""
    found = (family_of(name) for name in names)
    return tuple(dict.fromkeys(family for family in found if family)) or (None,)


def view(values: Mapping[str, T], family: str | None) -> dict[str, T]:
    """One family's options by their plain names, beside those of the database."""
    return {
        option_name(name): value
        for name, value in values.items()
        if family_of(name) in (None, family)
    }


def lifted(
    values: Mapping[str, T], family: str | None, known: Mapping[str, object]
) -> dict[str, T]:
    """The way back: plain names become the family's where `known` has them as such."""
    return {lifted_name(name, family, known): value for name, value in values.items()}


def lifted_name(name: str, family: str | None, known: Mapping[str, object]) -> str:
    """The family's name of a plain one, where `known` has it."""
    if family is None or knob_name(family, name) not in known:
        return name
    return knob_name(family, name)


def viewed(knobs: Iterable[Knob], family: str | None) -> tuple[Knob, ...]:
    """One family's knobs under their plain names, beside those of the database."""
    return tuple(
        knob.model_copy(update={"name": option_name(knob.name)})
        for knob in knobs
        if family_of(knob.name) in (None, family)
    )


def with_families(values: Mapping[str, Value], names: Iterable[str]) -> dict[str, Value]:
    """The settings with more families, each as the default one has its options."""
    of_default = {n: v for n, v in values.items() if family_of(n) == DEFAULT_FAMILY}
    return dict(values) | {
        knob_name(family, option_name(name)): value
        for family in names
        for name, value in of_default.items()
    }
