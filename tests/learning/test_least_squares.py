"""Fits and tests have the numbers that statsmodels has: see record_least_squares.py."""

import gzip
import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from record_least_squares import FILE, distance, lsmtune_says

from lsmtune.learning.variance import holm, least_squares

RECORDED = json.loads(gzip.decompress(FILE.read_bytes()))


def test_fits_of_random_designs_are_those_of_statsmodels() -> None:
    cases = RECORDED["designs"]
    assert max(distance(lsmtune_says(case), case["statsmodels"]) for case in cases) < 1e-9
    deficient = [case["statsmodels"]["rank"] < len(case["matrix"][0]) for case in cases]
    assert 30 <= sum(deficient) <= 70
    assert sum(case["statsmodels"]["freedom"] <= 3 for case in cases) >= 30


def test_corrections_are_those_of_statsmodels() -> None:
    for family in RECORDED["families"]:
        assert holm(family["ps"]) == pytest.approx(family["holm"], rel=1e-12)
    assert holm([]) == []


def test_what_no_freedom_is_left_for_cannot_be_told() -> None:
    matrix = np.array([[1.0, 0.0], [1.0, 1.0]])
    full = least_squares(np.array([1.0, 2.0]), matrix)
    assert (full.rank, full.freedom) == (2, 0)
    assert full.p_against(least_squares(np.array([1.0, 2.0]), matrix[:, :1])) == 1.0


def test_a_perfect_fit_is_no_chance() -> None:
    outcome, matrix = np.array([0.0, 0.0, 1.0, 1.0]), np.array([[0.0], [0.0], [1.0], [1.0]])
    full = least_squares(outcome, matrix)
    assert full.p_against(least_squares(outcome, np.zeros((4, 1)))) < 1e-12
