"""Several studies on one page: what each has found, and whether it carries over to other scales."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from lsmtune.analysis.study_view import StudyView, VerificationView
from lsmtune.report.facts import objective_text, workload_text
from lsmtune.report.figures import OptionRow, option_row
from lsmtune.report.headline import headline
from lsmtune.report.words import Ratio, listed

Claim = Literal["gain", "no gain", "not verified"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The objective's ratio to the base at one scale; without an interval if not verified."""

    study: str
    scale: str
    claim: Claim
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class Card:
    """A study in short; `findings` from the smallest scale to the largest."""

    study: str
    claim: str
    warnings: tuple[str, ...]
    load: tuple[str, ...]
    objective: tuple[str, ...]
    limits: tuple[str, ...]
    carries: str
    findings: tuple[Finding, ...]
    options: tuple[OptionRow, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """All studies, and the findings of those that have any, on one axis."""

    title: str
    see: str
    axis: str
    cards: tuple[Card, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of all studies, in their order."""
        return tuple(finding for card in self.cards for finding in card.findings)


def overview(views: Sequence[StudyView]) -> Overview:
    """The studies in the order in which they are given."""
    gains = sum(bool(v.verification and v.verification.verdict.claim == "gain") for v in views)
    return Overview(
        title=f"{gains} of {len(views)} studies ended in a verified gain",
        see=(
            "A mark a study and scale, with its interval of 95 %: the objective over the base's, "
            "left of 1 is better. What was not verified has no interval."
        ),
        axis="← better · objective, best / base, logarithmic · worse →",
        cards=tuple(map(_card, views)),
    )


def _card(view: StudyView) -> Card:
    head = headline(view)
    return Card(
        study=view.name,
        claim=head.claim,
        warnings=head.warnings,
        load=tuple(workload_text(view.workload)),
        objective=tuple(objective_text(view.objective)),
        limits=tuple(map(str, view.objective.limits)) or ("none",),
        carries=_carries(view),
        findings=tuple(_findings(view)),
        options=tuple(option_row(change) for change in view.changes),
    )


def _findings(view: StudyView) -> Iterator[Finding]:
    for found in _by_scale(view):
        verdict = found.verdict
        yield Finding(view.name, found.scale, verdict.claim, Ratio.of(verdict.objective))
    best = view.best_trial
    if not view.verifications and best is not None and best.value is not None:
        yield Finding(view.name, view.scale, "not verified", Ratio(best.value))


def _by_scale(view: StudyView) -> list[VerificationView]:
    return sorted(view.verifications, key=lambda found: Fraction(found.scale))


def _carries(view: StudyView) -> str:
    """Whether what was found at the study's scale holds at the others."""
    others = [found for found in _by_scale(view) if found.scale != view.scale]
    if not others:
        known = "verified" if view.verifications else "searched"
        return f"{known} at scale {view.scale} only"
    parts = []
    for claim, words in (("gain", "carries over to"), ("no gain", "does not carry over to")):
        scales = [found.scale for found in others if found.verdict.claim == claim]
        if scales:
            parts.append(f"{words} {'scale' if len(scales) == 1 else 'scales'} {listed(scales)}")
    return f"found at scale {view.scale}, {listed(parts)}"
