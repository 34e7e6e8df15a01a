"""Numbers and lists for people, with no more digits than the measurement justifies."""

import re
from collections.abc import Sequence

from lsmtune.knobs.types import Value
from lsmtune.units import format_bytes, format_duration

_DIGITS = 3
TIMES = "\N{MULTIPLICATION SIGN}"


def number(value: float) -> str:
    """Return a number with three significant digits: `2.68`, `32,500`."""
    rounded = float(f"{value:.{_DIGITS}g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 10**_DIGITS else f"{rounded:g}"


def quantity(value: float, unit: str) -> str:
    """Return a number with its unit: `76.3 MiB`, `4.2 s`, `32,500 ops/s`."""
    if unit == "bytes":
        size, name = format_bytes(value).split(" ")
        return f"{number(float(size))} {name}"
    if unit == "s":
        return format_duration(value)
    return number(value) if unit == "ratio" else f"{number(value)} {unit_text(unit)}"


def unit_text(unit: str) -> str:
    """Return the unit as it is written in a text."""
    return "µs" if unit == "us" else unit


def unbroken(text: str) -> str:
    """Return the text without line breaks between a number, its unit and its interval."""
    joined = text.replace("\N{EN DASH}", "\N{EN DASH}\N{WORD JOINER}")
    return re.sub(rf" (?={TIMES}|%)|(?<=[{TIMES}±]) ", "\N{NO-BREAK SPACE}", joined)


def sentence_start(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


def listed(parts: Sequence[str], word: str = "and") -> str:
    """Return the parts as a list for a sentence: `a, b and c`."""
    return f" {word} ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def option_value(value: Value) -> str:
    """Return a knob's value as the engine spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun: `1 trial`, `16 trials`, `no trials`."""
    return f"{count or 'no'} {noun}{'' if count == 1 else 's'}"
