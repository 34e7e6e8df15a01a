"""Records what statsmodels says about random designs, for test_least_squares.py.

    pip install statsmodels==0.15.0 && python tests/learning/record_least_squares.py

It makes 1,000 designs, fits each with statsmodels, compares lsmtune's fit with it, and writes every
tenth to tests/data/least_squares.json.gz. A third of the designs has columns that say the same, a
third has at most three residual degrees of freedom.
"""

import gzip
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from lsmtune.learning.variance import holm, least_squares

FILE = Path(__file__).parents[1] / "data" / "least_squares.json.gz"
DESIGNS, KEPT_EACH = 1000, 10


def design(rng: np.random.Generator, number: int) -> dict[str, Any]:
    """A random matrix with a column of ones, outcomes, and the columns of a smaller model."""
    few, same = number % 3 == 0, number % 3 == 1 or number % 6 == 0
    width = int(rng.integers(2, 7))
    runs = width + 1 + int(rng.integers(1, 4) if few else rng.integers(8, 40))
    columns = [np.ones(runs)]
    for _ in range(width):
        kind = rng.integers(4)
        if kind == 0:  # one level of a factor
            columns.append((rng.integers(3, size=runs) == 1).astype(float))
        elif kind == 1:  # a place between the least and the greatest value
            columns.append(rng.random(runs).round(3))
        elif kind == 2:  # the values of a knob, which may be large
            columns.append(2.0 ** rng.integers(0, 20, size=runs))
        else:
            columns.append(rng.standard_normal(runs).round(3) * 10.0 ** rng.integers(-3, 4))
    if same:  # twice the same, a level left over, a constant
        kind = rng.integers(3)
        columns.append([columns[1], 1 - columns[-1] - columns[1], 2.5 * columns[0]][kind])
    matrix = np.column_stack(columns)
    effects = rng.standard_normal(matrix.shape[1]) / (np.abs(matrix).max(axis=0) + 1e-9)
    effects[rng.random(len(effects)) < 0.4] = 0.0
    outcome = 10 + matrix @ effects + rng.standard_normal(runs) * 10.0 ** rng.integers(-2, 1)
    kept = sorted({0, *np.flatnonzero(rng.random(matrix.shape[1]) < 0.6).tolist()})
    return {"matrix": matrix.tolist(), "outcome": outcome.round(4).tolist(), "reduced": kept}


def statsmodels_says(case: dict[str, Any]) -> dict[str, Any]:
    """Rank, coefficients, fitted values, intervals and F test of statsmodels.

    It gets columns of length 1, because it does not scale them.
    """
    from statsmodels.regression.linear_model import OLS  # noqa: PLC0415 - only to record

    matrix, outcome = np.array(case["matrix"]), np.array(case["outcome"])
    lengths = np.linalg.norm(matrix, axis=0)
    lengths[lengths == 0] = np.inf
    matrix /= lengths
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        full = OLS(outcome, matrix).fit()
        reduced = OLS(outcome, matrix[:, case["reduced"]]).fit()
    added = full.model.rank > reduced.model.rank
    return {
        "rank": int(full.model.rank),
        "freedom": int(full.df_resid),
        "squares": float(full.ssr),
        "params": (full.params / lengths).tolist(),
        "fitted": full.fittedvalues.tolist(),
        "intervals": (full.conf_int() / lengths[:, None]).tolist(),
        "p": float(full.compare_f_test(reduced)[1]) if added else 1.0,
    }


def lsmtune_says(case: dict[str, Any]) -> dict[str, Any]:
    """The same of lsmtune."""
    matrix, outcome = np.array(case["matrix"]), np.array(case["outcome"])
    full = least_squares(outcome, matrix)
    return {
        "rank": full.rank,
        "freedom": full.freedom,
        "squares": full.squares,
        "params": full.params.tolist(),
        "fitted": (matrix @ full.params).tolist(),
        "intervals": [full.interval(place) for place in range(matrix.shape[1])],
        "p": full.p_against(least_squares(outcome, matrix[:, case["reduced"]])),
    }


def distance(found: dict[str, Any], expected: dict[str, Any]) -> float:
    """The greatest relative difference; of coefficients, relative to the widest bound of each."""
    assert (found["rank"], found["freedom"]) == (expected["rank"], expected["freedom"])
    bounds = np.array(expected["intervals"])
    scale = np.abs(bounds).max(axis=1) + 1e-300
    fitted = np.array(expected["fitted"])
    return max(
        abs(found["squares"] - expected["squares"]) / expected["squares"],
        abs(found["p"] - expected["p"]) / max(expected["p"], 1e-300),
        float(np.abs(found["fitted"] - fitted).max() / np.abs(fitted).max()),
        float((np.abs(np.array(found["params"]) - expected["params"]) / scale).max()),
        float((np.abs(np.array(found["intervals"]) - bounds) / scale[:, None]).max()),
    )


def main() -> None:
    """Compare all designs and write the kept ones."""
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - only to record

    rng = np.random.default_rng(45)
    cases, distances = [], []
    for number in range(DESIGNS):
        case = design(rng, number)
        case["statsmodels"] = statsmodels_says(case)
        distances.append(distance(lsmtune_says(case), case["statsmodels"]))
        cases.append(case)
    families = []
    for start in range(0, DESIGNS, 8):
        ps = [case["statsmodels"]["p"] for case in cases[start : start + 8]]
        corrected = multipletests(ps, method="holm")[1].tolist()
        distances.append(max(abs(a - b) for a, b in zip(holm(ps), corrected, strict=True)))
        families.append({"ps": ps, "holm": corrected})
    data = {"designs": cases[::KEPT_EACH], "families": families[::KEPT_EACH]}
    with gzip.GzipFile(FILE, "wb", mtime=0) as file:
        file.write(json.dumps(data).encode())
    print(f"{len(distances)} comparisons, greatest difference {max(distances):.1e}")
    assert max(distances) < 1e-9


if __name__ == "__main__":
    main()
