"""Comparison of optimizers at equal budgets: on a model of screened runs, or on the engine."""
