"""The studies of a home as a table."""

from collections.abc import Sequence
from typing import Any

from lsmtune.cli.tables import Column, table_lines
from lsmtune.report.text.words import TIMES


def table_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rows as a table."""
    columns = [
        Column("study", at_least=8), Column("kind"), Column("workload", at_least=8),
        Column("engine", drop=2), Column("objective", at_least=8), Column("result", at_least=8),
        Column("runs", drop=1), Column("state"), Column("started", drop=3),
    ]  # fmt: skip
    cells = [
        (
            row["study"], row["kind"], row["workload"], row["engine"],
            ", ".join(row["objective"]), _result_text(row), str(row["runs"]), row["state"],
            row["started"][:10],
        )
        for row in rows
    ]  # fmt: skip
    return list(table_lines(columns, cells)) if rows else ["no studies"]


def _result_text(row: dict[str, Any]) -> str:
    """Return what a study found, and the objective of its winner."""
    value, result = row["value"], str(row["result"])
    return result if value is None else f"{result} {value:.2f} {TIMES}"
