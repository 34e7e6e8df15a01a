"""Published numbers of a study, and published claims compared with measurements."""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, Literal, get_args

from lsmtune.experiment import Sweep
from lsmtune.report.markup import Html, element, section, table
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import TIMES, unbroken
from lsmtune.stats import Interval

Finding = Literal["confirmed", "contradicted", "not decided", "not judged"]

_LARGE_FACTOR = 2
_COUNTED = ("number of ", "bytes ", "gets ")
"""Beginnings of nouns that are counted: fewer bytes, but less space."""
_MEANINGS = PageTexts(__package__)


def published(package: str) -> dict[str, Any]:
    """Return the numbers of `published.toml` in a recipe's package."""
    return read_toml(package, "published.toml")


def stated_claims(package: str) -> list[dict[str, Any]]:
    """Return the claims of `claims.toml` in a recipe's package."""
    claims: list[dict[str, Any]] = read_toml(package, "claims.toml")["claims"]
    return claims


def planned(package: str, name: str, repeats: int | None, **more: Any) -> Sweep:
    """Return an experiment of `experiments.toml`; `repeats` and `more` replace what it says."""
    told = {**read_toml(package, "experiments.toml")[name], **more}
    return Sweep(**(told if repeats is None else {**told, "repeats": repeats}))


@cache
def read_toml(package: str, name: str) -> dict[str, Any]:
    """Return the contents of a file in a recipe's package."""
    return tomllib.loads((files(package) / name).read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Claim:
    """A published claim, the measured evidence, and the result of the comparison."""

    statement: str
    finding: Finding
    evidence: str

    def __str__(self) -> str:
        return f"{self.finding}: {self.statement} ({self.evidence})"

    def document(self) -> dict[str, str]:
        """Return the claim as JSON."""
        return asdict(self)


def times(ratio: Interval) -> str:
    """Return a ratio with its interval."""
    return str(Ratio.of(ratio))


def change_text(ratio: Interval | None, noun: str) -> str:
    """Return a ratio as a change in words: `66 % less space`; no number if it is not shown."""
    if ratio is None:
        return f"no ratio for {noun}"
    if ratio.low <= 1 <= ratio.high:
        return f"no clear change in {noun}"
    if ratio.median >= _LARGE_FACTOR:
        return f"{ratio.median:.2g} {TIMES} the {noun}"
    fewer = "fewer" if noun.startswith(_COUNTED) else "less"
    percent = 100 * abs(ratio.median - 1)
    return (
        f"{percent:.2g} % {fewer if ratio.median < 1 else 'more'} {noun.removeprefix('number of ')}"
    )


def judged(statement: str, ratio: Interval | None, *, falls: bool, of: str) -> Claim:
    """Return the result for a claim that a ratio is below 1 (or above 1, without `falls`).

    `of` names the ratio. The ratio is None if there are too few runs.
    """
    if ratio is None:
        return Claim(statement, "not decided", f"{of}: too few runs")
    evidence = f"{of}: {times(ratio)}"
    if ratio.low <= 1 <= ratio.high:
        return Claim(statement, "not decided", evidence)
    return Claim(statement, "confirmed" if (ratio.high < 1) == falls else "contradicted", evidence)


def unjudged(claims: Iterable[Claim], reason: str | None) -> Iterator[Claim]:
    """Yield the claims; without a result if there is a reason not to judge them."""
    for claim in claims:
        if reason is None:
            yield claim
        else:
            yield replace(claim, finding="not judged", evidence=reason)


def claims_section(claims: Sequence[Claim]) -> Html:
    """Return the claims as a table with their results and the evidence."""
    confirmed = sum(claim.finding == "confirmed" for claim in claims)
    used = {claim.finding for claim in claims}
    title = f"{confirmed} of {len(claims)} published claims are confirmed"
    if used == {"not judged"}:
        title = "No claim is judged"
    rows = [[claim.statement, claim.finding, _evidence(claim)] for claim in claims]
    legend = " ".join(_MEANINGS.shown({name: name in used for name in get_args(Finding)}))
    return section(
        "Published claims", title,
        element("p", unbroken(legend)),
        table("Published claims and measured ratios",
              ("published claim", "result here", "measured ratio (95 % interval)"), rows),
    )  # fmt: skip


def _evidence(claim: Claim) -> str:
    return "too little data" if claim.finding == "not judged" else unbroken(claim.evidence)
