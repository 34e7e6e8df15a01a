"""What every optimizer has to do."""

import json
import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.optimizers.base import Observation, Optimizer, seen, with_pending
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.system.launch import run_command
from lsmtune.testing.landscapes import (
    FEW,
    Judge,
    Landscape,
    always,
    make_space,
    mixed,
    mixing,
    random_history,
    run,
    shared_history,
    shared_space,
    smooth,
    trade_off,
)


def fails(config: Config) -> Observation:
    """Every config fails."""
    return Observation(config, None, None)


def breaks_limits(config: Config) -> Observation:
    """Every config is a gain that breaks a limit, some more than others."""
    return Observation(config, (0.5,), 0.1 + int(config.hash, 16) % 7)


def is_cut(config: Config) -> Observation:
    """Every config is ended early, nothing being known of its limits."""
    return Observation(config, (1.1 + int(config.hash, 16) % 3,), None, cut=True)


def is_flat(config: Config) -> Observation:
    """Every config is as good as the base."""
    return Observation(config, (1.0,), -0.1)


def is_anything(config: Config) -> Observation:
    """Values differ by twenty orders of magnitude."""
    return Observation(config, (10.0 ** (int(config.hash, 16) % 20),), 0.0)


def check_is_legal(space: KnobSpace, config: Config) -> None:
    """A proposal may be run, is what really runs, and keeps to each knob's values."""
    assert isinstance(config, Config)
    assert config.keys() == {knob.name for knob in space.knobs}
    assert space.violations(config) == []
    assert space.canonical(config) == config
    for knob in space.knobs:
        assert knob.allows(config[knob.name]), f"{knob.name} = {config[knob.name]!r}"


def proposals(name: str) -> list[str]:
    """Return hashes of proposals in every phase of a search, to compare processes."""
    space, optimizer = shared_space(), make_optimizer(name)
    landscapes = (mixing(smooth), mixing(trade_off))
    histories = (shared_history(each, n) for each in landscapes for n in (0, 1, 5, 30))
    return [optimizer.ask(space, history, 5).hash for history in histories]


def proposals_elsewhere(name: str, folder: Path) -> list[str]:
    """Return what `proposals` gives in another process, with other hashes of texts."""
    script = (
        "import json\nfrom lsmtune.testing.optimizers import proposals\n"
        f"print(json.dumps(proposals({name!r})))"
    )
    path, output = os.pathsep.join(sys.path), folder / "proposals.txt"
    variables = [f"PYTHONPATH={path}", "PYTHONHASHSEED=77"]
    run_command(["env", *variables, sys.executable, "-c", script], output=output, limit_s=300)
    return list(json.loads(output.read_text().splitlines()[-1]))


@cache
def long_history(landscape: Landscape) -> tuple[KnobSpace, list[Observation]]:
    """200 trials of all knobs, which take a second to draw."""
    space = shared_space("all")
    return space, random_history(space, 200, mixed(landscape(space)))


class OptimizerConformance:
    """The tests of an optimizer. A subclass gives the fixture `optimizer`.

    The optimizer must be found by its name, as an entry of an installed package is. The spaces are
    those of RocksDB's knobs, with all kinds of knobs and with rules between them.
    """

    def fresh(self, optimizer: Optimizer) -> Optimizer:
        """Another one like it."""
        return make_optimizer(optimizer.name)

    def test_it_says_what_it_is(self, optimizer: Optimizer) -> None:
        assert optimizer.name
        assert optimizer.summary

    @pytest.mark.parametrize("landscape", [smooth, trade_off])
    def test_proposals_are_legal_in_every_phase(
        self, optimizer: Optimizer, landscape: Landscape
    ) -> None:
        space = shared_space()
        for count in (0, 3, 12, 40):
            history = shared_history(mixing(landscape), count)
            for seed in (1, 2, 3):
                check_is_legal(space, optimizer.ask(space, history, seed))

    def test_proposals_keep_to_special_values_and_bounds(self, optimizer: Optimizer) -> None:
        space = shared_space("bloom_bits,wal_bytes_per_sync,min_level_to_compress")
        history = run(optimizer, space, 40, smooth(space))
        for observation in history:
            check_is_legal(space, observation.config)
        for knob in space.knobs:  # the special value and the range are both tried
            values = {observation.config[knob.name] for observation in history}
            assert values & set(knob.special_values)
            assert len(values - set(knob.special_values)) > 2

    def test_memory_is_kept_where_it_is_scarce(self, optimizer: Optimizer) -> None:
        space = shared_space("write_buffer_size,max_write_buffer_number,cache_size")

        def greedy(config: Config) -> Observation:
            return Observation(config, (1 / float(config["cache_size"]),), -1.0)

        for observation in run(optimizer, space, 30, greedy):
            check_is_legal(space, observation.config)

    @pytest.mark.parametrize("landscape", [smooth, trade_off])
    def test_the_same_history_and_seed_give_the_same_config(
        self, optimizer: Optimizer, landscape: Landscape
    ) -> None:
        space = shared_space()
        for count in (0, 3, 30):
            history = shared_history(mixing(landscape), count)
            again = [
                Observation(Config(dict(o.config)), o.values, o.violation, o.cut) for o in history
            ]
            optimizer.ask(space, shared_history(smooth, 7, seed=9), 3)  # no memory
            fresh = self.fresh(optimizer)
            assert optimizer.ask(space, history, 7) == fresh.ask(make_space(), again, 7)

    @pytest.mark.slow
    def test_another_process_decides_alike(self, optimizer: Optimizer, tmp_path: Path) -> None:
        assert proposals_elsewhere(optimizer.name, tmp_path) == proposals(optimizer.name)

    def test_other_seeds_propose_other_configs(self, optimizer: Optimizer) -> None:
        space = shared_space()
        history = shared_history(smooth, 20)
        assert len({optimizer.ask(space, history, seed) for seed in range(1, 6)}) > 1

    def test_a_search_changes_its_mind_with_the_results(self, optimizer: Optimizer) -> None:
        space = shared_space()
        history = shared_history(smooth, 20)
        found = Observation(space.sample(np.random.default_rng(5)), (0.01,), -0.5)
        assert optimizer.ask(space, [*history, found], 1) != optimizer.ask(space, history, 1)

    def test_nothing_is_proposed_twice_in_40_trials(self, optimizer: Optimizer) -> None:
        space = shared_space(FEW)
        history = run(optimizer, space, 40, mixed(smooth(space)))
        assert len(seen(history)) == 41

    def test_the_history_is_left_alone(self, optimizer: Optimizer) -> None:
        space = shared_space()
        history = shared_history(mixing(smooth), 15)
        before = list(history)
        optimizer.ask(space, tuple(history), 1)
        optimizer.ask(space, history, 1)
        assert history == before

    def test_without_any_history_it_proposes(self, optimizer: Optimizer) -> None:
        space = shared_space()
        check_is_legal(space, optimizer.ask(space, [], 1))

    @pytest.mark.parametrize("judge", [fails, breaks_limits, is_cut, is_flat, is_anything])
    def test_nothing_that_trials_come_to_stops_it(self, optimizer: Optimizer, judge: Judge) -> None:
        space = shared_space()
        history = shared_history(always(judge), 25)
        self._goes_on(optimizer, space, history)
        self._goes_on(optimizer, space, history[1:])  # not even the base is measured

    @pytest.mark.slow
    @pytest.mark.parametrize("landscape", [smooth, trade_off])
    def test_200_trials_of_all_knobs_do_not_stop_it(
        self, optimizer: Optimizer, landscape: Landscape
    ) -> None:
        space, history = long_history(landscape)
        assert len(space.knobs) > 80
        self._goes_on(optimizer, space, history, seeds=(1,))

    def test_a_history_from_a_host_with_another_ulimit_does_not_stop_it(
        self, optimizer: Optimizer
    ) -> None:
        history = shared_history(smooth, 25)
        assert any(o.config["open_files"] == 1024 for o in history)
        there = shared_space(open_files=4096)
        check_is_legal(there, optimizer.ask(there, history, 1))

    @pytest.mark.parametrize("landscape", [smooth, trade_off])
    def test_ask_without_pending_runs_is_unchanged(
        self, optimizer: Optimizer, landscape: Landscape
    ) -> None:
        space = shared_space()
        for count in (0, 3, 30):
            history = shared_history(mixing(landscape), count)
            same = with_pending(history, [])
            assert same == history
            assert optimizer.ask(space, same, 7) == optimizer.ask(space, history, 7)

    @pytest.mark.parametrize("landscape", [smooth, trade_off])
    def test_hosts_that_ask_at_once_get_different_configs(
        self, optimizer: Optimizer, landscape: Landscape
    ) -> None:
        space = shared_space()
        for count in (0, 3, 12, 30):
            history = shared_history(mixing(landscape), count)
            pending = self._pending(optimizer, space, history, 5)
            assert len({*pending, *seen(history)}) == len(seen(history)) + 5

    def test_order_of_pending_runs_does_not_matter(self, optimizer: Optimizer) -> None:
        space = shared_space()
        for count in (0, 12, 30):
            history = shared_history(mixing(smooth), count)
            pending = self._pending(optimizer, space, history, 3)
            asked = [[pending[at] for at in order] for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0))]
            found = {optimizer.ask(space, with_pending(history, each), 7) for each in asked}
            assert len(found) == 1

    def test_replay_with_the_stored_pending_runs_gives_the_same_config(
        self, optimizer: Optimizer
    ) -> None:
        space = shared_space()
        for count in (0, 12, 30):
            history = shared_history(mixing(smooth), count)
            pending = self._pending(optimizer, space, history, 3)
            config = optimizer.ask(space, with_pending(history, pending), 7)
            stored = [Config(dict(each)) for each in pending]
            fresh = self.fresh(optimizer)
            assert fresh.ask(make_space(), with_pending(history, stored), 7) == config

    @pytest.mark.parametrize("judge", [fails, breaks_limits, is_cut])
    def test_pending_runs_do_not_stop_it(self, optimizer: Optimizer, judge: Judge) -> None:
        space = shared_space()
        history = shared_history(always(judge), 15)
        pending = shared_history(smooth, 25)[-9:]
        for ended in ([], history[:1], history, history[1:]):
            known = with_pending(ended, [observation.config for observation in pending])
            self._goes_on(optimizer, space, known, seeds=(1,))

    def test_all_of_a_small_space_is_found_and_then_repeated(self, optimizer: Optimizer) -> None:
        space = shared_space("compaction_pri")
        history = run(optimizer, space, 3, smooth(space))
        assert {o.config["compaction_pri"] for o in history} == {0, 1, 2, 3}
        check_is_legal(space, optimizer.ask(space, history, 1))

    def test_a_small_space_with_rules_is_exhausted(self, optimizer: Optimizer) -> None:
        space = shared_space("num_levels,compaction_pri", memory=2)
        history = run(optimizer, space, 15, mixed(smooth(space)))
        assert len(seen(history)) == 16

    @staticmethod
    def _pending(
        optimizer: Optimizer, space: KnobSpace, history: Sequence[Observation], count: int
    ) -> list[Config]:
        """What so many hosts get that ask one after the other, before any of their runs ends."""
        pending: list[Config] = []
        for _ in range(count):
            pending.append(optimizer.ask(space, with_pending(history, pending), 7))
            check_is_legal(space, pending[-1])
        return pending

    @staticmethod
    def _goes_on(
        optimizer: Optimizer,
        space: KnobSpace,
        history: Sequence[Observation],
        seeds: tuple[int, ...] = (1, 2),
    ) -> None:
        for seed in seeds:
            config = optimizer.ask(space, history, seed)
            check_is_legal(space, config)
            assert config not in seen(history)
