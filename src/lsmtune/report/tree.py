"""LSM trees of baseline and winner: bytes per level, and causes of write stalls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.study_view import StudyView
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.report.text.words import quantity

Field = Literal["size_bytes", "write_bytes"]
_FIELDS: tuple[Field, ...] = ("size_bytes", "write_bytes")


@dataclass(frozen=True, slots=True)
class LevelBar:
    """Bytes of one level in baseline and winner; None if the engine does not report them."""

    level: str
    base: int | None
    best: int | None


@dataclass(frozen=True, slots=True)
class Levels:
    """One quantity of the levels, from the top of the tree down."""

    title: str
    see: str
    bars: tuple[LevelBar, ...]


@dataclass(frozen=True, slots=True)
class Trees:
    """Size of the levels of baseline and winner, and the bytes written into them."""

    title: str
    size: Levels
    written: Levels


@dataclass(frozen=True, slots=True)
class Stalls:
    """Number of write stalls in baseline and winner, by the engine's name of the cause."""

    title: str
    see: str
    rows: tuple[tuple[str, int, int], ...]


def trees(view: StudyView) -> Trees | None:
    """Return the levels with bytes; None if neither tree has one."""
    if view.base is None or view.best is None:
        return None
    base, best = _by_level(view.base), _by_level(view.best)
    used = [name for name in _ordered(base, best) if _in_use(base, name) or _in_use(best, name)]
    if not used:
        return None
    size, written = (
        tuple(LevelBar(n, _bytes(base, n, field), _bytes(best, n, field)) for n in used)
        for field in _FIELDS
    )
    see = "Bars show {}. Hatched bars are the baseline, plain bars are the winner."
    return Trees(
        title=_largest_change(written),
        size=Levels(
            f"Size of the tree: {_totals(size)}",
            see.format(f"the size of each level {_end(view)}"),
            size,
        ),
        written=Levels(
            f"Bytes written: {_totals(written)}",
            see.format("the bytes that flushes and compactions wrote into each level"),
            written,
        ),
    )


def _end(view: StudyView) -> str:
    """Return when the levels were measured, in words."""
    is_running = view.windows is not None
    return "at the end of the window" if is_running else "after all compactions are done"


def _largest_change(bars: Sequence[LevelBar]) -> str:
    """Return the level whose written bytes changed most, in words."""
    changes = [
        (abs(bar.base - bar.best), bar.level, bar.base, bar.best)
        for bar in bars
        if bar.base is not None and bar.best is not None
    ]
    if not changes or max(changes)[0] == 0:
        return "Levels of baseline and winner"
    _, level, base, best = max(changes)
    return (
        f"{level} changed most: {quantity(base, 'bytes')} written by the baseline, "
        f"{quantity(best, 'bytes')} by the winner"
    )


def _by_level(measurement: Measurement) -> dict[str, Level]:
    return {level.level: level for level in measurement.levels}


def _ordered(*trees: Mapping[str, Level]) -> list[str]:
    names = {name for tree in trees for name in tree}
    return sorted(names, key=lambda name: (len(name), name))  # L10 comes after L2


def _in_use(levels: Mapping[str, Level], name: str) -> bool:
    level = levels.get(name)
    return level is not None and bool(level.size_bytes or level.write_bytes)


def _bytes(levels: Mapping[str, Level], name: str, field: Field) -> int | None:
    level = levels.get(name)
    if level is None:
        return 0
    return level.size_bytes if field == "size_bytes" else level.write_bytes


def _totals(bars: Sequence[LevelBar]) -> str:
    known = [(bar.base, bar.best) for bar in bars if bar.base is not None and bar.best is not None]
    if not known or len(known) < len(bars):
        return "not reported for every level"
    base, best = (quantity(sum(values), "bytes") for values in zip(*known, strict=True))
    return f"{base} in the baseline, {best} in the winner"


def stalls(view: StudyView) -> Stalls | None:
    """Return the stalls, totals last.

    None without baseline and winner, without writes, or if the engine does not measure stalls.
    """
    if view.base is None or view.best is None or view.workload.kind == "read":
        return None
    base, best = view.base.stalls, view.best.stalls
    if not (base or best or view.measures("stall_s")):
        return None
    causes = [c for c in {**base, **best} if base.get(c) or best.get(c)]
    times = [run.metrics.get("stall_s") for run in (view.base, view.best)]
    return Stalls(
        title=_stalls_title(times) if causes or any(times) else "No stalls in baseline and winner",
        see="Number of write stalls, by the engine's name of the cause",
        rows=tuple(
            (cause, base.get(cause, 0), best.get(cause, 0))
            for cause in sorted(causes, key=lambda cause: cause.startswith("total"))
        ),
    )


def _stalls_title(times: Sequence[float | None]) -> str:
    base, best = (None if time is None else quantity(time, "s") for time in times)
    if base is None or best is None:
        return "Writes stalled; the time is unknown"
    return f"Writes stalled for {base} in the baseline, {best} in the winner"
