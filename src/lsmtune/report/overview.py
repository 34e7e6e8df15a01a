"""Overview of several studies: the result of each, also at other scales."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.study_view import StudyView, VerificationView
from lsmtune.report.figures import options
from lsmtune.report.text.changed_options import OptionRow
from lsmtune.report.text.claim_text import claim_text
from lsmtune.report.text.facts import objective_text, workload_text
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import listed

Claim = Literal["gain", "no gain", "not verified"]


@dataclass(frozen=True, slots=True)
class Finding:
    """Ratio of the objective to the baseline at one scale; no interval if not verified."""

    study: str
    scale: str
    claim: Claim
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class Card:
    """Summary of a study; `findings` are ordered by scale."""

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
    """All studies and their findings."""

    title: str
    see: str
    axis: str
    cards: tuple[Card, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Findings of all studies, in their order."""
        return tuple(finding for card in self.cards for finding in card.findings)


def overview(views: Sequence[StudyView]) -> Overview:
    """Return the overview; studies keep their order."""
    gains = sum(claim_of(view).gain for view in views)
    return Overview(
        title=f"{gains} of {len(views)} studies have a verified gain",
        see="Left of 1 is better. It is proven only if the whole line is left of 1.",
        axis="← better · objective, winner / baseline, 95 % interval · worse →",
        cards=tuple(map(_card, views)),
    )


def _card(view: StudyView) -> Card:
    text = claim_text(claim_of(view))
    return Card(
        study=view.name,
        claim=text.headline,
        warnings=text.warnings,
        load=tuple(workload_text(view.workload, view.engine)),
        objective=tuple(objective_text(view.objective)),
        limits=tuple(map(str, view.objective.limits)) or ("none",),
        carries=_carries(view),
        findings=tuple(_findings(view)),
        options=options(view).rows,
    )


def _findings(view: StudyView) -> Iterator[Finding]:
    for found in _by_scale(view):
        verdict = found.verdict
        yield Finding(view.name, found.scale, verdict.claim, Ratio.of(verdict.objective))
    best = view.best_trial
    if not view.verifications and best is not None and best.judged is not None:
        yield Finding(view.name, view.scale, "not verified", Ratio(best.judged))


def _by_scale(view: StudyView) -> list[VerificationView]:
    return sorted(view.at_own_rate, key=lambda found: Fraction(found.scale))


def _carries(view: StudyView) -> str:
    """Return whether the result holds at other scales than that of the study."""
    others = [found for found in _by_scale(view) if found.scale != view.scale]
    done = "verified" if view.verifications else "searched, not verified,"
    parts = []
    for claim, words in (("gain", "gain also at"), ("no gain", "no gain at")):
        scales = [found.scale for found in others if found.verdict.claim == claim]
        if scales:
            parts.append(f"{words} {'scale' if len(scales) == 1 else 'scales'} {listed(scales)}")
    if not parts:
        return f"{done} at scale {view.scale} only"
    return f"found at scale {view.scale}, {listed(parts)}"
