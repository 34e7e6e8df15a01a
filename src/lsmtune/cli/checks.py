"""The checks of `lsmtune doctor` as text."""

from collections.abc import Iterator, Sequence

from lsmtune.api.doctor import ABSENT, Check
from lsmtune.cli.tables import Column, paragraph, table_lines


def check_lines(checks: Sequence[Check]) -> Iterator[str]:
    """Give the checks as a table; a second row has the fix, or a note if the check passed."""
    rows = []
    for check in checks:
        rows.append((check.name, _state(check), check.detail))
        if check.fix is not None:
            rows.append(("", "note" if check.ok else "fix", check.fix))
    columns = [Column("check", at_least=13), Column("state", at_least=5), Column("result")]
    yield from table_lines(columns, rows)
    yield ""
    yield from paragraph(verdict_text(checks))


def verdict_text(checks: Sequence[Check]) -> str:
    """Return in one or two sentences whether RocksDB can be tuned here, and what is missing."""
    failed = [check.name for check in checks if not check.ok]
    absent = [check.name for check in checks if check.ok and check.detail.startswith(ABSENT)]
    warned = [check.name for check in checks if _state(check) == "warn"]
    text = (
        f'Not ready: {", ".join(failed)}. Do what the table says at "fix".'
        if failed
        else "RocksDB can be tuned here."
    )
    if warned:
        text += f" Look at the notes: {', '.join(warned)}."
    return text + (f" Not installed (optional): {', '.join(absent)}." if absent else "")


def _state(check: Check) -> str:
    """Return the state in one word; a check that passed with a note is a warning."""
    if not check.ok:
        return "FAIL"
    if check.detail.startswith(ABSENT):
        return "absent"
    return "ok" if check.fix is None else "warn"
