"""The knob space: which knobs are tuned, on top of which base, under which rules."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from lsmtune.errors import UserError
from lsmtune.knobs.constraints import Context, MemoryLimit, normalise, refusals
from lsmtune.knobs.types import Config, Knob, Settings, Value

_TRIES = 1000
_SPECIAL_SHARE = 0.2
"""How often a special value is drawn, as LlamaTune (Kanellis et al. 2022) found good."""
_CHANGED_SHARE = 0.2
_SHRINK_ORDER = ("cache_size", "max_write_buffer_number", "write_buffer_size")


@dataclass(frozen=True, slots=True)
class KnobSpace:
    """The tuned knobs, the base settings of all others, and what must hold between them.

    `base` holds a value for every option that the engine is given; the tuned ones among them
    are where tuning starts. `open_files` is how many a process may have (soft ulimit). `advice`
    are settings that are worth a try early. A config of the space has a value for each tuned
    knob, and is *canonical*: what the engine really runs.
    """

    knobs: tuple[Knob, ...]
    base: Settings
    open_files: int
    memory: MemoryLimit
    advice: tuple[Settings, ...] = ()

    def __post_init__(self) -> None:
        if (violation := self.memory.violation(self.base)) is not None:
            raise UserError(f"memory: the base itself does not fit: {violation}")

    def fitted(self) -> "KnobSpace":
        """The space without the values that the host would turn into others."""
        return replace(self, knobs=tuple(self._fitted(knob) for knob in self.knobs))

    def _fitted(self, knob: Knob) -> Knob:
        runs = (self.settings({knob.name: choice})[knob.name] for choice in knob.choices)
        return knob.model_copy(update={"choices": tuple(dict.fromkeys(runs))})

    def default(self) -> Config:
        """The config of the base."""
        return self.canonical({knob.name: self.base[knob.name] for knob in self.knobs})

    def settings(self, config: Mapping[str, Value]) -> Settings:
        """All settings of a config, as the engine will run them."""
        return normalise({**self.base, **config}, Context(self.base, self.open_files))

    def canonical(self, values: Mapping[str, Value]) -> Config:
        """The values as the engine will run them: what differs only in name becomes equal."""
        settings = self.settings(values)
        return Config({knob.name: _exact(knob, settings[knob.name]) for knob in self.knobs})

    def violations(self, config: Mapping[str, Value]) -> list[str]:
        """Every reason why the config must not be run; empty for a legal one."""
        settings = self.settings(config)
        memory = self.memory.violation(settings)
        return refusals(settings) + ([memory] if memory else [])

    def starts(self) -> tuple[Config, ...]:
        """The advised configs, made legal; those that come out as the base left out."""
        tuned = {knob.name: knob for knob in self.knobs}
        found = [
            self.legalise({n: _settled(tuned[n], v) for n, v in settings.items() if n in tuned})
            for settings in self.advice
        ]
        return tuple(config for config in dict.fromkeys(found) if config != self.default())

    def neighbour(self, config: Config, rng: np.random.Generator) -> Config:
        """A legal config that differs from the given one in about a fifth of its knobs."""
        for _ in range(_TRIES):
            drawn = {k.name: draw(k, rng) for k in self.knobs if rng.random() < _CHANGED_SHARE}
            changed = self.canonical({**config, **drawn})
            if changed != config and not self.violations(changed):
                return changed
        return self.sample(rng)

    def sample(self, rng: np.random.Generator) -> Config:
        """A legal config, uniform in the scales of the knobs wherever the rules leave room."""
        for _ in range(_TRIES):
            config = self.canonical({knob.name: draw(knob, rng) for knob in self.knobs})
            if not self.violations(config):
                return config
        return self.legalise(config)

    def legalise(self, values: Mapping[str, Value]) -> Config:
        """The canonical config nearest to the values that may be run.

        Memory over the limit is given back by the block cache first, then by the number of
        memtables, then by their size. UserError where no config of the space is legal.
        """
        settings = self.settings(values)
        for name in _SHRINK_ORDER:
            knob = next((knob for knob in self.knobs if knob.name == name), None)
            if knob is not None and self.memory.violation(settings) is not None:
                settings = self.settings({**settings, name: self._shrunk(knob, settings)})
        config = self.canonical({knob.name: settings[knob.name] for knob in self.knobs})
        if violations := self.violations(config):
            raise UserError(f"knobs: no legal value is left: {'; '.join(violations)}")
        return config

    def _shrunk(self, knob: Knob, settings: Settings) -> Value:
        cache, number, size = (float(settings[name]) for name in _SHRINK_ORDER)
        room = self.memory.limit_bytes
        wanted = {
            "cache_size": room - number * size,
            "max_write_buffer_number": (room - cache) // size,
            "write_buffer_size": (room - cache) // number,
        }
        return knob.clip(int(min(wanted[knob.name], float(settings[knob.name]))))


def draw(knob: Knob, rng: np.random.Generator) -> Value:
    """A random value of the knob: uniform in its scale, its special values with a share."""
    if not knob.is_range:
        return knob.values[int(rng.integers(len(knob.values)))]
    if knob.special and rng.random() < _SPECIAL_SHARE:
        return knob.special_values[int(rng.integers(len(knob.special)))]
    low, high = knob.bounds()
    if knob.kind == "int" and not knob.log:
        return int(rng.integers(int(low), int(high) + 1))
    if knob.log:
        return knob.clip(float(np.exp(rng.uniform(np.log(low), np.log(high)))))
    return knob.clip(float(rng.uniform(low, high)))


def _exact(knob: Knob, value: Value) -> Value:
    if not knob.is_range or isinstance(value, str):
        return value
    return knob.rounded(float(value))


def _settled(knob: Knob, value: Value) -> Value:
    """An advised value, moved into the knob's range where this space has a narrower one."""
    if knob.allows(value) or isinstance(value, (bool, str)) or not knob.is_range:
        return value
    return knob.clip(value)
