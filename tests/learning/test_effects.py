"""Main effects and interactions: what was planted is what is shown."""

from functools import cache

import numpy as np
import pytest
from planted import NAMES, NOISE, STRONG, USELESS, cells, planted

from lsmtune.learning.effects import interactions, main_effect
from lsmtune.learning.factors import Design, Factor, Floats
from lsmtune.learning.models import Fitted, fitted_model


@cache
def boosted() -> tuple[Design, Floats, Fitted]:
    """Planted runs, and a model of them."""
    design, outcome = planted(600, seed=2)
    return design, outcome, fitted_model("gradient boosting", 1, design.matrix, outcome)


def test_the_means_of_groups_are_those_planted() -> None:
    design, outcome, fitted = boosted()
    place = [factor.name for factor in design.factors].index(NAMES)
    means = {group.group: group for group in main_effect(design, place, outcome, fitted, 1)}
    assert means["fast"].modelled - means["none"].modelled == pytest.approx(1, abs=3 * NOISE)
    assert means["slow"].modelled - means["none"].modelled == pytest.approx(2, abs=3 * NOISE)
    for group in means.values():
        assert group.mean.low <= group.mean.median <= group.mean.high
        assert group.runs > 100


def test_only_factors_that_act_together_interact() -> None:
    rng = np.random.default_rng(3)
    a, b, c = rng.random((3, 500))
    outcome = 5 + 4 * a * b + 2 * c
    factors = (Factor(n, cells(v), ordered=True) for n, v in (("a", a), ("b", b), ("c", c)))
    design = Design(tuple(factors))
    fitted = fitted_model("extra trees", 1, design.matrix, outcome)
    found = interactions(design, [0, 1, 2], fitted, seed=1)
    assert {found[0].first, found[0].second} == {"a", "b"}
    assert found[0].strength > 3 * found[1].strength
    assert np.array(found[0].cells).shape == (len(found[0].rows), len(found[0].columns))


def test_useless_factors_have_flat_effects() -> None:
    design, outcome, fitted = boosted()
    spans = {}
    for place, factor in enumerate(design.factors):
        means = [group.modelled for group in main_effect(design, place, outcome, fitted, 1)]
        spans[factor.name] = max(means) - min(means)
    assert max(spans[name] for name in USELESS) < 0.1 * spans[STRONG]
