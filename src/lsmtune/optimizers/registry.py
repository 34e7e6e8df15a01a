"""The optimizers by name."""

from collections.abc import Callable, Sequence

from pydantic import ValidationError

from lsmtune.errors import UserError
from lsmtune.optimizers.base import Optimizer
from lsmtune.optimizers.bestconfig import BestConfig
from lsmtune.optimizers.earlier import Earlier
from lsmtune.optimizers.genetic import Genetic, described, published
from lsmtune.optimizers.gp_ucb import GpUcb, UcbOptions
from lsmtune.optimizers.gp_ucb_published import PublishedGpUcb
from lsmtune.optimizers.nsga2 import nsga2
from lsmtune.optimizers.random_search import RandomSearch
from lsmtune.optimizers.tpe import tpe
from lsmtune.optimizers.warm_start import WarmStart

OPTIMIZERS: dict[str, Callable[[], Optimizer]] = {
    "tpe": tpe,
    "gp-ucb": GpUcb,
    "nsga2": nsga2,
    "random": RandomSearch,
    "bestconfig": BestConfig,
    "genetic": Genetic,
    "gp-ucb-autotikv": PublishedGpUcb,
    "genetic-jin2022": published,
    "genetic-jin2022-small": described,
}

_PUBLISHED = {"gp-ucb": "gp-ucb-autotikv", "genetic": "genetic-jin2022"}
"""What a paper has under the name of an optimizer that is made right here."""


def published_name(name: str) -> str:
    """The optimizer as its paper has it; UserError where none has it."""
    if name not in _PUBLISHED:
        raise UserError(
            f"--as-published: no paper's own {name!r} is here; those of {', '.join(_PUBLISHED)} are"
        )
    return _PUBLISHED[name]


def make_optimizer(text: str, earlier: Sequence[Earlier] = ()) -> Optimizer:
    """The optimizer that a text names, such as `tpe` or `gp-ucb:ucb=3,schedule=growing`.

    With earlier studies it begins with what they found. UserError naming what there is.
    """
    name, _, given = text.partition(":")
    if name not in OPTIMIZERS:
        raise UserError(f"optimizer: no {name!r}; known are {', '.join(OPTIMIZERS)}")
    optimizer = _with_options(name, given) if given else OPTIMIZERS[name]()
    return WarmStart(optimizer, earlier) if earlier else optimizer


def _with_options(name: str, given: str) -> Optimizer:
    if name != GpUcb.name:
        raise UserError(f"optimizer: {name} has no options; only {GpUcb.name} has")
    options = dict(part.partition("=")[::2] for part in given.split(","))
    try:
        return GpUcb(UcbOptions.model_validate(options))
    except ValidationError as error:
        first = error.errors()[0]
        known = ", ".join(UcbOptions.model_fields)
        key = first["loc"][0]
        raise UserError(
            f"optimizer: {name}:{given}: {key}: {first['msg'].lower()}; options are {known}"
        ) from None
