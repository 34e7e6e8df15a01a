"""The optimizers by name."""

from collections.abc import Callable

from lsmtune.errors import UserError
from lsmtune.optimizers.base import Optimizer
from lsmtune.optimizers.genetic import Genetic, described, published
from lsmtune.optimizers.nsga2 import nsga2
from lsmtune.optimizers.random_search import RandomSearch
from lsmtune.optimizers.tpe import tpe

OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {
    "tpe": tpe,
    "nsga2": nsga2,
    "random": RandomSearch,
    "genetic": Genetic,
    "genetic-jin2022": published,
    "genetic-jin2022-small": described,
}


def make_optimizer(name: str) -> Optimizer:
    """The optimizer of that name; UserError naming those that there are."""
    if name not in OPTIMIZERS:
        raise UserError(f"optimizer: no {name!r}; known are {', '.join(OPTIMIZERS)}")
    return OPTIMIZERS[name]()
