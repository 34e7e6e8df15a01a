"""What to try first for a finding: a direction and an option, with a number where one follows.

The tables of steps are in the files of the rules. Here a step meets the values of one text.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal

from lsmtune.knobs.advice import Direction, unit_of
from lsmtune.units import MIB, format_bytes, parse_size

if TYPE_CHECKING:
    from lsmtune.analysis.inspect.inspection import Inspection

Way = Literal["raise", "lower", "set"]
"""How a step changes an option. A value that turns something off or on is set, not raised."""

_COSTS: Mapping[Way, Direction] = {"raise": "higher", "lower": "lower", "set": "lower"}
"""The cost of a direction. A number that is only set is a limit where there may be none."""
_BY_FACTOR = {"raise": "double", "lower": "halve"}
_MOST_BYTES, _MOST = 1 << 50, 1 << 30
"""From these values on, an option is without limit, or unset, and is not doubled."""
_ON, _OFF = ("1", "true"), ("0", "false")


@dataclass(frozen=True, slots=True)
class Change:
    """An option that a step changes: the direction, and both values as the option has them.

    A value is None where it is unknown, or where no number follows from the text.
    """

    option: str
    direction: Way | None
    before: str | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class FirstStep:
    """What to try first, in words, and the options that this changes: the main one first.

    `cost` is the direction whose cost counts.
    """

    text: str = ""
    changes: tuple[Change, ...] = ()
    cost: Direction | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a table: raise, lower or set an option.

    `to` is the new value, or computes it from the inspection and a column family; None where the
    evidence has no number. Where no `to` is given, or where it does not lie in the direction, the
    present value is doubled or halved. `first` is what to do before, `of` says whose option it is,
    `rest` ends the sentence, and `reason` says where the number comes from. `also` changes a second
    option.
    """

    way: Way
    option: str
    to: "float | str | bool | Target | None" = None
    first: str = ""
    of: str = ""
    rest: str = ""
    reason: str = ""
    also: "Step | None" = None


Target = Callable[["Inspection", str], float | None]
"""Computes the new value of an option; None where the text lacks what this needs."""


def options_of(steps: Sequence[Step | str], look_at: Sequence[str]) -> Iterator[str]:
    """Yield the options of a finding, and those that its steps change in addition."""
    yield from look_at
    for step in _chain(steps):
        yield step.option


def first_step(
    steps: Sequence[Step | str],
    look_at: Sequence[str],
    current: Mapping[str, str],
    log: "Inspection",
    family: str,
) -> FirstStep:
    """Return the step for a finding whose options have these values.

    The steps are tried in the order of the finding's options, and the first counts whose number
    lies in its direction; else a text, where the table has one.
    """
    texts = [step for step in steps if isinstance(step, str)]
    ordered = [
        step
        for option in look_at
        for step in steps
        if isinstance(step, Step) and step.option == option
    ]
    for step in ordered:
        if (change := _change(step, current, log, family)) is not None:
            return _worded(step, change, current, log, family)
    if texts:
        return FirstStep(texts[0])
    step = ordered[0]
    return _worded(step, None, current, log, family)


def _chain(steps: Sequence[Step | str]) -> Iterator[Step]:
    for step in steps:
        link = step if isinstance(step, Step) else None
        while link is not None:
            yield link
            link = link.also


def _worded(
    step: Step, own: Change | None, current: Mapping[str, str], log: "Inspection", family: str
) -> FirstStep:
    """Return a step with its own change, or else with twice or half the present value."""
    change = own or _by_factor(step, current.get(step.option))
    if change.direction is None:  # the option has the value already
        return FirstStep(f"{step.first} {_words(step, change)}".lstrip())
    words, changes = [_words(step, change)], [change]
    for link in _chain([step.also] if step.also else []):
        other = _change(link, current, log, family)
        if other is not None and other.direction is not None:
            words.append(_words(link, other))
            changes.append(other)
    text = " and ".join(words)
    text = f"{step.first} {text} {step.rest}".strip()
    has_number = own is not None and own.after is not None
    if step.reason and (has_number or step.way == "set"):
        text += f": {step.reason}"
    cost = _COSTS[step.way if change.direction == "set" else change.direction]
    if isinstance(step.to, bool):
        cost = "true" if step.to else "false"
    return FirstStep(text, tuple(changes), cost)


def _change(
    step: Step, current: Mapping[str, str], log: "Inspection", family: str
) -> Change | None:
    """Return the change of a step; None if its value does not lie in the direction."""
    before = current.get(step.option)
    to = step.to(log, family) if callable(step.to) else step.to
    if to is None:
        return None if callable(step.to) and before is not None else _by_factor(step, before)
    if isinstance(to, bool | str):
        return _switched(step.option, before, to)
    number = as_number(before)
    if number is None:
        # Without the present value, only a number that is set is in any case right.
        return Change(step.option, step.way, None, _text(to) if step.way == "set" else None)
    way = _way(number, to, step.option)
    if number == to or (step.way != "set" and way not in (step.way, "set")):
        return None
    return Change(step.option, way, before, _text(to))


def _switched(option: str, before: str | None, to: bool | str) -> Change | None:
    after = str(to).lower() if isinstance(to, bool) else to
    if isinstance(to, bool) and before in (*_ON, *_OFF):
        before = "true" if before in _ON else "false"
    is_same = before is not None and codec_text(before) == codec_text(after)
    return None if is_same else Change(option, "set", before, after)


def _by_factor(step: Step, before: str | None) -> Change:
    """Return a change to twice or half the present value; without a number where it is none."""
    number = as_number(before)
    if step.way == "set":
        is_done = step.to is not None and not callable(step.to)
        return Change(step.option, None if is_done else "set", before)
    if number is None or not _is_plain(number, step.option):
        way = step.way if number is None else None
        return Change(step.option, way, before if number is not None else None)
    after = 2 * number if step.way == "raise" else number / 2
    if number.is_integer():
        after = float(int(after))
    if after == 0 or not _is_plain(after, step.option):
        return Change(step.option, step.way, before)
    return Change(step.option, step.way, before, _text(after))


def _way(number: float, to: float, option: str) -> Way:
    if not (_is_plain(number, option) and _is_plain(to, option)):
        return "set"
    return "raise" if to > number else "lower"


def _is_plain(number: float, option: str) -> bool:
    """Return whether a value is an amount: 0 and less turn an option off, huge values too."""
    most = _MOST_BYTES if unit_of(option).startswith("bytes") else _MOST
    return 0 < number <= most


def _words(step: Step, change: Change) -> str:
    name = f"{step.option} {step.of}".rstrip()
    old, new = (text and value_text(step.option, text) for text in (change.before, change.after))
    if change.direction is None:
        return f"check {name}, which is {old}"
    if new is not None:
        return f"{change.direction} {name}{f' from {old}' if old else ''} to {new}"
    if change.before is None and step.to is None:
        return f"{_BY_FACTOR.get(step.way, step.way)} {name}"
    if change.before is None and isinstance(step.to, int | float):
        bound = value_text(step.option, _text(step.to))
        return f"{step.way} {name} to {bound} or {'more' if step.way == 'raise' else 'less'}"
    return f"{step.way} {name}"


def value_text(option: str, text: str) -> str:
    """Return a value of an option with its unit, as a sentence shows it."""
    number, unit = as_number(text), unit_of(option)
    if number is None:
        return codec_text(text)
    if unit == "s":
        return f"{text} s"
    if not unit.startswith("bytes") or not 1 <= number < _MOST_BYTES:
        return text
    readable = format_bytes(number)
    is_exact = parse_size(readable, "") == number
    return (readable if is_exact else f"{text} B") + unit.removeprefix("bytes")


def codec_text(text: str) -> str:
    """Return the name of a codec as people write it: `LZ4`, not `kLZ4Compression`."""
    if text.startswith("k") and text.endswith("Compression"):
        return text[1:].removesuffix("Compression")
    return {"kZSTD": "ZSTD", "kDisableCompressionOption": "Disabled"}.get(text, text)


def whole_mib(size: float) -> float:
    """Return a number of bytes as a whole number of MiB, at least one."""
    return max(1, round(size / MIB)) * MIB


def _text(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else f"{number:.15g}"


def as_number(text: str | None) -> float | None:
    """Return a value of an option as a number; None where it is no finite one."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if isfinite(number) else None
