"""What every optimizer has to do: a new one passes by standing in OPTIMIZERS."""

import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.constraints import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, Optimizer, seen
from lsmtune.optimizers.registry import make_optimizer

CATALOGUE = load("rocksdb")

FEW = "compaction_style,num_levels,bloom_bits,min_level_to_compress,max_write_buffer_number"
"""Knobs with few values and many special ones, so that proposals collide easily."""

Judge = Callable[[Config], tuple[float | None, float | None]]
"""Value and violation of a config, None and None where it fails."""


def make_space(knobs: str = "all", memory: float = 1) -> KnobSpace:
    """A space on RocksDB's defaults at 1/64, with advice, as studies have it."""
    base = {knob.name: knob.scaled(1 / 64).default for knob in CATALOGUE.knobs}
    chosen = tuple(knob.scaled(1 / 64) for knob in CATALOGUE.select(knobs))
    limit = MemoryLimit(round(memory * memory_bytes(base)))
    advice = ({"compaction_style": 1, "bloom_bits": 10}, {"max_write_buffer_number": 4})
    return KnobSpace(chosen, base, 1024, limit, advice).fitted()


def position(space: KnobSpace, config: Config) -> dict[str, float]:
    """Where each knob stands in its range or among its choices, from 0 to 1."""
    return {knob.name: _position(knob, config[knob.name]) for knob in space.knobs}


def _position(knob: object, value: object) -> float:
    if not knob.is_range:  # type: ignore[attr-defined]
        return knob.values.index(value) / max(1, len(knob.values) - 1)  # type: ignore[attr-defined]
    if value in knob.special_values:  # type: ignore[attr-defined]
        return 0.0
    low, high = knob.bounds()  # type: ignore[attr-defined]
    if knob.log:  # type: ignore[attr-defined]
        return math.log(value / low) / math.log(high / low)  # type: ignore[operator]
    return (value - low) / (high - low)  # type: ignore[operator, no-any-return]


def smooth(space: KnobSpace) -> Judge:
    """A bowl over the knobs, some of which matter ten times as much as others; none fails."""
    weights = {knob.name: 10.0 ** -(n % 3) for n, knob in enumerate(space.knobs)}

    def judge(config: Config) -> tuple[float, float]:
        terms = (weights[name] * (x - 0.7) ** 2 for name, x in position(space, config).items())
        return 0.1 + sum(terms), -0.5

    return judge


def base_first(space: KnobSpace) -> list[Observation]:
    """The history of a study that has measured its base."""
    return [Observation(space.default(), 1.0, -0.1)]


def random_history(space: KnobSpace, count: int, judge: Judge, seed: int = 1) -> list[Observation]:
    """The base, what is advised and random configs, as judged."""
    rng = np.random.default_rng(seed)
    configs = [*space.starts(), *(space.sample(rng) for _ in range(count))][:count]
    return base_first(space) + [Observation(config, *judge(config)) for config in configs]


def run(
    optimizer: Optimizer, space: KnobSpace, trials: int, judge: Judge, seed: int = 1
) -> list[Observation]:
    """The history after so many trials of the optimizer's choice."""
    history = base_first(space)
    for _ in range(trials):
        config = optimizer.ask(space, history, seed)
        history.append(Observation(config, *judge(config)))
    return history


def mixed(space: KnobSpace) -> Judge:
    """A third of the configs fails, a third is infeasible, by what their hash happens to be."""
    value = smooth(space)

    def judge(config: Config) -> tuple[float | None, float | None]:
        fate = int(config.hash, 16) % 3
        return (None, None) if fate == 0 else (value(config)[0], 0.4 if fate == 1 else -0.1)

    return judge


def fails(_: Config) -> tuple[None, None]:
    """Every config fails."""
    return None, None


def breaks_limits(config: Config) -> tuple[float, float]:
    """Every config is a gain that breaks a limit, some more than others."""
    return 0.5, 0.1 + int(config.hash, 16) % 7


def check_is_legal(space: KnobSpace, config: Config) -> None:
    """A proposal may be run, is what really runs, and keeps to each knob's values."""
    assert isinstance(config, Config)
    assert config.keys() == {knob.name for knob in space.knobs}
    assert space.violations(config) == []
    assert space.canonical(config) == config
    for knob in space.knobs:
        assert knob.allows(config[knob.name]), f"{knob.name} = {config[knob.name]!r}"


def proposals_as_text(name: str) -> str:
    """Hashes of proposals in every phase of a search, for a comparison between processes."""
    space, optimizer = make_space(), make_optimizer(name)
    lengths = (0, 1, 5, 30)
    histories = (random_history(space, length, mixed(space)) for length in lengths)
    return " ".join(optimizer.ask(space, history, 5).hash for history in histories)


class OptimizerConformance:
    """The tests; a subclass gives the fixture `optimizer`."""

    def test_it_says_what_it_is(self, optimizer: Optimizer) -> None:
        assert optimizer.name
        assert optimizer.summary

    def test_proposals_are_legal_in_every_phase(self, optimizer: Optimizer) -> None:
        space = make_space()
        for count in (0, 3, 12, 40):
            history = random_history(space, count, mixed(space))
            for seed in (1, 2, 3):
                check_is_legal(space, optimizer.ask(space, history, seed))

    def test_proposals_keep_to_special_values_and_bounds(self, optimizer: Optimizer) -> None:
        space = make_space("bloom_bits,wal_bytes_per_sync,min_level_to_compress")
        history = run(optimizer, space, 40, smooth(space))
        for observation in history:
            check_is_legal(space, observation.config)
        for knob in space.knobs:  # the special value and the range are both tried
            values = {observation.config[knob.name] for observation in history}
            assert values & set(knob.special_values)
            assert len(values - set(knob.special_values)) > 2

    def test_memory_is_kept_where_it_is_scarce(self, optimizer: Optimizer) -> None:
        space = make_space("write_buffer_size,max_write_buffer_number,cache_size")
        greedy = run(optimizer, space, 30, lambda c: (1 / float(c["cache_size"]), -1.0))
        for observation in greedy:
            check_is_legal(space, observation.config)

    def test_the_same_history_and_seed_give_the_same_config(self, optimizer: Optimizer) -> None:
        space = make_space()
        for count in (0, 3, 30):
            history = random_history(space, count, mixed(space))
            again = [Observation(Config(dict(o.config)), o.value, o.violation) for o in history]
            optimizer.ask(space, random_history(space, 7, smooth(space), seed=9), 3)  # no memory
            fresh = make_optimizer(optimizer.name)
            assert optimizer.ask(space, history, 7) == fresh.ask(make_space(), again, 7)

    def test_another_process_decides_alike(self, optimizer: Optimizer) -> None:
        script = f"import conformance; print(conformance.proposals_as_text({optimizer.name!r}))"
        path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
        answer = subprocess.run(
            [sys.executable, "-c", script],
            env=os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "77"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert answer.stdout.strip() == proposals_as_text(optimizer.name)

    def test_other_seeds_propose_other_configs(self, optimizer: Optimizer) -> None:
        space = make_space()
        history = random_history(space, 20, smooth(space))
        assert len({optimizer.ask(space, history, seed) for seed in range(1, 6)}) == 5

    def test_a_search_changes_its_mind_with_the_results(self, optimizer: Optimizer) -> None:
        space = make_space()
        history = random_history(space, 20, smooth(space))
        longer = [*history, Observation(space.sample(np.random.default_rng(5)), 0.01, -0.5)]
        assert optimizer.ask(space, longer, 1) != optimizer.ask(space, history, 1)

    def test_nothing_is_proposed_twice_in_60_trials(self, optimizer: Optimizer) -> None:
        space = make_space(FEW)
        history = run(optimizer, space, 60, mixed(space))
        assert len(seen(history)) == 61

    def test_the_history_is_left_alone(self, optimizer: Optimizer) -> None:
        space = make_space()
        history = random_history(space, 15, mixed(space))
        before = list(history)
        optimizer.ask(space, tuple(history), 1)
        optimizer.ask(space, history, 1)
        assert history == before

    def test_without_any_history_it_proposes(self, optimizer: Optimizer) -> None:
        space = make_space()
        check_is_legal(space, optimizer.ask(space, [], 1))

    def test_failures_alone_do_not_stop_it(self, optimizer: Optimizer) -> None:
        self._goes_on(optimizer, make_space(), random_history(make_space(), 25, fails))
        all_failed = random_history(make_space(), 25, fails)[1:]
        self._goes_on(optimizer, make_space(), all_failed)

    def test_infeasible_trials_alone_do_not_stop_it(self, optimizer: Optimizer) -> None:
        self._goes_on(optimizer, make_space(), random_history(make_space(), 25, breaks_limits))

    def test_equal_values_do_not_stop_it(self, optimizer: Optimizer) -> None:
        flat = random_history(make_space(), 25, lambda _: (1.0, -0.1))
        self._goes_on(optimizer, make_space(), flat)

    def test_values_of_any_size_do_not_stop_it(self, optimizer: Optimizer) -> None:
        history = random_history(make_space(), 25, lambda c: (10.0 ** (int(c.hash, 16) % 20), 0.0))
        self._goes_on(optimizer, make_space(), history)

    def test_200_trials_do_not_stop_it(self, optimizer: Optimizer) -> None:
        space = make_space()
        self._goes_on(optimizer, space, random_history(space, 200, mixed(space)))

    def test_a_history_from_a_host_with_another_ulimit_does_not_stop_it(
        self, optimizer: Optimizer
    ) -> None:
        here = make_space()
        history = random_history(here, 25, smooth(here))
        assert any(o.config["open_files"] == 1024 for o in history)
        there = KnobSpace(
            tuple(knob.scaled(1 / 64) for knob in CATALOGUE.select("all")),
            here.base, 4096, here.memory, here.advice,
        ).fitted()  # fmt: skip
        config = optimizer.ask(there, history, 1)
        check_is_legal(there, config)

    def test_all_of_a_small_space_is_found_and_then_repeated(self, optimizer: Optimizer) -> None:
        space = make_space("compaction_pri")
        history = run(optimizer, space, 3, smooth(space))
        assert {o.config["compaction_pri"] for o in history} == {0, 1, 2, 3}
        check_is_legal(space, optimizer.ask(space, history, 1))

    def test_a_small_space_with_rules_is_exhausted(self, optimizer: Optimizer) -> None:
        space = make_space("num_levels,compaction_pri", memory=2)
        history = run(optimizer, space, 15, mixed(space))
        assert len(seen(history)) == 16

    @staticmethod
    def _goes_on(optimizer: Optimizer, space: KnobSpace, history: Sequence[Observation]) -> None:
        for seed in (1, 2):
            config = optimizer.ask(space, history, seed)
            check_is_legal(space, config)
            assert config not in seen(history)
