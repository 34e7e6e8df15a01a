"""The genetic algorithm of Jin et al. 2022, as their paper has it."""

from lsmtune.optimizers.algorithms.genetic import PublishedGenetic

make = PublishedGenetic
