"""First steps with values: `raise max_background_jobs from 2 to 4`.

The steps in the files of the rules are general. Where the text has the value of the option, the new
value is computed from it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from lsmtune.errors import UserError
from lsmtune.knobs.knob_files import rocksdb_knobs
from lsmtune.units import format_bytes, parse_size

Way = Literal["raise", "lower", "set"]

_NAME = r"(?P<name>[a-z]\w*_\w+|ttl|compression|read_amp)"
_VALUE = r"(?P<value>-?\d+(?:\.\d+)?(?: [KMGT]iB)?|true|false|[A-Z]\w+)(?![\w.])"
_FORMS = (
    re.compile(rf"(?:raise|lower|set) {_NAME} to (?:at least )?{_VALUE}"
               r"(?:; if it is [^,;]+ or more, (?P<else>double it|add \d+)"
               r"|, or (?P<larger>double it) if larger)?(?: or (?:more|less))?"),
    re.compile(rf"(?P<factor>double|halve) {_NAME}(?: and (?P<second>[a-z]\w*_\w+))?"),
)  # fmt: skip
_FACTORS = {"double": 2.0, "halve": 0.5}
_SWITCHES = {"0": "false", "1": "true"}


@dataclass(frozen=True, slots=True)
class Change:
    """An option that a step changes: the direction, and both values as the option has them."""

    option: str
    direction: Way
    before: str
    after: str


def computed(step: str, current: Mapping[str, str]) -> tuple[str, Change | None]:
    """Return the step with the values that the text has, and its first change.

    The step stays as it is, and there is no change, if the value of its option is unknown.
    """
    for form in _FORMS:
        found = form.search(step)
        change = _change(found, current) if found else None
        if found and change is not None:
            text = _text(change)
            if second := found.groupdict().get("second"):
                other, _ = computed(f"{found['factor']} {second}", current)
                text += f", and {other}"
            return f"{step[: found.start()]}{text}{step[found.end() :]}", change
    return step, None


def _text(change: Change) -> str:
    old, new = (_readable(change.option, text) for text in (change.before, change.after))
    return f"{change.direction} {change.option} from {old} to {new}"


def _change(found: re.Match[str], current: Mapping[str, str]) -> Change | None:
    parts, name = found.groupdict(), found["name"]
    before = current.get(name)
    if before is None:
        return None
    if parts.get("value") in ("true", "false"):
        before = _SWITCHES.get(before, before)
        return None if before == parts["value"] else Change(name, "set", before, parts["value"])
    number = _number(before)
    if number is None:
        value = parts.get("value")
        is_name = value is not None and value[:1].isalpha()
        return Change(name, "set", before, value) if is_name and value else None
    after = _new_value(parts, number)
    if after is None or after == number:
        return None
    return Change(name, "raise" if after > number else "lower", before, f"{after:.15g}")


def _new_value(parts: Mapping[str, str | None], number: float) -> float | None:
    """Return the value that a step computes from the present one; None if it does not apply."""
    if (factor := parts.get("factor")) is not None:
        product = _FACTORS[factor] * number
        whole = float(int(product)) if number == int(number) else product
        return whole if whole > 0 else None
    wanted = _number(parts["value"] or "")
    other = parts.get("else") or parts.get("larger")
    if wanted is None or other is None or number < wanted:
        return wanted
    return 2 * number if other == "double it" else number + float(other.split()[-1])


def _number(text: str) -> float | None:
    try:
        return float(parse_size(text, "") if text.endswith("iB") else text)
    except (UserError, ValueError):
        return None


def _readable(option: str, text: str) -> str:
    number = _number(text)
    is_size = option in _sizes() and number is not None and number > 0
    return format_bytes(number) if is_size and number is not None else text


@cache
def _sizes() -> frozenset[str]:
    """The options of RocksDB whose unit is bytes."""
    return frozenset(knob.name for knob in rocksdb_knobs() if knob.unit == "bytes")
