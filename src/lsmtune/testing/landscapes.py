"""Spaces to search, and judges that say what a config of them comes to."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Knob, Settings, Value
from lsmtune.optimizers.base import Observation, Optimizer

CATALOGUE = rocksdb_catalogue()
CACHE = CATALOGUE.knob("cache_size")
"""The block cache has its full size, so that memory leaves room for a search."""

FEW = "compaction_style,num_levels,bloom_bits,min_level_to_compress,max_write_buffer_number"
"""Knobs with few values and many special ones, so that proposals collide easily."""

SMOOTH = (
    "write_buffer_size,max_write_buffer_number,level0_file_num_compaction_trigger,"
    "max_bytes_for_level_base,target_file_size_base,block_size,bloom_bits,cache_size"
)
"""Knobs that are ranges, so that positions mean something."""

Judge = Callable[[Config], Observation]
"""What a config comes to."""

Landscape = Callable[[KnobSpace], Judge]


def make_space(
    knobs: str = "jin2022,compaction_style", memory: float = 1, open_files: int = 1024
) -> KnobSpace:
    """A space on RocksDB's defaults at 1/64, with advice, as studies have it."""
    base = CATALOGUE.defaults(1 / 64) | {"cache_size": CACHE.default}
    chosen = tuple(
        CACHE if knob.name == CACHE.name else knob.scaled(1 / 64)
        for knob in CATALOGUE.select(knobs)
    )
    limit = MemoryLimit(round(memory * memory_bytes(base)))
    advice: tuple[Settings, ...] = (
        {"compaction_style": 1, "bloom_bits": 10},
        {"max_write_buffer_number": 4},
    )
    return KnobSpace(chosen, base, open_files, limit, advice).fitted()


shared_space = cache(make_space)
"""The same space each time: many tests only read it, and making one takes as long as they do."""


def position(space: KnobSpace, config: Config) -> dict[str, float]:
    """Where each knob stands in its range or among its choices, from 0 to 1."""
    return {knob.name: _position(knob, config[knob.name]) for knob in space.knobs}


def _position(knob: Knob, value: Value) -> float:
    if not knob.is_range:
        return knob.values.index(value) / max(1, len(knob.values) - 1)
    if value in knob.special_values:
        return 0.0
    low, high = knob.bounds()
    if knob.log:
        return math.log(float(value) / low) / math.log(high / low)
    return (float(value) - low) / (high - low)


def smooth(space: KnobSpace) -> Judge:
    """A bowl over the knobs, some of which matter ten times as much as others; none fails."""
    weights = {knob.name: 10.0 ** -(n % 3) for n, knob in enumerate(space.knobs)}

    def judge(config: Config) -> Observation:
        terms = (weights[name] * (x - 0.7) ** 2 for name, x in position(space, config).items())
        return Observation(config, (0.1 + sum(terms),), -0.5)

    return judge


def trade_off(space: KnobSpace) -> Judge:
    """Two bowls: the front is where all knobs stand at one place between 0.2 and 0.8."""

    def judge(config: Config) -> Observation:
        places = position(space, config).values()
        values = tuple(0.1 + sum((x - goal) ** 2 for x in places) for goal in (0.2, 0.8))
        return Observation(config, values, -0.5)

    return judge


def mixed(judge: Judge) -> Judge:
    """Of the configs, 30 % fail, 20 % break limits and 20 % are cut, by what their hash is."""

    def judge_mixed(config: Config) -> Observation:
        told, fate = judge(config), int(config.hash, 16) % 10
        if fate < 3:
            return Observation(config, None, None)
        return Observation(config, told.values, 0.4 if fate < 5 else -0.1, cut=fate in (5, 6))

    return judge_mixed


@cache
def mixing(landscape: Landscape) -> Landscape:
    """The landscape with `mixed` judges."""
    return lambda space: mixed(landscape(space))


@cache
def always(judge: Judge) -> Landscape:
    """The landscape of a judge that needs no space."""
    return lambda _: judge


def base_first(space: KnobSpace, goals: int = 1) -> list[Observation]:
    """The history of a study that has measured its base."""
    return [Observation(space.default(), (1.0,) * goals, -0.1)]


def random_history(space: KnobSpace, count: int, judge: Judge, seed: int = 1) -> list[Observation]:
    """The base, what is advised and random configs, as judged."""
    rng = np.random.default_rng(seed)
    configs = [*space.starts(), *(space.sample(rng) for _ in range(count))][:count]
    told = [judge(config) for config in configs]
    goals = next((len(o.values) for o in told if o.values is not None), 1)
    return base_first(space, goals) + told


def shared_history(landscape: Landscape, count: int, seed: int = 1) -> list[Observation]:
    """A `random_history` of the usual space, which is drawn once for all optimizers."""
    return list(_drawn(landscape, count, seed))


@cache
def _drawn(landscape: Landscape, count: int, seed: int) -> tuple[Observation, ...]:
    space = shared_space()
    return tuple(random_history(space, count, landscape(space), seed))


def run(
    optimizer: Optimizer,
    space: KnobSpace,
    trials: int,
    judge: Judge,
    seed: int = 1,
    *,
    goals: int = 1,
) -> list[Observation]:
    """The history after so many trials of the optimizer's choice."""
    history = base_first(space, goals)
    for _ in range(trials):
        history.append(judge(optimizer.ask(space, history, seed)))
    return history


def hypervolume(history: list[Observation], corner: tuple[float, float]) -> float:
    """The area between the corner and the two values of what dominates it."""
    area, lowest = 0.0, corner[1]
    for first, second in sorted(o.values for o in history if o.values is not None):
        if first < corner[0] and second < lowest:
            area += (corner[0] - first) * (lowest - second)
            lowest = second
    return area
