"""The optimizers by name."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from lsmtune.entries import Entries, check_contract, one_line
from lsmtune.errors import Argument, UserError, unknown_word
from lsmtune.optimizers.base import Optimizer

if TYPE_CHECKING:
    from lsmtune.optimizers.algorithms.guided import Foretell
    from lsmtune.optimizers.base import Earlier


def _module(name: str) -> Any:
    """A module of this room, imported when it is needed: some take a second with their packages."""
    return import_module(f"lsmtune.optimizers.{name}")


Maker = Callable[[], Optimizer]
"""What an entry of an optimizer is: a class or a function without arguments."""


def checked_optimizer(name: str, found: object) -> Maker:
    """Return what a package offers as an optimizer; ValueError if it makes none of this name.

    An optimizer may have an attribute `contract`, the contract with lsmtune that it was made for.
    Without it, that is the first one.
    """
    if not callable(found):
        raise ValueError(f"it is no class or function, but of the type {type(found).__name__}")
    check_contract(getattr(found, "contract", 1))
    try:
        made = found()
    except Exception as error:  # another package may raise anything
        raise ValueError(f"it cannot be made: {one_line(error)}") from error
    check_contract(getattr(made, "contract", 1))
    if not callable(getattr(made, "ask", None)) or not getattr(made, "summary", ""):
        raise ValueError("an optimizer needs the method ask and a summary")
    if getattr(made, "name", None) != name:
        raise ValueError(f"the optimizer has another name, {getattr(made, 'name', None)!r}")
    return found


_FILES = Path(__file__).with_name("algorithms").glob("[a-z]*.py")
_BUILT_IN: Mapping[str, str] = {
    path.stem.replace("_", "-"): f"lsmtune.optimizers.algorithms.{path.stem}:make"
    for path in sorted(_FILES)
}
"""The place of each optimizer of lsmtune. Its file has its name."""

OPTIMIZERS: Entries[Maker] = Entries(
    "lsmtune.optimizers", "optimizer", _BUILT_IN, f"{__name__}:checked_optimizer"
)
"""What makes each optimizer, by name."""

_WITH_OPTIONS, _GUIDED = "gp-ucb", "guided"

_PUBLISHED = {"gp-ucb": "gp-ucb-autotikv", "genetic": "genetic-jin2022"}
"""What a paper has under the name of an optimizer that is made right here."""


def published_name(name: str) -> str:
    """The optimizer as its paper has it; UserError where none has it."""
    if name not in _PUBLISHED:
        available = ", ".join(_PUBLISHED)
        raise UserError(
            Argument("as_published", True),
            f": the optimizer {name!r} has no published form; available: {available}",
        )
    return _PUBLISHED[name]


def check_optimizer(text: str) -> None:
    """Raise UserError if the text names no optimizer, without importing one that has no options."""
    name, _, given = text.partition(":")
    if name not in OPTIMIZERS:
        raise UserError(f"optimizer: {unknown_word('optimizer', name, OPTIMIZERS)}")
    if given:
        _with_options(name, given)


def make_optimizer(
    text: str,
    earlier: Sequence["Earlier"] = (),
    foretelling: Callable[[], "Foretell | None"] = lambda: None,
) -> Optimizer:
    """The optimizer that a text names, such as `tpe` or `gp-ucb:ucb=3,schedule=growing`.

    With earlier studies it begins with what they found. `foretelling` gives what may guide one that
    is guided. UserError naming what there is.
    """
    check_optimizer(text)
    name, _, given = text.partition(":")
    if name == _GUIDED and not given:
        optimizer: Optimizer = _module("algorithms.guided").Guided(foretelling())
    else:
        optimizer = _with_options(name, given) if given else OPTIMIZERS[name]()
    if not earlier:
        return optimizer
    warm: Optimizer = _module("warm_start").WarmStart(optimizer, earlier)
    return warm


def _with_options(name: str, given: str) -> Optimizer:
    if name != _WITH_OPTIONS:
        raise UserError(f"optimizer: {name} has no options; only {_WITH_OPTIONS} has options")
    process = _module("algorithms.gp_ucb")
    options = dict(part.partition("=")[::2] for part in given.split(","))
    try:
        made: Optimizer = process.GpUcb(process.UcbOptions.model_validate(options))
        return made
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        fields = process.UcbOptions.model_fields
        if key not in fields:
            raise UserError(f"optimizer: {name}: {unknown_word('option', key, fields)}") from None
        raise UserError(
            f"optimizer: {name}: {key}: invalid value {options[key]!r}; "
            f"allowed: {fields[key].description}"
        ) from None
