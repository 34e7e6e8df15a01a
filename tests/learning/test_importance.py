"""Planted check: every method ranks known effects right, and useless knobs are called useless."""

from statistics import median

import numpy as np
import pytest
from planted import CURVED, NAMES, NOISE, PLANTED, STRONG, USELESS, WEAK, planted

from lsmtune.learning import models
from lsmtune.learning.factors import Design, Floats
from lsmtune.learning.importance import (
    cross_validated,
    lasso_ranks,
    mdi,
    ped_anova,
    permutation,
)
from lsmtune.learning.models import MODELS, forest, nested_folds
from lsmtune.learning.variance import multi_factor, noise, one_way_p

DESIGN, OUTCOME = planted(400, seed=1)
NAMES_OF = [factor.name for factor in DESIGN.factors]


def by_name(values: Floats | list[float]) -> dict[str, float]:
    return dict(zip(NAMES_OF, map(float, values), strict=True))


def check_ranking(shares: dict[str, float]) -> None:
    """The strongest first, each planted factor before each useless one."""
    assert max(shares, key=lambda name: shares[name]) == STRONG
    assert min(shares[name] for name in PLANTED) > max(shares[name] for name in USELESS)


@pytest.mark.slow
def test_permutation_ranks_right_and_finds_nothing_in_the_useless() -> None:
    falls = permutation(DESIGN, OUTCOME, "gradient boosting", repeats=3, seed=1)
    check_ranking(by_name([fall.median for fall in falls]))
    for name, fall in zip(NAMES_OF, falls, strict=True):
        assert fall.low <= fall.median <= fall.high
        assert (fall.median < 0.01) == (name in USELESS)
        assert fall.low > 0 or name in USELESS


def test_mdi_ranks_right() -> None:
    shares = by_name(mdi(DESIGN, forest(1).fit(DESIGN.matrix, OUTCOME)))
    check_ranking(shares)
    assert sum(shares.values()) == pytest.approx(1)


def test_ped_anova_ranks_what_the_best_runs_have_in_common() -> None:
    shares = by_name(ped_anova(DESIGN, OUTCOME, lower_is_better=True))
    assert max(shares, key=lambda name: shares[name]) == STRONG
    assert min(shares[n] for n in (STRONG, NAMES)) > max(shares[n] for n in USELESS)
    assert sum(shares.values()) == pytest.approx(1)


def test_lasso_takes_the_planted_first_curves_included() -> None:
    ranks = by_name([float(rank) for rank in lasso_ranks(DESIGN, OUTCOME)])
    assert ranks[STRONG] == 1
    assert max(ranks[name] for name in PLANTED) < min(ranks[name] for name in USELESS)


def test_variance_of_all_factors_is_shared_out_right() -> None:
    parts = dict(zip(NAMES_OF, multi_factor(DESIGN, OUTCOME), strict=True))
    check_ranking({name: part.eta_squared for name, part in parts.items()})
    assert all(parts[name].p < 1e-6 for name in PLANTED)
    assert all(parts[name].p > 0.05 for name in USELESS)
    explained = sum(part.eta_squared for part in parts.values())
    assert 0.85 < explained < 1.05


@pytest.mark.parametrize(("name", "found"), [(STRONG, True), (NAMES, True), (USELESS[1], False)])
def test_one_factor_alone(name: str, found: bool) -> None:
    factor = DESIGN.factors[NAMES_OF.index(name)]
    assert (one_way_p(factor, OUTCOME) < 0.001) is found


def test_one_factor_alone_misses_what_all_together_show() -> None:
    """Why the multi-factor analysis stands beside the paper's: the weak effect drowns alone."""
    alone, together = [], []
    for seed in range(1, 8):
        design, outcome = planted(150, seed)
        place = [factor.name for factor in design.factors].index(WEAK)
        alone.append(one_way_p(design.factors[place], outcome))
        together.append(multi_factor(design, outcome)[place].p)
    assert median(alone) > 0.05
    assert median(together) < 0.05


@pytest.fixture
def two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough to choose between, and quick."""
    kept = ("extra trees", "Gaussian process")
    monkeypatch.setattr(models, "MODELS", {name: MODELS[name] for name in kept})
    monkeypatch.setattr(models, "_TREES", 60)


def test_nested_cross_validation_comes_close_to_what_noise_allows(two_models: None) -> None:
    design, outcome = planted(120, seed=1)
    accuracy, _ = cross_validated(design, outcome, repeats=1, seed=1)
    ceiling = 1 - NOISE**2 / float(np.var(outcome))
    assert accuracy.model in MODELS
    assert sum(accuracy.chosen.values()) == 5
    assert ceiling - 0.08 < accuracy.r2.median <= ceiling + 0.02
    assert accuracy.r2.low <= accuracy.r2.median <= accuracy.r2.high


@pytest.mark.slow
def test_pure_noise_cannot_be_predicted(two_models: None) -> None:
    rng = np.random.default_rng(1)
    outcome = rng.normal(10, 1, len(OUTCOME))
    few, _ = planted(80, seed=1)
    assert cross_validated(few, outcome[:80], 1, seed=1)[0].r2.median < 0.05
    assert all(part.p > 0.05 for part in multi_factor(DESIGN, outcome))
    falls = permutation(DESIGN, outcome, "extra trees", repeats=3, seed=1)
    assert all(fall.median < 0.02 for fall in falls)


@pytest.mark.parametrize(("runs", "least"), [(100, 100), (300, 150), (700, 500)])
def test_no_run_judges_a_model_that_it_helped_to_choose(runs: int, least: int) -> None:
    chosen_by: list[set[float]] = []

    def choose(_: Floats, outcome: Floats, __: int) -> str:
        chosen_by.append(set(outcome.tolist()))
        return "Gaussian process"

    design, outcome = planted(runs, seed=1)
    judged: list[int] = []
    for fold in nested_folds(design.matrix, outcome, repeats=1, seed=1, choose=choose):
        assert chosen_by[-1].isdisjoint(outcome[fold.test].tolist())
        judged += fold.test.tolist()
    assert len(judged) == len(set(judged)) >= least


def test_the_noise_of_repeated_runs_gives_the_ceiling() -> None:
    rng = np.random.default_rng(1)
    groups = [list(rng.normal(truth, NOISE, 3)) for truth in OUTCOME[:60]]
    found = noise(groups, OUTCOME)
    assert found is not None
    truth = 1 - NOISE**2 / float(np.var(OUTCOME))
    assert found.ceiling.low <= truth <= found.ceiling.high
    assert found.relative == pytest.approx(NOISE / OUTCOME.mean(), rel=0.2)


def test_without_repeated_runs_there_is_no_ceiling() -> None:
    assert noise([[1.0], [2.0]], OUTCOME) is None


def test_a_curve_is_invisible_to_ends_and_visible_to_groups() -> None:
    factor = DESIGN.factors[NAMES_OF.index(CURVED)]
    means = [OUTCOME[runs].mean() for _, runs in factor.groups]
    assert means[0] > means[1]
    assert means[-1] > means[-2]


def test_a_factor_of_one_value_matters_to_nothing() -> None:
    constant = Design((*DESIGN.factors, DESIGN.factors[0].__class__("c", (1,) * 400, True)))
    assert multi_factor(constant, OUTCOME)[-1].eta_squared == 0
    assert one_way_p(constant.factors[-1], OUTCOME) == 1
