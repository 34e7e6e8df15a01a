"""Knobs in Optuna's terms, and back.

A knob becomes a parameter of its name. One with special values becomes two: a choice between
them and the range, and the range, in whose middle a config with a special value stands.
"""

from collections.abc import Iterable, Mapping, Sequence

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from lsmtune.knobs.types import Knob, Value

_IN_RANGE = "in range"
_MOST_COUNTED = 64
"""Whole numbers of a wider range are taken for a continuum, which costs a tenth of the time."""


def distributions(knobs: Sequence[Knob]) -> dict[str, BaseDistribution]:
    """The parameters of the knobs, those with a single value left out."""
    found: dict[str, BaseDistribution] = {}
    for knob in knobs:
        found[knob.name] = _distribution(knob)
        if knob.special:
            found[_special_name(knob)] = CategoricalDistribution([_IN_RANGE, *knob.special_values])
    return {name: distribution for name, distribution in found.items() if not distribution.single()}


def to_params(
    knobs: Sequence[Knob], configs: Sequence[Mapping[str, Value]]
) -> list[dict[str, Value] | None]:
    """The parameters that stand for each config's values of these knobs.

    None for a config with a value that a search would not draw: an earlier host may have allowed
    it. Each value is looked at once, however many configs have it.
    """
    codes = [
        {value: _code(knob, value) for value in {config[knob.name] for config in configs}}
        for knob in knobs
    ]
    return [
        _joined(code[config[knob.name]] for knob, code in zip(knobs, codes, strict=True))
        for config in configs
    ]


def to_values(knobs: Sequence[Knob], params: Mapping[str, Value]) -> dict[str, Value]:
    """The values of the knobs that the parameters stand for."""
    values: dict[str, Value] = {}
    for knob in knobs:
        special = params.get(_special_name(knob), _IN_RANGE)
        if special != _IN_RANGE:
            values[knob.name] = special
        elif knob.name in params:
            value = params[knob.name]
            values[knob.name] = knob.clip(float(value)) if knob.is_range else value
    return values


def _distribution(knob: Knob) -> BaseDistribution:
    if not knob.is_range:
        return CategoricalDistribution(knob.drawn)
    low, high = knob.bounds()
    if knob.kind == "int" and high - low < _MOST_COUNTED:
        return IntDistribution(int(low), int(high), log=knob.log)
    return FloatDistribution(low, high, log=knob.log)


def _code(knob: Knob, value: Value) -> dict[str, Value] | None:
    if not knob.allows(value) or not (knob.is_range or value in knob.drawn):
        return None
    if not knob.special:
        return {knob.name: value}
    if value in knob.special_values:
        return {knob.name: _middle(knob), _special_name(knob): value}
    return {knob.name: value, _special_name(knob): _IN_RANGE}


def _joined(codes: Iterable[dict[str, Value] | None]) -> dict[str, Value] | None:
    joined: dict[str, Value] = {}
    for code in codes:
        if code is None:
            return None
        joined |= code
    return joined


def _special_name(knob: Knob) -> str:
    return f"{knob.name}:special"


def _middle(knob: Knob) -> int | float:
    low, high = knob.bounds()
    return knob.clip((low * high) ** 0.5 if knob.log else (low + high) / 2)
