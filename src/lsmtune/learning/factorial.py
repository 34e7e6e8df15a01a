"""What the factors of a controlled experiment do: least squares on levels and blocks."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lsmtune.learning.factors import Floats
from lsmtune.learning.variance import LeastSquares, holm, least_squares
from lsmtune.stats import Interval

Levels = NDArray[np.int_]
"""A row a run, a column a factor: the level that it had."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a level does against the reference: their ratio, or, see FactorialFit, difference."""

    level: int
    change: Interval


@dataclass(frozen=True, slots=True)
class FactorEffect:
    """What a factor does to an outcome, the other factors and the blocks held.

    The `contrasts` are those of the other levels that were measured to the first of them, the
    `reference`; none where the runs do not tell this factor from another. `p` is corrected for
    testing several factors (Holm); `eta_squared` is the factor's share of the whole variance.
    """

    p: float
    eta_squared: float
    reference: int
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, slots=True)
class PairEffect:
    """Whether two factors do together what neither does alone; `p` is corrected as well."""

    first: int
    second: int
    p: float
    eta_squared: float


@dataclass(frozen=True, slots=True)
class HostEffect:
    """How much the hosts explain of an outcome, factors and blocks held; see `FactorEffect`."""

    p: float
    eta_squared: float


@dataclass(frozen=True, slots=True)
class FactorialFit:
    """The effects of all factors: ratios where they are `relative`, differences otherwise.

    They are differences where outcomes are not all positive. `hosts` is None where all runs are
    of one host, or where hosts cannot be separated from blocks and factors.
    """

    relative: bool
    factors: tuple[FactorEffect, ...]
    pairs: tuple[PairEffect, ...]
    hosts: HostEffect | None = None


def fit_factorial(
    levels: Levels, blocks: Sequence[int], outcome: Floats, hosts: Sequence[str] = ()
) -> FactorialFit:
    """Fit the main effects of all factors, and each pair's interaction on top of them.

    `outcome` has a value a run, and `hosts` its host, if the runs are of several. ValueError where
    there are too few runs to tell any noise.
    """
    relative = bool((outcome > 0).all())
    values = np.log(outcome) if relative else outcome
    own = [_columns(levels[:, factor]) for factor in range(levels.shape[1])]
    in_blocks = np.column_stack([np.ones(len(values)), _columns(np.asarray(blocks))])
    on_hosts = _columns(np.asarray(hosts)) if hosts else np.empty((len(values), 0))
    constant = np.column_stack([in_blocks, on_hosts])
    full = least_squares(values, np.column_stack([constant, *own]))
    if full.freedom < 1:
        raise ValueError(f"{len(values)} runs are too few to estimate {full.rank - 1} effects")
    total = float(((values - values.mean()) ** 2).sum())
    tests = [
        _tested(full, values, [constant, *own[:at], *own[at + 1 :]], total)
        for at in range(len(own))
    ]
    corrected = holm([p for p, _ in tests])
    effects, first = [], constant.shape[1]
    for at, (p, (_, share)) in enumerate(zip(corrected, tests, strict=True)):
        names = np.unique(levels[:, at])
        told = _is_told(full, own[at], [constant, *own[:at], *own[at + 1 :]])
        contrasts = tuple(
            Contrast(int(level), _change(full, first + place, relative=relative))
            for place, level in enumerate(names[1:])
            if told
        )
        first += own[at].shape[1]
        effects.append(FactorEffect(p, share, int(names[0]), contrasts))
    pairs = tuple(_pairs(full, values, [constant, *own], own, total))
    rest = [in_blocks, *own]
    is_told = full.rank > np.linalg.matrix_rank(np.column_stack(rest))
    effect = HostEffect(*_tested(full, values, rest, total)) if is_told else None
    return FactorialFit(relative, tuple(effects), pairs, effect)


def _columns(levels: Levels | NDArray[np.str_]) -> Floats:
    """One column a level but for the first."""
    names = np.unique(levels)[1:]
    columns = [(levels == name).astype(float) for name in names]
    return np.column_stack(columns) if columns else np.empty((len(levels), 0))


def _is_told(full: LeastSquares, block: Floats, rest: Sequence[Floats]) -> bool:
    """Whether each level of a factor adds something that no other factor says already."""
    without = np.linalg.matrix_rank(np.column_stack(rest))
    return bool(full.rank == without + block.shape[1])


def _tested(
    full: LeastSquares, values: Floats, rest: Sequence[Floats], total: float
) -> tuple[float, float]:
    """How likely what the rest does not explain is chance, and its share of the variance."""
    reduced = least_squares(values, np.column_stack(rest))
    if full.rank <= reduced.rank or total == 0:
        return 1.0, 0.0
    share = max(0.0, reduced.squares - full.squares) / total
    if full.squares <= np.finfo(float).eps * total:
        return (0.0 if share > 0 else 1.0), share
    return full.p_against(reduced), share


def _change(full: LeastSquares, place: int, *, relative: bool) -> Interval:
    bounds = (float(full.params[place]), *full.interval(place))
    return Interval(*(float(np.exp(b)) if relative else b for b in bounds))


def _pairs(
    main: LeastSquares,
    values: Floats,
    blocks: Sequence[Floats],
    own: Sequence[Floats],
    total: float,
) -> list[PairEffect]:
    found = []
    for first, second in combinations(range(len(own)), 2):
        products = [a * b for a in own[first].T for b in own[second].T]
        if not products:
            continue
        wider = least_squares(values, np.column_stack([*blocks, *products]))
        if wider.freedom >= 1 and wider.rank > main.rank:
            p, share = _tested(wider, values, blocks, total)
            found.append(PairEffect(first, second, p, share))
    ps = holm([pair.p for pair in found])
    return [replace(pair, p=p) for pair, p in zip(found, ps, strict=True)]
