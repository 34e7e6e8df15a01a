"""Ranges of threads that suit the cores of a host.

Nobody deploys 16 background jobs on 2 cores. A trial with them measures how threads wait for cores.
"""

from collections.abc import Iterable

from lsmtune.errors import UserError
from lsmtune.knobs.families import PLAIN, Names
from lsmtune.knobs.types import Knob, Settings

_JOBS = "max_background_jobs"
_PER_CORE = ("subcompactions", "num_bottom_pri_threads")
_LEAST_JOBS = 4
"""The end of the range on one core or two."""
_JOBS_PER_CORE = 2


def with_cores(
    knobs: Iterable[Knob], cores: int, base: Settings, names: Names = PLAIN
) -> tuple[Knob, ...]:
    """Return the knobs with ranges of threads for a host with this number of usable cores.

    Background jobs reach up to twice the cores, at least 4. The parts of a compaction and the
    threads of the lowest priority reach up to the cores. Ranges do not exceed what the engine
    accepts. They have room for the value of `base`, by `Knob.around`. Lists of choices and all
    other knobs stay unchanged.

    A knob whose range has only one value is left out, so it stays at `base`: `subcompactions` on
    one core. UserError if no knob is left.
    """
    asked = tuple(knobs)
    ranged = (_with_cores(knob, names.option(knob.name), cores, base) for knob in asked)
    kept = tuple(knob for knob in ranged if knob is not None)
    if asked and not kept:
        listed = ", ".join(knob.name for knob in asked)
        raise UserError(
            f"knobs: only one value of {listed} suits the number of usable CPU cores ({cores}); "
            "name other knobs too"
        )
    return kept


def _with_cores(knob: Knob, option: str, cores: int, base: Settings) -> Knob | None:
    """Return the knob with its range for the cores; None if only the value of the base is left."""
    most = _most_threads(option, cores)
    if most is None or not knob.is_range:
        return knob
    high = most if knob.most is None else min(most, knob.most)
    found = knob.model_copy(update={"high": high}).around(base[knob.name])
    low, high = found.bounds()
    return found if low < high else None


def _most_threads(option: str, cores: int) -> int | None:
    """Return the end of the option's range; None for options that do not count these threads."""
    if option == _JOBS:
        return max(_LEAST_JOBS, _JOBS_PER_CORE * cores)
    return cores if option in _PER_CORE else None
