"""Remarks about the baseline of a study."""

from collections.abc import Iterable, Sequence

from lsmtune.analysis.measurable import flushes_text, too_few_flushes
from lsmtune.metrics.definitions import METRICS
from lsmtune.objective import Metrics
from lsmtune.report.text.memory_text import assumed_cache_text
from lsmtune.report.text.words import number, quantity
from lsmtune.spaces import KnobSpaces, assumed_cache_bytes, catalogue_in
from lsmtune.spec_defaults import BYTES_PER_SYNC
from lsmtune.study.baselines import Floor
from lsmtune.trials import Base

_SEE = "`lsmtune tune --verbose` lists values and reasons"

_MUCH_DRIVER_PERCENT = 100 / 3
"""CPU use of the driver from which it takes much of the cores from the store."""


def baseline_lines(base: Base, *, verbose: bool) -> list[str]:
    """Return the remarks about the baseline; one line names the options that are left out.

    With `verbose`, each option that is left out has a line of its own with value and reason.
    """
    lines = list(base.notes)
    if count := len(base.left_out):
        what = "1 option" if count == 1 else f"{count} options"
        names = ", ".join(option.partition(" = ")[0] for option in base.left_out)
        listed = "" if verbose else f" {names}; {_SEE}"
        lines.append(f"lsmtune does not use {what} of the file:{listed}")
        lines += [f"  {option}" for option in base.left_out] if verbose else []
    return lines


def cache_lines(spaces: KnobSpaces) -> list[str]:
    """Return a remark if the user's file does not say how large the block cache is."""
    size = assumed_cache_bytes(spaces.spec, spaces.ground)
    return [] if size is None else [assumed_cache_text(size)]


def online_lines(spaces: KnobSpaces) -> list[str]:
    """Return remarks about knobs that online tuning leaves out, and about a changed baseline."""
    spec, ground = spaces.spec, spaces.ground
    if spec.online is None:
        return []
    lines, base = [], ground.base
    chosen = (knob.name for knob in catalogue_in(spec, ground).select(spec.knobs))
    if names := [name for name in chosen if name in base.fixed_online]:
        lines.append(
            f"online tuning leaves out {', '.join(names)}: the C API of RocksDB "
            f"{ground.rocksdb_version} cannot change options of an open database"
        )
    if spaces.at().base.get(BYTES_PER_SYNC) != base.settings.get(BYTES_PER_SYNC):
        lines.append(
            f"online tuning begins with {BYTES_PER_SYNC} = 1 MiB instead of 0, because every "
            "change of an option of the database has this effect"
        )
    return lines


def driver_lines(metrics: Metrics) -> list[str]:
    """Return a remark if lsmtune's driver takes much of the cores in a run at a rate."""
    percent = metrics.get("driver_cpu_percent", 0.0)
    if percent <= _MUCH_DRIVER_PERCENT:
        return []
    return [
        f"lsmtune's driver itself uses {number(percent)} % of the cores, which is taken from the "
        "store; a lower rate or more cores make the figures more exact"
    ]


def measured_lines(
    runs: Sequence[Metrics], floors: Iterable[Floor], *, must_flush: bool = True
) -> list[str]:
    """Return what its runs say before a search: its noise, and whether it flushes too seldom.

    Without `must_flush`, no objective and no limit of the study needs the flushes.
    """
    few = too_few_flushes(runs)
    text = flushes_text(few, len(runs), is_needed=must_flush)
    warnings = [f"baseline: {text}"] if few else []
    return warnings + [f"noise: {_floor_text(floor)}" for floor in floors]


def _floor_text(floor: Floor) -> str:
    if floor.factor is None:
        return f"{floor.metric}: unknown, because the baseline has run once. Use base_runs >= 2"
    unit = METRICS[floor.metric].unit
    low, high = quantity(floor.low, unit), quantity(floor.high, unit)
    percent = f"{number(100 * (floor.factor - 1))} %"
    return (
        f"{floor.metric}: {low} to {high} in {floor.runs} runs of the baseline; "
        f"{floor.pairs} pairs of runs cannot prove a difference below {percent}"
    )
