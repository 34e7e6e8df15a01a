"""A genetic algorithm with tournaments, uniform crossing and mutation."""

from collections.abc import Mapping, Sequence

import numpy as np

from lsmtune.knobs.design import design_configs
from lsmtune.knobs.space import KnobSpace, place_of, value_at
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.optimizers.algorithms.random import RandomSearch
from lsmtune.optimizers.base import Observation, ended, seen
from lsmtune.optimizers.judgement import ranking

_TRIES = 50


class Genetic:
    """Tournaments, uniform crossing, mutation in the scale of each knob, no config twice.

    It begins with what is advised and neighbours of it; without advice, with points spread over
    the space. Each further config is a child of two of the best, within the limits before all
    others, made legal.
    """

    name = "genetic"
    summary = "genetic algorithm: combines two good configs and changes a few values at random"

    _first = 8
    _population = 8
    _tournament = 2
    _mutations = 1.5
    """How many genes of a child change on average."""
    _step = 0.2
    """Standard deviation of a change, as a share of the knob's scale."""

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """A start while there are any, then a child of the best."""
        rng = np.random.default_rng([seed, len(history)])
        tried = seen(history)
        if len(history) <= self._first:
            for start in self._starts(space, seed):
                if start not in tried:
                    return start
        best = ranked(ended(history))[: self._population] or [space.default()]
        rate = self._mutations / len(space.knobs)
        for _ in range(_TRIES):
            parents = self._chosen(best, rng), self._chosen(best, rng)
            child = self._child(space, *parents, rate, rng)
            if child not in tried:
                return child
            rate = min(1.0, rate * 1.2)  # a small space is searched further away
        return RandomSearch().ask(space, history, seed)

    def _starts(self, space: KnobSpace, seed: int) -> list[Config]:
        """Whole-space points waste runs where advice is at hand: most are worse than the base."""
        advised = space.starts()
        if not advised:
            return design_configs(space, "sobol", self._first, seed)
        rng = np.random.default_rng(seed)
        near = [space.neighbour(advised[n % len(advised)], rng) for n in range(self._first)]
        return [*advised, *near]

    def _chosen(self, best: Sequence[Config], rng: np.random.Generator) -> Config:
        """The best of a few random ones; `best` is in order."""
        return best[int(rng.integers(len(best), size=self._tournament).min())]

    def _child(
        self, space: KnobSpace, first: Config, second: Config, rate: float, rng: np.random.Generator
    ) -> Config:
        values = {}
        for knob in space.knobs:
            value = (first if rng.random() < 1 / 2 else second)[knob.name]
            values[knob.name] = self._mutated(knob, value, rng) if rng.random() < rate else value
        return legal(space, values)

    def _mutated(self, knob: Knob, value: Value, rng: np.random.Generator) -> Value:
        """Another category, or a value some way off in the knob's scale, bounced at its ends."""
        if not knob.is_range:
            others = [other for other in knob.drawn if other != value] or [value]
            return others[int(rng.integers(len(others)))]
        place = abs(place_of(knob, value) + rng.normal(0, self._step))
        return value_at(knob, min(max(1 - abs(1 - place), 0.0), np.nextafter(1.0, 0.0)))


def ranked(history: Sequence[Observation]) -> list[Config]:
    """The configs, the best first: within the limits by value, beyond them by how far."""
    return [history[at].config for at in ranking(history) or range(len(history))]


def legal(space: KnobSpace, values: Mapping[str, Value]) -> Config:
    """The nearest legal config; what only another host allowed is as in the base."""
    here = {
        knob.name: value if knob.allows(value := values[knob.name]) else space.base[knob.name]
        for knob in space.knobs
    }
    return space.legalise(here)


make = Genetic
