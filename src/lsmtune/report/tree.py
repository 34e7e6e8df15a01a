"""The trees that base and best left: bytes by level, and why writes stalled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from lsmtune.analysis.study_view import StudyView
from lsmtune.metrics.measurement import Level, Measurement
from lsmtune.report.words import quantity

Field = Literal["size_bytes", "write_bytes"]
_FIELDS: tuple[Field, ...] = ("size_bytes", "write_bytes")


@dataclass(frozen=True, slots=True)
class LevelBar:
    """Bytes of one level in base and in best; None where the engine does not state them."""

    level: str
    base: int | None
    best: int | None


@dataclass(frozen=True, slots=True)
class Levels:
    """One quantity of the levels of base and best, from the top of the tree down."""

    title: str
    see: str
    bars: tuple[LevelBar, ...]


@dataclass(frozen=True, slots=True)
class Trees:
    """The trees of base and best: the size of their levels, and the bytes written into them."""

    title: str
    size: Levels
    written: Levels


@dataclass(frozen=True, slots=True)
class Stalls:
    """How often writes stalled in base and in best, by cause as the engine names it."""

    title: str
    see: str
    rows: tuple[tuple[str, int, int], ...]


def trees(view: StudyView) -> Trees | None:
    """The levels that hold or were given bytes; None without such levels in base and best."""
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
    see = "A pair of bars a level: {}, hatched in base and plain in best."
    return Trees(
        title=_largest_change(written),
        size=Levels(f"Size: {_totals(size)}", see.format("its size once settled"), size),
        written=Levels(
            f"Written: {_totals(written)}",
            see.format("bytes flushed or compacted into it"),
            written,
        ),
    )


def _largest_change(bars: Sequence[LevelBar]) -> str:
    """The level whose written bytes changed most, in words."""
    changes = [
        (abs(bar.base - bar.best), bar.level, bar.base, bar.best)
        for bar in bars
        if bar.base is not None and bar.best is not None
    ]
    if not changes or max(changes)[0] == 0:
        return "The levels of base and best"
    _, level, base, best = max(changes)
    return (
        f"The largest difference is in {level}: base wrote {quantity(base, 'bytes')} into it, "
        f"best {quantity(best, 'bytes')}"
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
        return "not stated for every level"
    base, best = (quantity(sum(values), "bytes") for values in zip(*known, strict=True))
    return f"{base} in base, {best} in best"


def stalls(view: StudyView) -> Stalls | None:
    """The stalls of base and best, totals last; None without base and best, or without writes."""
    if view.base is None or view.best is None or view.workload.kind == "read":
        return None
    base, best = view.base.stalls, view.best.stalls
    causes = [c for c in {**base, **best} if base.get(c) or best.get(c)]
    times = [run.metrics.get("stall_s") for run in (view.base, view.best)]
    return Stalls(
        title=_stalls_title(times) if causes or any(times) else "No stalls in base or in best",
        see="How often writes were delayed or stopped, by cause as the engine names it.",
        rows=tuple(
            (cause, base.get(cause, 0), best.get(cause, 0))
            for cause in sorted(causes, key=lambda cause: cause.startswith("total"))
        ),
    )


def _stalls_title(times: Sequence[float | None]) -> str:
    base, best = (None if time is None else quantity(time, "s") for time in times)
    if base is None or best is None:
        return "Writes stalled; the time is not stated"
    return f"Writes stalled for {base} in base, {best} in best"
