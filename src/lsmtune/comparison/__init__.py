"""Optimizers against each other at equal budgets: on a model of screened runs, or on the engine."""
