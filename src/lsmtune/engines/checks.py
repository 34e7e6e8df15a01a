"""Checks of this machine for `lsmtune doctor`, and the check of an optional engine."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Engine
from lsmtune.errors import LsmtuneError
from lsmtune.system.workdir import scratch

ABSENT = "not available"
"""Start of the detail of an optional part that is missing."""


@dataclass(frozen=True, slots=True)
class CheckContext:
    """What the user named for the checks: the home, and the db_bench, if any."""

    home: Path
    program: str | None


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check; `fix` is what to do, if anything."""

    name: str
    ok: bool
    detail: str
    fix: str | None = None

    @property
    def state(self) -> str:
        """The state in one word; a check that passed with a note is a warning."""
        if not self.ok:
            return "FAIL"
        if self.detail.startswith(ABSENT):
            return "absent"
        return "ok" if self.fix is None else "warn"

    def document(self) -> dict[str, Any]:
        """The check as JSON."""
        return asdict(self)


def optional_check(name: str, make: Callable[[], Engine], use: str, target: str) -> Check:
    """Return the check of an optional engine, which does not fail without it.

    `name` is what must be installed to `use` the engine; `make TARGET` installs it.
    """
    try:
        with scratch() as folder:
            facts = make().describe(folder)
    except LsmtuneError as error:
        fix = (
            f"lsmtune needs {name} only to {use}: if you do not {use}, nothing is missing; "
            f"`make {target}` installs {name}"
        )
        return Check(name, True, f"{ABSENT}: {error.message.with_flags()}", fix)
    return Check(name, True, facts.version)
