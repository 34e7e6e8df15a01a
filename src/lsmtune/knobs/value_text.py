"""Values of knobs in words."""

from lsmtune.knobs.types import Knob, Value
from lsmtune.units import format_bytes


def knob_value(knob: Knob, value: Value) -> str:
    """Return a knob's value in words: a size, the name of a choice, or a special meaning."""
    special = next((s.meaning for s in knob.special if s.value == value), None)
    if special is not None:
        return special
    if knob.labels and value in knob.choices:
        return knob.labels[knob.choices.index(value)]
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    if knob.unit == "bytes":
        return format_bytes(value)
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    one = value == 1 and knob.unit in ("files", "memtables", "threads", "levels")
    unit = knob.unit[:-1] if one else knob.unit
    return text if value < 0 or knob.unit in ("", "ratio", "level") else f"{text} {unit}"
