"""What a study has published: its numbers, and its claims set against measurements."""

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from lsmtune.report.frame import section
from lsmtune.report.markup import Html, table
from lsmtune.report.words import TIMES
from lsmtune.stats import Interval

Finding = Literal["confirmed", "contradicted", "not decided"]


@cache
def published(package: str) -> dict[str, Any]:
    """The numbers of `published.toml` in a recipe's package."""
    return tomllib.loads((files(package) / "published.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Claim:
    """A published statement, what was measured about it, and what follows."""

    statement: str
    finding: Finding
    evidence: str

    def __str__(self) -> str:
        return f"{self.finding}: {self.statement} ({self.evidence})"

    def document(self) -> dict[str, str]:
        """The claim as JSON."""
        return asdict(self)


def times(ratio: Interval) -> str:
    """A ratio with its interval."""
    return f"{ratio.median:.3g} {TIMES} ({ratio.low:.3g} to {ratio.high:.3g})"


def judged(statement: str, ratio: Interval | None, *, falls: bool, of: str) -> Claim:
    """A statement that a ratio lies below 1 (or above), against the ratio that was measured.

    `of` says in words what the ratio is; None stands for too few runs.
    """
    if ratio is None:
        return Claim(statement, "not decided", f"{of}: too few runs")
    told = f"{of}: {times(ratio)}"
    if ratio.low <= 1 <= ratio.high:
        return Claim(statement, "not decided", told)
    return Claim(statement, "confirmed" if (ratio.high < 1) == falls else "contradicted", told)


def claims_section(topic: str, title: str, claims: Iterable[Claim]) -> Html:
    """The claims as a table: what was said, what was found."""
    rows = [[claim.statement, claim.finding, claim.evidence] for claim in claims]
    return section(topic, title, table(
        "What was published, and what was measured", ("published", "here", "evidence (95 %)"), rows,
    ))  # fmt: skip
