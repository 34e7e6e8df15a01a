"""Verification: how many pairs, in which order, under which seeds, and when it gives up."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import memory_bytes
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.search import run_search
from lsmtune.study.session import Session
from lsmtune.study.verify import verify, verify_contenders
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec
from lsmtune.verdict import Verdict
from lsmtune.workloads import Workload

SEARCH_SEED = 1
BEST = 0
"""The value of compaction_pri that wins."""


BASE = 3
MOST_SEARCH_SEED = 3
"""Repeats have the seeds 2 and 3, verification has others."""


class Scripts:
    """The engine's results: the gain, the noise of each run, and the accidents by run."""

    def __init__(self, gain: float = 0.5, noise: float = 0.0) -> None:
        self.gain = gain
        self.noise = noise
        self.verifying = 0
        self.accidents: dict[int, TrialResult | BaseException] = {}
        self._rng = np.random.default_rng(3)

    def __call__(self, spec: TrialSpec) -> TrialResult:
        best = spec.settings["compaction_pri"] == BEST
        if spec.seed == SEARCH_SEED:
            return measured(write_amp=0.5 if best else 1.0)
        fate = self.accidents.get(self.verifying)
        self.verifying += 1
        if isinstance(fate, BaseException):
            raise fate
        noise = float(np.exp(self._rng.normal(0, self.noise))) if self.noise else 1.0
        return fate or measured(write_amp=(self.gain if best else 1.0) * noise)


CRASH = TrialResult(status=Status.CRASHED, reason="signal 6")


@contextmanager
def tuned(home: Home, script: Script, **given: Any) -> Iterator[Session]:
    """A study that has found its winner."""
    settings = {"study": "s", "objective": "write_amp", "optimizer": "random", "repeats": 0,
                "base_runs": 1}  # fmt: skip
    spec = make_spec({"knobs": "compaction_pri", **settings, **given}, "test")
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        run_search(study)
        yield study


def verified(home: Home, script: Script, **given: Any) -> Verdict:
    with tuned(home, script, **given) as study:
        return verify(study, study.spec.scale, study.spec.workload)


def runs(home: Home) -> list[StoredTrial]:
    """The runs of all verifications."""
    return [t for t in home.trials(home.study("s")) if t.verification_id is not None]


def runs_of(study: Session, role: Role) -> list[StoredTrial]:
    return [trial for trial in study.trials() if trial.role is role]


def by_pair(home: Home) -> dict[int, list[Role]]:
    """The roles of each pair in the order in which they ran."""
    found: dict[int, list[Role]] = {}
    for trial in runs(home):
        assert trial.pair is not None
        found.setdefault(trial.pair, []).append(trial.role)
    return found


def test_six_pairs_are_enough_where_they_agree(home: Home) -> None:
    verdict = verified(home, Scripts(gain=0.8))
    assert verdict.pairs == 6
    assert verdict.claim == "gain"
    assert verdict.objective.median == pytest.approx(0.8)
    assert len(runs(home)) == 12


def test_the_study_may_ask_for_more(home: Home) -> None:
    assert verified(home, Scripts(), pairs=9).pairs == 9


def test_noisy_pairs_go_on_to_the_limit(home: Home) -> None:
    verdict = verified(home, Scripts(noise=0.5), max_pairs=10)
    assert verdict.pairs == 10
    assert verdict.half_width > 0.05


def test_pairs_end_as_soon_as_the_gain_is_known_to_five_percent(home: Home) -> None:
    verdict = verified(home, Scripts(noise=0.05), max_pairs=200)
    assert 6 < verdict.pairs < 60
    assert verdict.half_width <= 0.05


def test_a_gain_that_was_luck_is_not_claimed(home: Home) -> None:
    verdict = verified(home, Scripts(gain=1.0))
    assert verdict.claim == "no gain"


def test_each_pair_is_best_and_base_in_an_order_that_varies(home: Home) -> None:
    verified(home, Scripts(noise=0.5), max_pairs=20)
    orders = by_pair(home)
    assert len(orders) == 20
    assert all(set(order) == {Role.VERIFY_BEST, Role.VERIFY_BASE} for order in orders.values())
    best_first = sum(order[0] is Role.VERIFY_BEST for order in orders.values())
    assert 3 <= best_first <= 17


def test_each_pair_has_a_seed_of_its_own(home: Home) -> None:
    verified(home, Scripts())
    seeds = {trial.pair: set[int]() for trial in runs(home)}
    for trial in runs(home):
        seeds[trial.pair].add(trial.spec.seed)
    assert all(len(of_pair) == 1 for of_pair in seeds.values())
    different = set.union(*seeds.values())
    assert len(different) == 6
    assert SEARCH_SEED not in different


def test_pairs_follow_the_seed_of_the_study(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        best = spec.settings["compaction_pri"] == BEST
        return measured(write_amp=0.5 if best else 1.0)

    seeds: list[set[int]] = []
    for name, seed in (("one", 1), ("two", 2000)):
        with tuned(home, script, study=name, seed=seed) as study:
            verify(study, study.spec.scale, study.spec.workload)
            found = study.trials()
        seeds.append({t.spec.seed for t in found if t.verification_id is not None})
    # The home counts its verifications, and each has 10,007 seeds of its own.
    assert {seed - 10_007 - 1999 for seed in seeds[1]} == seeds[0]


def test_the_runs_are_those_of_winner_and_base(home: Home) -> None:
    verified(home, Scripts())
    for trial in runs(home):
        chosen = BEST if trial.role is Role.VERIFY_BEST else 3
        assert trial.config["compaction_pri"] == trial.spec.settings["compaction_pri"] == chosen


def test_a_finished_verification_is_not_run_again(home: Home) -> None:
    first = verified(home, Scripts())
    assert verified(home, Scripts()) == first
    assert len(runs(home)) == 12


def test_more_pairs_continue_the_same_verification(home: Home) -> None:
    verified(home, Scripts())
    assert verified(home, Scripts(), pairs=8).pairs == 8
    assert len(home.verifications(home.study("s"))) == 1
    assert sorted(by_pair(home)) == list(range(8))


@pytest.mark.parametrize("call", [0, 4, 5, 11])
def test_a_pair_that_was_cut_off_is_not_completed(home: Home, call: int) -> None:
    script = Scripts()
    script.accidents[call] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        verified(home, script)
    verdict = verified(home, script)
    halves = [pair for pair, order in by_pair(home).items() if len(order) == 1]
    assert halves == ([call // 2] if call % 2 else [])
    assert verdict.pairs == 6
    assert len(home.verifications(home.study("s"))) == 1


def test_a_run_that_fails_costs_its_pair_only(home: Home) -> None:
    script = Scripts(gain=0.8)
    script.accidents = {3: CRASH, 6: CRASH}
    verdict = verified(home, script)
    assert verdict.pairs == 6
    assert verdict.objective.median == pytest.approx(0.8)
    assert len(by_pair(home)) == 8


def test_repeated_failures_give_up_with_the_reason(home: Home) -> None:
    script = Scripts()
    script.accidents = dict.fromkeys(range(100), CRASH)
    with pytest.raises(LsmtuneError, match=r"4 runs failed.*signal 6") as e:
        verified(home, script)
    assert not isinstance(e.value, UserError)
    assert script.verifying == 4


def test_disturbed_runs_are_no_failures(home: Home) -> None:
    script = Scripts()
    noisy = measured(others_cpu_percent=50.0)
    script.accidents = dict.fromkeys((0, 1, 3, 4, 6, 7, 9, 10), noisy)
    assert verified(home, script).pairs == 6


def test_a_verification_that_gave_up_can_be_tried_again(home: Home) -> None:
    script = Scripts(gain=0.8)
    script.accidents = dict.fromkeys(range(4), CRASH)
    with pytest.raises(LsmtuneError):
        verified(home, script)
    assert verified(home, script).claim == "gain"


def loses_when_verified(spec: TrialSpec) -> TrialResult:
    """compaction_pri 0 is better only in the search and its repeats; 1 always is."""
    number = int(spec.settings["compaction_pri"])
    in_search = {0: 0.5, 1: 0.7}
    later = {0: 1.1, 1: 0.7}
    values = in_search if spec.seed <= MOST_SEARCH_SEED else later
    return measured(write_amp=values.get(number, 1.0))


def test_if_the_winner_loses_the_next_config_is_repeated_and_verified(home: Home) -> None:
    with tuned(home, loses_when_verified, trials=3, finalists=1, repeats=2, pairs=6) as study:
        assert {t.config["compaction_pri"] for t in runs_of(study, Role.REPEAT)} == {0}
        verify_contenders(study)
        assert {t.config["compaction_pri"] for t in runs_of(study, Role.REPEAT)} == {0, 1}
        best = study.best()
        assert best is not None
        assert best.trial.config["compaction_pri"] == 1
        count = len(study.trials())
        run_search(study)
        verify_contenders(study)
        assert len(study.trials()) == count


def test_no_third_config_is_verified(home: Home) -> None:
    def only_in_the_search(spec: TrialSpec) -> TrialResult:
        number = int(spec.settings["compaction_pri"])
        better = spec.seed <= MOST_SEARCH_SEED and number != BASE
        return measured(write_amp=0.5 + number / 10 if better else 1.0)

    with tuned(home, only_in_the_search, trials=3, finalists=1, repeats=2, pairs=6) as study:
        verify_contenders(study)
        verified = {t.config["compaction_pri"] for t in runs(home) if t.role is Role.VERIFY_BEST}
    assert verified == {0, 1}


NEAR_THE_LIMIT = {SEARCH_SEED: 11.2, 2: 9.0, 3: 14.0}
"""Live space by the seed of the run; the baseline has 10, and the limit is 1.1 times that."""


@pytest.mark.parametrize(("space", "claim"), [(10.5, "gain"), (20.0, "no gain")])
def test_pairs_decide_a_constraint_that_the_repeats_leave_undecided(
    home: Home, space: float, claim: str
) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        if spec.settings["compaction_pri"] != BEST:
            return measured(write_amp=1.0, live_sst_bytes=10.0)
        return measured(write_amp=0.5, live_sst_bytes=NEAR_THE_LIMIT.get(spec.seed, space))

    with tuned(home, script, trials=5, repeats=2) as study:
        winner = study.best()
        assert winner is not None
        assert not winner.can_win
        verify_contenders(study)
        found = study.home.verifications(study.stored)
    assert [v.best_trial for v in found] == [winner.trial.number]
    view = read_study(home, "s")
    assert view.best_trial is not None
    assert (view.best_trial.number, claim_of(view).status) == (winner.trial.number, claim)


def test_config_that_breaks_a_constraint_for_sure_is_not_verified(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        best = spec.settings["compaction_pri"] == BEST
        return measured(write_amp=0.5 if best else 1.0, live_sst_bytes=20.0 if best else 10.0)

    with tuned(home, script, trials=5, repeats=2) as study:
        verify_contenders(study)
        assert study.best() is None
    assert runs(home) == []


def test_without_a_winner_there_is_nothing_to_verify(home: Home) -> None:
    with pytest.raises(UserError, match=r"^study .*verify"):
        verified(home, lambda _: measured())
    assert runs(home) == []


def test_another_load_is_another_verification(home: Home) -> None:
    script, load = Scripts(gain=0.8), Workload(num=5000)
    with tuned(home, script) as study:
        here = verify(study, "1/64", study.spec.workload)
        there = verify(study, "1/64", load)
        assert (here.pairs, there.pairs) == (6, 6)
        first, second = home.verifications(study.stored)
    other = [trial for trial in runs(home) if trial.verification_id == second.id]
    assert {trial.spec.workload for trial in other} == {load}
    assert first.id != second.id
    seeds = [{t.spec.seed for t in runs(home) if t.verification_id == v} for v in (1, 2)]
    assert seeds[0].isdisjoint(seeds[1])


def test_at_another_scale_only_the_sizes_of_the_tree_grow(home: Home) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        return measured(write_amp=1e8 / float(spec.settings["block_size"]))

    with tuned(home, script, knobs="all", trials=12, memory="8GiB") as study:
        verify(study, "1", study.spec.workload)
        best = study.best()
        assert best is not None
        small = study.space.settings(best.trial.config)
        grown = study.ground.base.settings
    sizes = {knob.name: knob for knob in load("rocksdb").knobs if knob.scales}
    assert {"write_buffer_size", "max_bytes_for_level_base", "target_file_size_base"} <= set(sizes)
    assert len(runs(home)) == 12
    for trial in runs(home):
        assert trial.spec.settings.keys() == grown.keys()
        if trial.role is Role.VERIFY_BASE:
            assert trial.spec.settings == grown
        else:
            for name, value in trial.spec.settings.items():
                scaled = small[name]
                if name in sizes:
                    scaled = sizes[name].scaled_value(scaled, 64)
                    assert abs(float(value) - float(scaled)) <= 32, name  # a byte, rounded
                else:
                    assert value == scaled, name


def test_equal_memory_holds_at_another_scale_too(home: Home) -> None:
    knobs = "write_buffer_size,max_write_buffer_number,cache_size"

    def script(spec: TrialSpec) -> TrialResult:
        return measured(write_amp=1e8 / _memtables(spec))

    with tuned(home, script, knobs=knobs, trials=6, cache="256MiB") as study:
        best = study.best()
        assert best is not None
        base = study.ground.base.settings | {"cache_size": 256 << 20}
        grown = study.settings_at(best.trial.config, Fraction(1))
    assert memory_bytes(grown) <= memory_bytes(base)
    assert {name: 64 * value for name, value in best.trial.config.items() if value > 99} == {
        name: grown[name] for name in ("cache_size", "write_buffer_size")
    }


def _memtables(spec: TrialSpec) -> float:
    return float(spec.settings["max_write_buffer_number"]) * float(
        spec.settings["write_buffer_size"]
    )
