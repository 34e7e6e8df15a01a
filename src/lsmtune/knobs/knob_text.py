"""Values of knobs as people write and read them: `64MiB`, `universal`, `true`."""

import re
from os.path import commonprefix

from lsmtune.errors import Message, UserError, unknown_word
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Knob, Value, value_text
from lsmtune.units import format_bytes, parse_size

_BYTES = {"bytes": "", "bytes/s": "/s"}
"""Units that are read and written as sizes, with what follows the size."""
_BOOLS = {"true": True, "false": False, "1": True, "0": False}
_FAR = 64
"""A count this many times above the searched range is taken for a mistake."""
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def find_knob(catalogue: Catalogue, name: str, where: str) -> Knob:
    """Return the knob of that name; UserError offers the most similar name."""
    others = {parameter.name for parameter in catalogue.workload_parameters} | {*catalogue.absent}
    names = [knob.name for knob in catalogue.knobs]
    if name not in names and name not in others:
        raise UserError(where, f": {unknown_word('knob', name, names, 'lsmtune knobs')}")
    return catalogue.knob(name)


def parse_value(knob: Knob, text: str, where: str) -> Value:
    """Return the value that the text names; UserError with the allowed values otherwise.

    Sizes may have units. Choices may be given by value or by name, as in an OPTIONS file or
    shorter: `kCompactionStyleUniversal`, `universal` and `1` are the same.
    """
    place = Message(where, " ", knob.name)
    if not knob.is_range:
        names = _choice_names(knob)
        if (key := _plain(text)) not in names:
            allowed = [readable_value(knob, value) for value in knob.values]
            raise UserError(place, f": {unknown_word('value', text, allowed)}")
        return names[key]
    value = _number(knob, text.strip(), place)
    if value is None or not knob.accepts(value) or _is_far(knob, value):
        raise UserError(place, f": invalid value {text!r}; allowed: {_accepted_text(knob)}")
    return value


def knob_value(knob: Knob, value: Value) -> str:
    """Return a knob's value in words: a size, the name of a choice, or a special meaning."""
    special = next((s.meaning for s in knob.special if s.value == value), None)
    if special is not None:
        return special
    if knob.labels and value in knob.choices:
        return knob.labels[knob.choices.index(value)]
    if isinstance(value, bool):
        return value_text(value)
    if isinstance(value, str):
        return value
    if knob.unit == "bytes":
        return format_bytes(value)
    text = f"{value:,}" if isinstance(value, int) else f"{value:g}"
    one = value == 1 and knob.unit in ("files", "memtables", "threads", "levels")
    unit = knob.unit[:-1] if one else knob.unit
    return text if value < 0 or knob.unit in ("", "ratio", "level") else f"{text} {unit}"


def readable_value(knob: Knob, value: Value) -> str:
    """Return the value with its unit, or its name."""
    if isinstance(value, bool):
        return value_text(value)
    if not knob.is_range and not isinstance(value, str) and (short := _short_names(knob)):
        return short.get(value, str(value))
    is_special = value in knob.special_values
    if knob.unit in _BYTES and isinstance(value, (int, float)) and value > 0 and not is_special:
        return f"{format_bytes(value)}{_BYTES[knob.unit]}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def readable_range(knob: Knob) -> str:
    """Return the values that a search may use."""
    if not knob.is_range:
        return ", ".join(readable_value(knob, value) for value in knob.values)
    if knob.unit not in _BYTES:
        return knob.allowed_text()
    low, high = (f"{format_bytes(bound)}{_BYTES[knob.unit]}" for bound in knob.bounds())
    specials = "".join(f", or {s.value} ({s.meaning})" for s in knob.special)
    return f"{low} to {high}{specials}"


def _choice_names(knob: Knob) -> dict[str, Value]:
    """The values of a knob without a range, by all names that they may be given by."""
    if knob.kind == "bool":
        return dict(_BOOLS)
    names = {_plain(label): v for label, v in zip(knob.labels, knob.values, strict=False)}
    names |= {_plain(readable_value(knob, value)): value for value in knob.values}
    return names | {_plain(str(value)): value for value in knob.values}


def _plain(text: str) -> str:
    return re.sub(r"[\s_]", "", text).lower()


def _short_names(knob: Knob) -> dict[Value, str]:
    """The names of numbered choices without their common start: `universal`."""
    if not knob.labels or any(isinstance(value, str) for value in knob.values):
        return {}
    start = len(commonprefix(list(knob.labels)))  # noqa: RUF071 - no paths
    names = [_WORD_START.sub("_", label[start:]).lower() for label in knob.labels]
    return dict(zip(knob.values, names, strict=True)) if all(names) else {}


def _number(knob: Knob, text: str, place: str) -> int | float | None:
    if knob.unit in _BYTES and text[:1].isdigit() and text[-1:].isalpha():
        return parse_size(text, place)
    try:
        return int(text) if knob.kind == "int" else float(text)
    except ValueError:
        return None


def _accepted_text(knob: Knob) -> str:
    """Return the numbers that are accepted, also those outside the searched range."""
    if knob.unit in _BYTES:
        least, most = (bound if bound is None else format_bytes(bound) for bound in knob.accepted)
        unit = _BYTES[knob.unit]
        return f"{least}{unit} or more" if most is None else f"{least}{unit} to {most}{unit}"
    if knob.most is None:
        return knob.model_copy(update={"most": _FAR * knob.bounds()[1]}).accepted_text()
    return knob.accepted_text()


def _is_far(knob: Knob, value: float) -> bool:
    return (
        knob.most is None
        and knob.unit not in _BYTES
        and value not in knob.special_values
        and value > _FAR * knob.bounds()[1]
    )
