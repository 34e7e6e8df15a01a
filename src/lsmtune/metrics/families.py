"""Column families of a LOG: what each wrote and stores, and how often each made writes stall."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lsmtune.errors import Argument, ParseError, UserError, unknown_word
from lsmtune.metrics.compaction_table import (
    CompactionTable,
    number_of_stalls,
    parse_compaction_tables,
    parse_stall_summary,
)
from lsmtune.metrics.dump_blocks import of_family
from lsmtune.metrics.log_reader import LogContent
from lsmtune.metrics.statistics import Statistics
from lsmtune.units import GIB, MIB, format_bytes

DEFAULT = "default"
MOST_SHOWN = 3
"""A report shows this number of column families, and messages name as many."""
_LEAST_WRITTEN = 16 * MIB
"""Below, the bytes in the files say more about the load of a store than the bytes of a LOG."""


@dataclass(frozen=True, slots=True)
class FamilySum:
    """Sums of a column family; None where the LOG does not contain the value.

    `files` and `size_bytes` are of its last table. `written_bytes` are those of flushes,
    compactions and recovery, by events or by the table, which is rounded to a tenth of a GiB.
    `stalls` is the number of delays and stops in its last dump, `warnings` that of its warnings.
    """

    name: str
    files: int | None = None
    size_bytes: int | None = None
    written_bytes: int | None = None
    stalls: int | None = None
    warnings: int = 0

    @property
    def has_data(self) -> bool:
        """Whether the LOG shows bytes of the family."""
        return bool(self.written_bytes or self.size_bytes)

    @property
    def is_empty(self) -> bool:
        """Whether the LOG shows that the family has no files, and that nothing was written."""
        return self.files == 0 and not self.has_data


_Measure = Callable[[FamilySum], int]


def family_sums(content: LogContent) -> tuple[FamilySum, ...]:
    """Return the families that are not dropped, in the order of their options."""
    tables = {table.column_family: table for table in parse_compaction_tables(content.dump_text)}
    stalls, written = stall_counts(content.dump_text), _written(content)
    warnings: Counter[str] = Counter()
    for stall in content.stalls.stalls:
        warnings[stall.family] += stall.warnings
    seen = (shape.family for shape in content.ledger.shapes if shape.family)
    named = (*content.options.families, *tables, *written, *warnings, *filter(None, stalls), *seen)
    names = dict.fromkeys(named)
    unseen = 0 if content.is_whole and content.event_lines else None
    return tuple(
        _sum(name, tables.get(name), written.get(name, unseen), stalls.get(name), warnings[name])
        for name in names
        if name not in content.dropped
    )


def _sum(
    name: str, table: CompactionTable | None, written: int | None,
    stalls: Mapping[str, int] | None, warnings: int,
) -> FamilySum:  # fmt: skip
    total = None if table is None else table.sum
    # A tenth of a GiB is the least that is printed: 0.0 may be a little, or nothing.
    by_table = round(total.write_gb * GIB) if total is not None and total.write_gb else None
    known = [size for size in (written, by_table) if size is not None]
    return FamilySum(
        name,
        None if total is None else total.files,
        None if total is None else total.size_bytes,
        max(known, default=None),
        None if stalls is None else number_of_stalls(stalls),
        warnings,
    )


def stall_counts(dump_text: str) -> Mapping[str, Mapping[str, int]]:
    """Return the counts of stalls by column family; none if they cannot be read."""
    try:
        return parse_stall_summary(dump_text).by_family
    except ParseError:
        return {}


def _written(content: LogContent) -> Counter[str]:
    """Return the bytes that events say were written, by column family."""
    found: Counter[str] = Counter()
    names = [*content.options.families]
    nameless = names[0] if len(names) == 1 else DEFAULT
    for job in content.ledger.jobs:
        found[job.family or nameless] += job.written_bytes or 0
    for family, totals in content.ledger.made.get("recovery", {}).items():
        found[family] += totals.file_bytes
    return found


def main_family(sums: Sequence[FamilySum]) -> str:
    """Return the column family with most bytes: written, or else in its files."""
    return max(sums, key=_weight(sums), default=FamilySum(DEFAULT)).name


def that_matter(sums: Sequence[FamilySum], main: str) -> tuple[FamilySum, ...]:
    """Return at most three families: the main one, then those with stalls and with most bytes."""
    stalls, weight = _stalls(sums), _weight(sums)
    most = max(map(weight, sums), default=0) or 1
    all_stalls = sum(map(stalls, sums)) or 1
    ranked = sorted(sums, key=lambda one: -weight(one) / most - stalls(one) / all_stalls)
    ranked.sort(key=lambda one: one.name != main)
    known = (one for one in ranked if one.name == main or weight(one) or stalls(one))
    return tuple(known)[:MOST_SHOWN]


def _weight(sums: Sequence[FamilySum]) -> _Measure:
    """Return the measure of the bytes of a family.

    Of a LOG in which little was written, the bytes in the files count, too.
    """
    if max((one.written_bytes or 0 for one in sums), default=0) >= _LEAST_WRITTEN:
        return lambda one: one.written_bytes or 0
    return lambda one: max(one.written_bytes or 0, one.size_bytes or 0)


def _stalls(sums: Sequence[FamilySum]) -> _Measure:
    if any(one.stalls for one in sums):
        return lambda one: one.stalls or 0
    return lambda one: one.warnings


def check_not_empty(sums: Sequence[FamilySum], family: str, where: str, how: str) -> None:
    """Raise UserError if a column family is empty and others are not.

    `where` says which file shows that, `how` how to choose another family.
    """
    weight = _weight(sums)
    full = sorted((one for one in sums if weight(one)), key=lambda one: -weight(one))
    if not full or not any(one.name == family and one.is_empty for one in sums):
        return
    raise UserError(
        f"{where}: the column family {family!r} has no data; families with data: "
        f"{listed([*sizes_of(full).values()])}; ",
        how,
    )


def sizes_of(sums: Sequence[FamilySum]) -> dict[str, str]:
    """Return the names of families with their bytes where these are known, most bytes first."""
    weight = _weight(sums)
    ranked = sorted(sums, key=lambda one: -weight(one))
    return {
        one.name: f"{one.name} ({format_bytes(weight(one))})" if weight(one) else one.name
        for one in ranked
    }


def listed(names: Sequence[str], most: int = MOST_SHOWN) -> str:
    """Return a list of names as text; of a long list, the first ones and the number of the rest."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def check_known(family: str, names: Sequence[str]) -> None:
    """Raise UserError if the column family is not among the names."""
    if family not in names:
        raise UserError(Argument("family"), f": {unknown_word('column family', family, names)}")


def narrow(content: LogContent, family: str) -> None:
    """Leave out of the content what is of other column families, and of the whole database."""
    options, ledger = content.options, content.ledger
    options.families = {n: told for n, told in options.families.items() if n == family}
    ledger.jobs = [job for job in ledger.jobs if (job.family or DEFAULT) == family]
    ledger.shapes = [shape for shape in ledger.shapes if shape.family == family]
    ledger.made = {
        origin: {name: totals for name, totals in made.items() if name == family}
        for origin, made in ledger.made.items()
    }
    content.stalls.stalls = [stall for stall in content.stalls.stalls if stall.family == family]
    content.dump_text = of_family(content.dump_text, family)
    content.dumps, content.statistics = [], Statistics({}, {}, ())
