"""A package that extends lsmtune with a store in memory and an optimizer."""
