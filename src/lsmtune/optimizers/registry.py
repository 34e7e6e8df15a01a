"""The optimizers by name."""

from collections.abc import Callable

from lsmtune.errors import UserError
from lsmtune.optimizers.base import Optimizer
from lsmtune.optimizers.optuna_adapter import tpe
from lsmtune.optimizers.random_search import RandomSearch

OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {"tpe": tpe, "random": RandomSearch}


def make_optimizer(name: str) -> Optimizer:
    """The optimizer of that name; UserError naming those that there are."""
    if name not in OPTIMIZERS:
        raise UserError(f"optimizer: no {name!r}; known are {', '.join(OPTIMIZERS)}")
    return OPTIMIZERS[name]()
