"""The result of `lsmtune compare` as text."""

from lsmtune.analysis.shipped_runs import SHIPPED_VERSION
from lsmtune.cli.tables import Column, paragraph, table_lines
from lsmtune.comparison.race import Outcome


def compared_lines(found: Outcome, *, simulated: bool) -> list[str]:
    """Return the outcome for people: a table, the best optimizer first."""
    first = found.standings[0]
    marks = [*first.best_at]
    heading = (
        "Objective of the best config after N trials, as a ratio to the baseline. A ratio below 1 "
        f"is a gain. Each ratio is the median of {first.repeats} searches with its 95 % interval. "
        f'"trials to target" is the number of trials until the ratio is at most {found.target:.3f}.'
    )
    if simulated:
        heading += (
            f" A model that was fitted to measured runs of RocksDB {SHIPPED_VERSION} predicted the "
            "trials."
        )
    columns = [Column("optimizer", at_least=9)]
    columns += [
        Column(f"{mark} trials", at_least=13, drop=0 if mark == marks[-1] else len(marks) - at)
        for at, mark in enumerate(marks)
    ]
    columns.append(Column("trials to target", at_least=11))
    rows = []
    for s in found.standings:
        cells = [f"{i.median:.3f} ({i.low:.3f} to {i.high:.3f})" for i in s.best_at.values()]
        median = s.trials_to_target[0]
        rows.append([s.optimizer, *cells, "not reached" if median is None else str(median)])
    return [*paragraph(heading), "", *table_lines(columns, rows)]
