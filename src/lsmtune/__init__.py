"""lsmtune: finds better options for an LSM store in few real runs, and proves the gain."""

__version__ = "0.2.0"
