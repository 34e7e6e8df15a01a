"""Page of several studies: one chart for all, then one section per study."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Literal

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.study_view import StudyView, VerificationView
from lsmtune.report.canvas import Chart, Key, Shape, picture
from lsmtune.report.figures import options
from lsmtune.report.markup import Html, element, folded, join, section, table
from lsmtune.report.page import assembled
from lsmtune.report.sections import options_table, warnings_box
from lsmtune.report.text.changed_options import OptionRow
from lsmtune.report.text.claim_text import claim_text
from lsmtune.report.text.facts import objective_text, workload_text
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import counted, listed, sentence_start, unbroken

_ROW_PX = 40
_LONGEST_NAME = 18

Claim = Literal["gain", "no gain", "not verified"]
CLAIMS: dict[Claim, tuple[Shape, str]] = {
    "gain": (Shape("circle", "●", "best"), "verified gain"),
    "no gain": (Shape("diamond-open", "◇", "worse"), "verified, no gain"),
    "not verified": (Shape("circle-open", "○", "soft"), "not verified"),
}


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
        cards=tuple(map(_card_of, views)),
    )


def _card_of(view: StudyView) -> Card:
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


def render_overview(views: Sequence[StudyView]) -> str:
    """Return the studies as one HTML page without external requests."""
    record = overview(views)
    return assembled(record.title, [_header(record), *map(_card, record.cards)])


def _header(record: Overview) -> Html:
    drawn: Html | str = ""
    if record.findings:
        found = {finding.claim for finding in record.findings}
        keys = [Key(*CLAIMS[claim]) for claim in CLAIMS if claim in found]
        described = f"{record.title}. {record.see}"
        drawn = picture("studies", overview_plot(record), keys, described, record.axis)
    heads = ("study", "winner / baseline by scale", "other scales", "workload", "objective")
    return element(
        "header",
        element("p", "Tuning studies", class_="topic"),
        element("h1", record.title),
        element("p", record.see),
        drawn,
        table("The studies", heads, map(_cells, record.cards)),
    )


def _cells(card: Card) -> list[str]:
    findings = join(
        element("div", _finding_text(found), class_="number") for found in card.findings
    )
    return [
        element("strong", card.study),
        findings or "no result",
        card.carries,
        card.load[0].partition(":")[0],
        join(element("div", text.partition(":")[0]) for text in card.objective),
    ]


def _finding_text(found: Finding) -> str:
    return f"{found.scale}: {found.ratio}, {found.claim}"


def _card(card: Card) -> Html:
    facts = (
        ("Workload", card.load),
        ("Objective", card.objective),
        ("Limits", card.limits),
        ("Scales", (card.carries, *map(_finding_text, card.findings))),
    )
    changed = counted(len(card.options), "changed option")
    return section(
        f"Study {card.study}",
        card.claim,
        warnings_box(card.warnings),
        element("dl", *(_fact(term, texts) for term, texts in facts), class_="facts"),
        folded(sentence_start(changed), options_table(card.options, "winner"))
        if card.options
        else element("p", "This study recommends no change of options."),
    )


def _fact(term: str, texts: Sequence[str]) -> Html:
    lines = (element("dd", unbroken(text)) for text in texts)
    return element("div", element("dt", term), *lines)


def overview_plot(record: Overview) -> Chart:
    """Draw one mark with its interval per finding, studies from top to bottom."""
    findings = record.findings
    names = [f"{_short(found.study)}<br>at {found.scale}" for found in findings]
    chart = Chart.rows(names, _ROW_PX)
    for claim, (shape, _) in CLAIMS.items():
        own = [(y, found) for y, found in enumerate(findings) if found.claim == claim]
        chart.intervals(
            [found.ratio for _, found in own], [y for y, _ in own], shape, "%{text}",
            size=11, text=[_finding_text(found) for _, found in own],
        )  # fmt: skip
    bounds = [x for f in findings for x in (f.ratio.value, f.ratio.low, f.ratio.high) if x]
    chart.ratio_axis(bounds)
    return chart


def _short(name: str) -> str:
    """Return a name that leaves room for the chart on a narrow screen."""
    whole = len(name) <= _LONGEST_NAME
    return escape(name if whole else f"{name[: _LONGEST_NAME - 1]}\N{HORIZONTAL ELLIPSIS}")
