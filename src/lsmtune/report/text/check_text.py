"""The checks of `lsmtune doctor` in words."""

from collections.abc import Sequence
from typing import Protocol


class Checked(Protocol):
    """The result of a check."""

    @property
    def name(self) -> str:
        """What was checked."""

    @property
    def state(self) -> str:
        """One of ok, warn, absent and FAIL."""

    @property
    def ok(self) -> bool:
        """Whether the check passed, maybe with a note."""

    @property
    def detail(self) -> str:
        """What was found."""

    @property
    def fix(self) -> str | None:
        """What to do, if anything."""


def check_rows(checks: Sequence[Checked]) -> list[tuple[str, str, str]]:
    """Return rows of name, state and result; a second row has the fix, or a note."""
    rows = []
    for check in checks:
        rows.append((check.name, check.state, check.detail))
        if check.fix is not None:
            rows.append(("", "note" if check.ok else "fix", check.fix))
    return rows


def verdict_text(checks: Sequence[Checked], where: str) -> str:
    """Return in one or two sentences whether RocksDB can be tuned there, and what is missing."""
    failed, absent, warned = (
        list(dict.fromkeys(check.name for check in checks if check.state == state))
        for state in ("FAIL", "absent", "warn")
    )
    text = (
        f'Not ready: {", ".join(failed)}. Do what the table says at "fix".'
        if failed
        else f"RocksDB can be tuned {where}."
    )
    if warned:
        text += f" Look at the notes: {', '.join(warned)}."
    return text + (f" Not installed (optional): {', '.join(absent)}." if absent else "")
