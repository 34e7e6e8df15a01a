"""Column families of a LOG in rows: those that matter most, and why."""

from lsmtune.analysis.inspect.changed import grouped
from lsmtune.analysis.inspect.inspection import ChangedOption, Inspection, LevelLine
from lsmtune.metrics.families import MOST_SHOWN, FamilySum, listed, sizes_of, that_matter
from lsmtune.report.text.words import counted
from lsmtune.units import format_bytes

FAMILY_HEADS = ("column family", "files", "size", "written", "stalls", "why it is here")
_UNKNOWN = "unknown"
_MOST_NAMED = 6


def has_several(log: Inspection) -> bool:
    """Return whether the LOG has data of more than one column family."""
    told = any(one.has_data or one.stalls or one.warnings for one in log.family_sums)
    return told and len(log.family_sums) > 1


def named_families(log: Inspection) -> str | None:
    """Return the names of the column families of a file without data; None if it has data."""
    names = [one.name for one in log.family_sums]
    if has_several(log) or len(names) == 1 or not names:
        return None
    return f"{len(names)} column families: {listed(names, _MOST_NAMED)}; --family NAME shows one"


def families_title(log: Inspection) -> str:
    """Return how many column families there are, and how to see one."""
    count, shown = len(log.family_sums), len(that_matter(log.family_sums, log.main_family))
    which = "All" if shown == count else f"{shown} of"
    return f"{which} {count} column families, the most important first; --family NAME shows one"


def other_families(log: Inspection) -> str | None:
    """Return the names of the families that have no row; None if all have one."""
    shown = {one.name for one in that_matter(log.family_sums, log.main_family)}
    rest = [one for one in log.family_sums if one.name not in shown]
    return f"Other families: {listed([*sizes_of(rest).values()], _MOST_NAMED)}" if rest else None


def family_rows(log: Inspection) -> list[list[str]]:
    """Return a row per column family that matters, under FAMILY_HEADS."""
    return [
        [
            one.name,
            _UNKNOWN if one.files is None else f"{one.files:,}",
            _size(one.size_bytes),
            _size(one.written_bytes),
            _UNKNOWN if one.stalls is None else f"{one.stalls:,}",
            _why(log, one),
        ]
        for one in that_matter(log.family_sums, log.main_family)
    ]


def _size(size_bytes: int | None) -> str:
    return _UNKNOWN if size_bytes is None else format_bytes(size_bytes)


def _why(log: Inspection, one: FamilySum) -> str:
    """Return the shares of a family in the bytes and in the stalls of all families."""
    sums = log.family_sums
    parts = [
        _share("of the written bytes", one.written_bytes, [each.written_bytes for each in sums]),
        _share("of the bytes in files", one.size_bytes, [each.size_bytes for each in sums]),
    ]
    if stalls := sum(each.stalls or 0 for each in sums):
        parts.append(f"{one.stalls or 0:,} of {counted(stalls, 'stall')}")
    elif warnings := sum(each.warnings for each in sums):
        parts.append(f"{one.warnings:,} of {counted(warnings, 'stall warning')}")
    known = [part for part in parts if part and not part.startswith("0 ")]
    return ", ".join(known) or ("less than 1 % of all bytes" if one.has_data else "no data")


def _share(what: str, part: int | None, all_parts: list[int | None]) -> str:
    total = sum(size or 0 for size in all_parts)
    return f"{100 * (part or 0) / total:.0f} % {what}" if total else ""


def shown_levels(log: Inspection) -> list[LevelLine]:
    """Return the levels of the column families that matter; all levels of a few families."""
    if len({level.family for level in log.levels}) <= MOST_SHOWN:
        return [*log.levels]
    shown = {one.name for one in that_matter(log.family_sums, log.main_family)}
    return [level for level in log.levels if level.family in shown]


def option_groups(log: Inspection) -> list[tuple[str | None, dict[str, ChangedOption]]]:
    """Return the changed options by the column families that have them, with a heading each.

    Families with equal options are together. The heading is None for options of the database and
    of all families.
    """
    found = []
    for families, changes in grouped(log.options_changed, log.options):
        heading = f"only in {listed(families, _MOST_NAMED)}" if families else None
        found.append((heading, changes))
    return found
