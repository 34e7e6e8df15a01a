"""The settings of a config for a tree of another size."""

from fractions import Fraction

from lsmtune.errors import UserError
from lsmtune.knobs.types import Config, Knob, Settings, Value
from lsmtune.spaces import KnobSpaces, catalogue_in
from lsmtune.spec import without_load


def rescaled(spaces: KnobSpaces, config: Config, scale: Fraction) -> Settings:
    """Return the settings of a config at another scale: sizes grow by one factor, the rest stays.

    UserError if a tree of that scale cannot have a value of the config.
    """
    here, there = spaces.at(), spaces.at(scale)
    if spaces.ground.rule is None:
        values = _grown(spaces, config, scale)
    else:
        values = here.at_full_size(config)
        values = values if there.full is None else there.full.down(values)
    known = {knob.name: values.get(knob.name, there.base[knob.name]) for knob in there.knobs}
    for knob in there.knobs:
        _check_possible(knob, known[knob.name], scale)
    return without_load(there.settings(known))


def _grown(spaces: KnobSpaces, config: Config, scale: Fraction) -> Settings:
    """Return the values of a published study's config; what is the baseline's stays so."""
    base, base_there = spaces.at().default(), spaces.at(scale).base
    growth = float(scale / spaces.spec.scale_value)
    grown = catalogue_in(spaces.spec, spaces.ground).scaled(config, growth)
    return {n: base_there[n] if config[n] == base[n] else value for n, value in grown.items()}


def _check_possible(knob: Knob, value: Value, scale: Fraction) -> None:
    """Raise UserError for a value below the least that the engine accepts."""
    if isinstance(value, (bool, str)) or knob.least is None or value in knob.special_values:
        return
    if knob.scales and value < knob.least:
        raise UserError(
            f"scale: {scale} is too small: {knob.name} would be {value}, but the smallest possible "
            f"value is {knob.least:.15g}; use a larger scale"
        )
