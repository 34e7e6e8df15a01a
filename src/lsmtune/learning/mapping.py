"""Which of several loads is most like another, by what was measured under each.

After OtterTune (Van Aken, Pavlo, Gordon, Zhang, SIGMOD 2017): metrics that tell the same are pruned
by factor analysis and k-means, and loads are compared by the deciles in which their metrics lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import FactorAnalysis
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import silhouette_score

from lsmtune.learning.factors import Floats

_MOST_FACTORS, _MOST_KEPT = 5, 10
_TREES = 60
_BINS = 10


@dataclass(frozen=True, slots=True)
class Measured:
    """Runs of one load: points (n, d) of the knobs, metrics (n, m) in one order for all loads."""

    points: Floats
    metrics: Floats


def kept_metrics(metrics: Floats, seed: int = 1) -> list[int]:
    """Columns of the metrics (n, m) of which no two tell the same; constant ones are left out.

    Metrics are grouped by how they load on the factors behind all of them; the one nearest to the
    middle of its group stands for it. The number of groups is that of the best silhouette.
    """
    varied = np.flatnonzero(np.ptp(metrics, axis=0) > 0)
    if len(varied) <= 2:  # noqa: PLR2004 - nothing to group
        return [int(column) for column in varied]
    scaled = _standard(metrics[:, varied])
    factors = min(_MOST_FACTORS, len(varied) - 1, len(scaled) - 1)
    loadings = FactorAnalysis(factors, random_state=seed).fit(scaled).components_.T
    groupings = [
        KMeans(count, n_init=5, random_state=seed).fit(loadings)
        for count in range(2, min(_MOST_KEPT, len(varied) - 1) + 1)
    ]
    distinct = [g for g in groupings if len(set(g.labels_)) > 1]
    if not distinct:
        return [int(varied[0])]
    best = max(distinct, key=lambda g: float(silhouette_score(loadings, g.labels_)))
    nearest = best.transform(loadings).argmin(axis=0)
    return sorted({int(varied[place]) for place in nearest})


def distances(target: Measured, others: Sequence[Measured], seed: int = 1) -> list[float]:
    """How far each of the others is from the target: the mean distance in deciles a run.

    What each load would have measured at the target's points is told by a model of its runs, for
    loads are seldom run with the same configs.
    """
    pooled = np.vstack([target.metrics, *(other.metrics for other in others)])
    kept = kept_metrics(pooled, seed)
    if not kept:
        return [0.0] * len(others)
    edges = np.quantile(pooled[:, kept], np.arange(1, _BINS) / _BINS, axis=0)
    here = _deciles(target.metrics[:, kept], edges)
    found = []
    for other in others:
        model = ExtraTreesRegressor(_TREES, random_state=seed)
        told = model.fit(other.points, other.metrics[:, kept]).predict(target.points)
        there = _deciles(told.reshape(len(here), -1), edges)
        found.append(float(np.sqrt(((here - there) ** 2).sum(axis=1)).mean()))
    return found


def _standard(columns: Floats) -> Floats:
    return np.asarray((columns - columns.mean(axis=0)) / columns.std(axis=0))


def _deciles(columns: Floats, edges: Floats) -> Floats:
    """The decile of each value among all loads, from 0 to 9."""
    return np.column_stack([
        np.searchsorted(edges[:, place], columns[:, place]) for place in range(columns.shape[1])
    ]).astype(np.float64)  # fmt: skip
