"""Recipe jin2022: a published parameter study with a genetic algorithm (2022)."""
