"""The guard of online tuning on a store whose answers are planted."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from fakes.asks import Asks
from lsmtune.engines.base import TrialFailedError, Window
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import MemoryLimit, memory_bytes
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config, Settings
from lsmtune.study.guard import cost_ratio, loses, shifted
from lsmtune.study.online import OnlineTuner, Plan, Step
from lsmtune.trials import Judgement, Status

CATALOGUE = load("rocksdb")
BASE = {knob.name: knob.default for knob in CATALOGUE.knobs}
KNOBS = CATALOGUE.select("max_background_jobs,level0_file_num_compaction_trigger")
SPACE = KnobSpace(KNOBS, BASE, 1024, MemoryLimit(memory_bytes(BASE)))
PLAN = Plan("throughput_ops_s", window_s=1, windows=5, steps=1, seed=1)


def config(**changes: int) -> Config:
    return SPACE.canonical({**SPACE.default(), **changes})


@dataclass
class Planted:
    """A store: each config has a speed; the load speeds up or changes at a given window."""

    speeds: dict[Config, float]
    faster_from: int = 10**9
    other_from: int = 10**9
    refused: tuple[Config, ...] = ()
    stops: tuple[Config, ...] = ()
    stopped_for: int = 0
    noise: float = 0.01
    windows: int = 0
    still_stopped: int = 0
    set_to: list[Config] = field(default_factory=list)

    def window(self, seconds: float) -> Window:
        self.windows += 1
        if self.current in self.stops:
            self.still_stopped = self.stopped_for
            raise TrialFailedError(Status.TIMED_OUT, "the load did no operation")
        if self.still_stopped:
            self.still_stopped -= 1
            raise TrialFailedError(Status.TIMED_OUT, "the load did no operation")
        rng = np.random.default_rng(self.windows)
        speed = self.speeds.get(self.current, 1000.0) * float(rng.lognormal(0, self.noise))
        speed *= 1.3 if self.windows >= self.faster_from else 1.0
        written = 9000.0 if self.windows >= self.other_from else 3000.0
        traits = {"bytes_written": written * float(rng.lognormal(0, 0.02))}
        return Window({"throughput_ops_s": speed, "stall_s": 0.0}, traits)

    def change(self, settings: Settings) -> None:
        wanted = Config({knob.name: settings[knob.name] for knob in KNOBS})
        if wanted in self.refused:
            raise TrialFailedError(Status.MISMATCH, "it runs another value")
        self.set_to.append(wanted)

    @property
    def current(self) -> Config:
        return self.set_to[-1] if self.set_to else SPACE.default()


def tried(store: Planted, *wanted: Config) -> tuple[OnlineTuner, list[Step], Asks]:
    asks = Asks(wanted)
    plan = Plan(PLAN.metric, PLAN.window_s, PLAN.windows, len(wanted), PLAN.seed)
    tuner = OnlineTuner(store, SPACE, asks, plan)
    return tuner, list(tuner.steps()), asks


BETTER, WORSE = config(max_background_jobs=5), config(max_background_jobs=1)


def test_a_gain_is_kept_and_set() -> None:
    store = Planted({BETTER: 1200.0})
    tuner, [step], _ = tried(store, BETTER)
    assert step.judgement is Judgement.KEPT
    assert step.cost is not None
    assert step.cost.low < 1000 / 1200 < step.cost.high
    assert tuner.current == store.current == BETTER


@pytest.mark.parametrize("loss", [0.5, 0.8, 0.9])
def test_a_planted_harmful_change_is_taken_back_early(loss: float) -> None:
    store = Planted({WORSE: 1000.0 * loss})
    tuner, [step], _ = tried(store, WORSE)
    assert step.judgement is Judgement.LOST
    assert tuner.current == store.current == SPACE.default()
    assert store.set_to.count(WORSE) == 1
    assert len(step.windows.during) <= PLAN.windows


def test_what_changes_nothing_is_taken_back() -> None:
    store = Planted({BETTER: 1000.0})
    tuner, [step], _ = tried(store, BETTER)
    assert step.judgement is Judgement.NOT_SHOWN
    assert store.current == tuner.current == SPACE.default()


@pytest.mark.parametrize("at", range(7, 14))
def test_a_planted_shift_of_the_load_is_noticed_and_starts_over(at: int) -> None:
    store = Planted({BETTER: 1200.0}, other_from=at)
    tuner, steps, asks = tried(store, BETTER, WORSE, BETTER)
    noticed = [step.number for step in steps if step.judgement is Judgement.SHIFTED]
    assert len(noticed) <= 1
    assert steps[-1].base == 1
    assert any(len(history) == 1 for history in asks.histories[1:])
    assert tuner.current == store.current


def test_a_load_that_speeds_up_by_itself_is_no_gain() -> None:
    """Same transactions, more of them: only going back tells that the change did not do it."""
    store = Planted({}, faster_from=7)
    tuner, [step], _ = tried(store, BETTER)
    assert step.judgement is Judgement.NOT_SHOWN
    assert tuner.current == SPACE.default()


def test_a_refused_change_leaves_what_was_set() -> None:
    store = Planted({}, refused=(WORSE,))
    tuner, [step], _ = tried(store, WORSE)
    assert step.judgement is Judgement.REFUSED
    assert "another value" in step.reason
    assert store.current == tuner.current == SPACE.default()


def test_tuning_goes_on_when_the_load_needs_time_after_a_change_that_stopped_it() -> None:
    store = Planted({BETTER: 1200.0}, stops=(WORSE,), stopped_for=4)
    tuner, steps, _ = tried(store, WORSE, BETTER)
    assert [step.judgement for step in steps] == [Judgement.LOST, Judgement.KEPT]
    assert tuner.current == store.current == BETTER


def test_a_load_that_stays_stopped_ends_tuning() -> None:
    store = Planted({}, stops=(WORSE,), stopped_for=1000)
    with pytest.raises(TrialFailedError):
        tried(store, WORSE, BETTER)
    assert store.current == SPACE.default()


def test_a_change_that_stops_the_load_is_taken_back() -> None:
    store = Planted({}, stops=(WORSE,))
    tuner, [step], asks = tried(store, WORSE)
    assert (step.judgement, step.cost) == (Judgement.LOST, None)
    assert store.current == tuner.current == SPACE.default()
    assert asks.histories


@pytest.mark.parametrize(
    ("metric", "words"), [("space_amp", "space_amp.*throughput_ops_s"), ("stall_s", "stall_s.* 0 ")]
)
def test_a_metric_that_cannot_be_compared_ends_online_tuning(metric: str, words: str) -> None:
    tuner = OnlineTuner(Planted({}), SPACE, Asks([BETTER]), replace(PLAN, metric=metric))
    with pytest.raises(UserError, match=words):
        list(tuner.steps())


def test_later_changes_are_judged_against_what_was_kept() -> None:
    best = config(max_background_jobs=6)
    store = Planted({BETTER: 1200.0, best: 1300.0, WORSE: 1100.0})
    tuner, steps, asks = tried(store, BETTER, WORSE, best)
    assert [step.judgement for step in steps] == [
        Judgement.KEPT, Judgement.LOST, Judgement.KEPT
    ]  # fmt: skip
    assert tuner.current == best
    last = {o.config: o.value for o in asks.histories[-1]}
    assert last[BETTER] == pytest.approx(1)
    assert last[SPACE.default()] == pytest.approx(1.2, rel=0.05)


def test_an_interruption_leaves_what_was_proven() -> None:
    store = Planted({BETTER: 1200.0, WORSE: 900.0})
    asks = Asks([BETTER, WORSE])
    tuner = OnlineTuner(store, SPACE, asks, Plan("throughput_ops_s", 1, 5, 2, 1))
    steps = tuner.steps()
    assert next(steps).judgement is Judgement.KEPT
    steps.close()
    assert store.current == BETTER


def some(speed: float, count: int, noise: float = 0.02, trait: float = 1.0) -> list[Window]:
    rng = np.random.default_rng(round(speed))
    return [
        Window({"throughput_ops_s": speed * float(rng.lognormal(0, noise))},
               {"reads": trait * float(rng.lognormal(0, noise))})
        for _ in range(count)
    ]  # fmt: skip


def test_few_windows_tell_nothing() -> None:
    assert not loses("throughput_ops_s", some(100, 2), some(1000, 5))
    assert loses("throughput_ops_s", some(100, 3), some(1000, 5))
    assert shifted(some(1000, 2, trait=9.0), some(1000, 5)) is None
    assert shifted(some(1000, 3, trait=9.0), some(1000, 5)) is not None


def test_no_noise_at_all_is_no_division_by_zero() -> None:
    ratio = cost_ratio("throughput_ops_s", some(500, 3, noise=0), some(1000, 3, noise=0))
    assert (ratio.low, ratio.high) == pytest.approx((2, 2))
