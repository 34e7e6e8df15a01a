"""The settings of a config for a tree of another size."""

from dataclasses import dataclass
from fractions import Fraction

from lsmtune.errors import UserError
from lsmtune.knobs.types import Config, Knob, Settings, Value
from lsmtune.rescale_published import rescaled_published
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import without_load


@dataclass(frozen=True, slots=True)
class Rescaled:
    """The settings of a config at another scale.

    `replaced` and `reasons` are empty for studies whose configs are legal at full size. For
    published studies, `replaced` has the scaled values of options that have another value in the
    settings. `reasons` are the limits and rules that the scaled values break, as sentences
    without a full stop.
    """

    settings: Settings
    replaced: Settings
    reasons: tuple[str, ...] = ()


def rescaled(spaces: KnobSpaces, config: Config, scale: Fraction) -> Rescaled:
    """Return a config at another scale: sizes grow by the same factor, the rest stays.

    UserError if a tree of that scale cannot have a value of the config.
    """
    if spaces.ground.rule is None:
        return Rescaled(*rescaled_published(spaces, config, scale))
    here, there = spaces.at(), spaces.at(scale)
    values = here.at_full_size(config)
    if there.full is not None:
        values = there.full.down(values)
    known = {knob.name: values.get(knob.name, there.base[knob.name]) for knob in there.knobs}
    for knob in there.knobs:
        _check_possible(knob, known[knob.name], scale)
    return Rescaled(without_load(there.settings(known)), {})


def _check_possible(knob: Knob, value: Value, scale: Fraction) -> None:
    """Raise UserError for a value below the least that the engine accepts."""
    if isinstance(value, (bool, str)) or knob.least is None or value in knob.special_values:
        return
    if knob.scales and value < knob.least:
        raise UserError(
            f"scale: {scale} is too small: {knob.name} would be {value}, but the smallest possible "
            f"value is {knob.least:.15g}; use a larger scale"
        )
