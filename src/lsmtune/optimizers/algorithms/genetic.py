"""Genetic algorithms: that of the parameter study as published, and one with sane operators.

Jin, Choi, Choi, Sung, Park: Improvement of RocksDB Performance via Large-Scale Parameter Analysis
and Optimization (2022). What a generation is follows from the order of the history alone.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from lsmtune.knobs.design import design_configs
from lsmtune.knobs.space import KnobSpace, place_of, value_at
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.optimizers.algorithms.random import RandomSearch
from lsmtune.optimizers.base import Observation, seen
from lsmtune.optimizers.judgement import ranking
from lsmtune.optimizers.pending import ended

_TRIES = 50


class PublishedGenetic:
    """The paper's (section 4.5): of eight, four survive, two are crossed and two are new.

    The best two of all are the parents. A crossing is cut at one point, which the paper leaves
    open; where it has been measured already, an entirely new chromosome takes its place.
    """

    name = "genetic-jin2022"
    summary = (
        "genetic algorithm of Jin et al. 2022 with a population of 8, as in their experiments "
        "(section 4.5)"
    )

    _population = 8
    _crossed = 2
    _new = 2

    def ask(self, space: KnobSpace, history: Sequence[Observation], seed: int) -> Config:
        """The next chromosome of the generation that is under way."""
        chromosomes = max(0, len(history) - 1)  # the first is the base
        new = RandomSearch().ask(space, history, seed)
        bred = self._crossed + self._new
        generation, place = divmod(chromosomes - self._population, bred)
        if chromosomes < self._population or place >= self._crossed:
            return new
        before = _ranked(history[1 : 1 + self._population + generation * bred])
        cuts = np.random.default_rng([seed, generation]).permutation(len(space.knobs)).tolist()
        children = _crossings(space, before[0], before[1 % len(before)], cuts, place)
        tried = seen(history)
        return next((child for child in children if child not in tried), new)


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
        best = _ranked(ended(history))[: self._population] or [space.default()]
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
        return _legal(space, values)

    def _mutated(self, knob: Knob, value: Value, rng: np.random.Generator) -> Value:
        """Another category, or a value some way off in the knob's scale, bounced at its ends."""
        if not knob.is_range:
            others = [other for other in knob.drawn if other != value] or [value]
            return others[int(rng.integers(len(others)))]
        place = abs(place_of(knob, value) + rng.normal(0, self._step))
        return value_at(knob, min(max(1 - abs(1 - place), 0.0), np.nextafter(1.0, 0.0)))


def _ranked(history: Sequence[Observation]) -> list[Config]:
    """The configs, the best first: within the limits by value, beyond them by how far."""
    return [history[at].config for at in ranking(history) or range(len(history))]


def _crossings(
    space: KnobSpace, first: Config, second: Config, cuts: Sequence[int], place: int
) -> list[Config]:
    """Children that have the one's genes before a cut, the other's behind it."""
    one, other = (first, second) if place % 2 == 0 else (second, first)
    names = [knob.name for knob in space.knobs]
    return [
        _legal(space, {n: (one if at < cut else other)[n] for at, n in enumerate(names)})
        for cut in cuts
        if cut > 0
    ]


def _legal(space: KnobSpace, values: Mapping[str, Value]) -> Config:
    """The nearest legal config; what only another host allowed is as in the base."""
    here = {
        knob.name: value if knob.allows(value := values[knob.name]) else space.base[knob.name]
        for knob in space.knobs
    }
    return space.legalise(here)


make = Genetic
