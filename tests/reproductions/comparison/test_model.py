"""Tests of the model of screened runs."""

from collections.abc import Callable

import numpy as np
import pytest

from lsmtune.batch import BatchLine
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Config
from lsmtune.objective import parse_objective
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, make_spec
from lsmtune.trials import Base
from lsmtune_reproductions.comparison.model import Modelled, modelled

CATALOGUE = load("rocksdb")
KNOBS = "block_size,compression_type,bloom_bits,level0_slowdown_writes_trigger"
NOISE_SD = 0.02


def make_space() -> KnobSpace:
    spec = make_spec({"knobs": KNOBS, "scale": "1"}, "test")
    return knob_space(
        spec, Ground(CATALOGUE, Base(options="", settings=CATALOGUE.defaults(1)), 1024)
    )


def truth(config: Config) -> float:
    """Return the true value: small blocks and zlib are best."""
    return float(config["block_size"]) / 1e4 + (0.0 if config["compression_type"] == "zlib" else 1)


def screened(
    count: int, codecs: tuple[str, ...] = ("none", "zlib", "lz4"), seed: int = 1
) -> list[BatchLine]:
    """Return random configs of the space; the first ten ran three times."""
    rng, space, lines = np.random.default_rng(seed), make_space(), []
    for place in range(count):
        codec = codecs[place % len(codecs)]
        config = space.canonical({**space.sample(rng), "compression_type": codec})
        defaults = {knob.name: knob.default for knob in CATALOGUE.knobs}
        for run in range(3 if place < 10 else 1):
            metrics = {
                "write_amp": truth(config) * float(np.exp(rng.normal(0, NOISE_SD))),
                "live_sst_bytes": 1e6,
            }
            changed = {n: v for n, v in config.items() if v != defaults[n]}
            lines.append(BatchLine(f"{place}-{run}", knobs=changed, metrics=metrics))
    return [*lines, BatchLine("failed", error="crashed")]


@pytest.fixture(scope="module")
def model() -> Modelled:
    return modelled(screened(150), CATALOGUE, make_space(), parse_objective("write_amp", []))


def test_model_predicts_configs_that_were_not_screened(model: Modelled) -> None:
    rng = np.random.default_rng(5)
    configs = [model.space.sample(rng) for _ in range(60)]
    told = np.array([model.metrics(config)["write_amp"] for config in configs])
    assert np.corrcoef(told, [truth(config) for config in configs])[0, 1] > 0.97


def test_run_has_the_noise_of_the_screened_runs(model: Modelled) -> None:
    assert model.noise["write_amp"] == pytest.approx(NOISE_SD, rel=0.5)
    rng, config = np.random.default_rng(6), model.space.default()
    runs = [model.run(config, rng)["write_amp"] for _ in range(300)]
    assert float(np.std(np.log(runs))) == pytest.approx(model.noise["write_amp"], rel=0.2)
    assert float(np.mean(runs)) == pytest.approx(model.metrics(config)["write_amp"], rel=0.02)


def test_baseline_costs_1_and_a_better_config_less(model: Modelled) -> None:
    base = model.space.default()
    better = model.space.canonical({**base, "compression_type": "zlib"})
    assert model.cost(base) == 1
    assert model.cost(better) < 0.8


def test_space_has_only_screened_choices() -> None:
    told = modelled(
        screened(120, ("none", "lz4")), CATALOGUE, make_space(), parse_objective("write_amp", [])
    )
    codec = next(knob for knob in told.space.knobs if knob.name == "compression_type")
    assert set(codec.drawn) == {"none", "lz4"}


def test_constraint_on_a_missing_metric_is_left_out() -> None:
    asked = parse_objective("write_amp", ["live_sst_bytes <= 2 * base"])
    told = modelled(screened(120), CATALOGUE, make_space(), asked)
    assert {limit.metric for limit in told.objective.limits} == {"live_sst_bytes"}
    assert told.cost(told.space.default()) == 1


REFUSED: list[tuple[Callable[[], list[BatchLine]], str, str]] = [
    (lambda: screened(40), "write_amp", "screened.*100"),
    (lambda: screened(120), "stall_s", "stall_s.*write_amp"),
]


@pytest.mark.parametrize(("lines", "asked", "words"), REFUSED)
def test_lines_that_cannot_be_modelled_are_refused(
    lines: Callable[[], list[BatchLine]], asked: str, words: str
) -> None:
    with pytest.raises(UserError, match=words):
        modelled(lines(), CATALOGUE, make_space(), parse_objective(asked, []))
