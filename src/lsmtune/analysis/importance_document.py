"""Importance of knobs as a JSON document."""

from collections.abc import Mapping
from dataclasses import asdict

from lsmtune.analysis.importance import Importance, MetricImportance


def importance_document(importance: Importance) -> dict[str, object]:
    """Return the importance as a JSON document."""
    return {
        "runs": importance.runs,
        "configs": importance.configs,
        "failed": importance.failed,
        "few_flushes": importance.few_flushes,
        "load_factors": list(importance.load_factors),
        **({"hosts": list(importance.hosts)} if importance.hosts else {}),
        "top": list(importance.top(6)),
        "metrics": {metric.metric: _metric_document(metric) for metric in importance.metrics},
    }


def _metric_document(metric: MetricImportance) -> Mapping[str, object]:
    return {
        "runs": metric.runs,
        "missing_runs": metric.missing_runs,
        "model": metric.model,
        "models_chosen": metric.accuracy.chosen,
        "r2_holdout": asdict(metric.accuracy.r2),
        "r2_holdout_forest": asdict(metric.forest_r2),
        "r2_oob": metric.r2_oob,
        "noise": metric.noise and metric.noise.relative,
        "r2_ceiling": metric.noise and asdict(metric.noise.ceiling),
        "knobs": [
            {
                "knob": k.knob, "mdi": k.mdi, "permutation": k.permutation.median,
                "permutation_low": k.permutation.low, "permutation_high": k.permutation.high,
                "anova_p": k.anova_p, "anova_multi_p": k.multi_p, "eta_squared": k.eta_squared,
                "ped_anova": k.ped_anova, "lasso_rank": k.lasso_rank,
                "effect": [
                    {"values": g.group, "runs": g.runs, "mean": asdict(g.mean),
                     "modelled": g.modelled}
                    for g in k.effect
                ],
            }
            for k in metric.knobs
        ],
        "interactions": [
            {"knobs": [i.first, i.second], "strength": i.strength, "rows": i.rows,
             "columns": i.columns, "cells": i.cells}
            for i in metric.interactions
        ],
    }  # fmt: skip
