"""Values with which RocksDB runs, which are more than the values that a search tries."""

from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.types import Knob, Value

_LOWERED = frozenset({"write_buffer_size"})
"""Options whose values above the catalogue's maximum RocksDB lowers (SanitizeOptions)."""


def is_possible(knob: Knob, value: Value, names: Names = PLAIN) -> bool:
    """Return whether RocksDB runs with the value, which it may change when it opens a store."""
    if not knob.is_range:
        return knob.around(value).allows(value)
    is_number = type(value) is int or (knob.kind == "float" and type(value) is float)
    return is_number and _possible(knob, names).accepts(value)


def possible_text(knob: Knob, names: Names = PLAIN) -> str:
    """Return the possible values as text for a message."""
    if not knob.is_range:
        return knob.allowed_text()
    whole = "whole numbers, " if knob.kind == "int" else ""
    return f"{whole}{_possible(knob, names).accepted_text()}"


def _possible(knob: Knob, names: Names) -> Knob:
    """Return the knob that accepts all values with which RocksDB runs."""
    most = None if names.option(knob.name) in _LOWERED else knob.most
    return down_to_zero(knob).model_copy(update={"most": most})


def down_to_zero(knob: Knob) -> Knob:
    """Return the knob that also accepts all numbers from 0 on.

    RocksDB replaces numbers that are too small. It would read a negative size as a very large one.
    """
    return knob.model_copy(update={"least": min(knob.accepted[0], 0)})
