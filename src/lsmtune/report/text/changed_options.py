"""Changed options in words, for tables."""

from dataclasses import dataclass

from lsmtune.analysis.study_view import Change
from lsmtune.knobs.knob_text import knob_value
from lsmtune.knobs.types import Knob, Value
from lsmtune.report.text.words import option_value


@dataclass(frozen=True, slots=True)
class OptionRow:
    """A changed option: values in words, the plain values, when it can change, and its trade-off.

    `deployed` is the value in the exported file, `deployed_base` the baseline's value for a
    full-size tree. Both are empty where they are not known. A plain value is the number of bytes
    of a size, or the number of a special value.
    """

    name: str
    base: str
    best: str
    raw_base: str
    raw_best: str
    deployed_base: str
    raw_deployed_base: str
    deployed: str
    raw_deployed: str
    can_change: str
    trade: str


def option_row(change: Change) -> OptionRow:
    """Return a change in words."""
    knob = change.knob
    return OptionRow(
        name=knob.name,
        base=knob_value(knob, change.base),
        best=knob_value(knob, change.best),
        raw_base=_plain(knob, change.base),
        raw_best=_plain(knob, change.best),
        deployed_base=_in_words(knob, change.deployed_base),
        raw_deployed_base=_plain(knob, change.deployed_base),
        deployed=_in_words(knob, change.deployed),
        raw_deployed=_plain(knob, change.deployed),
        can_change=_can_change(change),
        trade=knob.trade,
    )


def _can_change(change: Change) -> str:
    """Return when the option can change, and what an existing store does if it does not open."""
    text, found = "at run time" if change.knob.apply == "online" else "at restart", change.on_store
    if found is None:
        return text
    if found.is_forbidden:
        does = "refuses it" if found.forward == "refused" else "loses keys"
        return f"{text}, but an existing store {does}"
    if found.forward == "migration":
        text += " after a migration"
    back = {"migration": ", back only after a migration", "refused": ", no way back"}
    return text + back.get(found.back, "")


def _in_words(knob: Knob, value: Value | None) -> str:
    return "" if value is None else knob_value(knob, value)


def _plain(knob: Knob, value: Value | None) -> str:
    """Return the plain value; a choice that has a name has no other one."""
    if value is None:
        return ""
    if knob.labels and value in knob.choices:
        return knob_value(knob, value)
    if isinstance(value, float) and float(short := f"{value:g}") == value:
        return short
    return option_value(value)
