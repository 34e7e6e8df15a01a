"""Configs of published studies at another scale.

Such a study checks memory at the scale of its trials, and a block cache that is not given does not
scale. So its config may need too much memory at full size, and lsmtune has to change it.
"""

from fractions import Fraction
from math import isclose

from lsmtune.knobs.types import Config, Knob, Settings, Value
from lsmtune.spaces import KnobSpaces, catalogue_in
from lsmtune.spec import without_load


def rescaled_published(
    spaces: KnobSpaces, config: Config, scale: Fraction
) -> tuple[Settings, Settings, tuple[str, ...]]:
    """Return the settings of a config at another scale, the values that they replace, and why.

    Values that a search drew as round ones become exactly round. Values equal to the baseline stay
    equal to it, to the byte. The memory limit of that scale applies, by default the memory of the
    baseline. The block cache is smaller than the baseline's only if memtables or row cache use its
    memory. At the study's own scale, the config is returned as it ran, even if lsmtune has become
    stricter since.
    """
    spec, space = spaces.spec, spaces.at(scale)
    if scale == spec.scale_value:
        return without_load(space.settings(config)), {}, ()
    here = spaces.at().default()
    growth = float(scale / spec.scale_value)
    grown = catalogue_in(spec, spaces.ground).scaled(config, growth)
    grown |= {knob.name: _as_drawn(knob, grown[knob.name], growth) for knob in space.knobs}
    kept = {name: space.base[name] for name in config if config[name] == here[name]}
    wanted = {**grown, **kept}
    # Memtables grow with the tree, and caches may not. So memtables are what is too large.
    plain = space.canonical(wanted)
    legal = space.with_free_memory_cached(space.legalise(wanted, memtables_first=True))
    replaced = {n: plain[n] for n in legal if not _nearly(legal[n], plain[n])}
    reasons = tuple(space.violations(plain))
    return without_load(space.settings(legal)), replaced, reasons


def _as_drawn(knob: Knob, value: Value, growth: float) -> Value:
    """Return the round value if a value differs from it only because a byte was rounded."""
    if isinstance(value, (bool, str)) or not (knob.grid and knob.scales):
        return value
    nearest = knob.clip(value)
    return nearest if abs(nearest - value) <= growth else value


def _nearly(value: Value, other: Value) -> bool:
    """Return True for equal values, and for numbers that differ by less than 1 %."""
    if isinstance(value, str) or isinstance(other, str):
        return value == other
    return isclose(value, other, rel_tol=0.01)
