"""Page of several studies: one chart for all, then one section per study."""

from collections.abc import Sequence
from html import escape

import plotly.graph_objects as go

from lsmtune.analysis.study_view import StudyView
from lsmtune.report.canvas import Key, Shape, canvas, colour, marker, name_rows, ratio_axis
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, element, folded, join, table
from lsmtune.report.overview import Card, Claim, Finding, Overview, overview
from lsmtune.report.page import assembled
from lsmtune.report.sections import options_table, warnings_box
from lsmtune.report.text.words import counted, sentence_start, unbroken

_ROW_PX = 40
_LONGEST_NAME = 18
CLAIMS: dict[Claim, tuple[Shape, str]] = {
    "gain": (Shape("circle", "●", "best"), "verified gain"),
    "no gain": (Shape("diamond-open", "◇", "worse"), "verified, no gain"),
    "not verified": (Shape("circle-open", "○", "soft"), "not verified"),
}


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


def overview_plot(record: Overview) -> go.Figure:
    """Draw one mark with its interval per finding, studies from top to bottom."""
    findings = record.findings
    figure = canvas(_ROW_PX * (len(findings) + 1), top=32, bottom=8)
    for claim, (shape, _) in CLAIMS.items():
        _add_findings(figure, [(y, f) for y, f in enumerate(findings) if f.claim == claim], shape)
    bounds = [x for f in findings for x in (f.ratio.value, f.ratio.low, f.ratio.high) if x]
    low, high = min([*bounds, 0.95]) / 1.05, max([*bounds, 1.05]) * 1.05
    figure.update_xaxes(side="top", **ratio_axis(low, high))
    figure.add_vline(x=1, line={"color": colour("ink"), "width": 1.2}, layer="below")
    name_rows(figure, [f"{_short(found.study)}<br>at {found.scale}" for found in findings])
    return figure


def _short(name: str) -> str:
    """Return a name that leaves room for the chart on a narrow screen."""
    whole = len(name) <= _LONGEST_NAME
    return escape(name if whole else f"{name[: _LONGEST_NAME - 1]}\N{HORIZONTAL ELLIPSIS}")


def _add_findings(figure: go.Figure, findings: Sequence[tuple[int, Finding]], shape: Shape) -> None:
    ratios = [found.ratio for _, found in findings]
    figure.add_scatter(
        x=[ratio.value for ratio in ratios],
        y=[place for place, _ in findings],
        mode="markers",
        marker=marker(shape, 11),
        error_x={
            "type": "data", "thickness": 2, "width": 0, "color": colour(shape.colour),
            "array": [ratio.high - ratio.value if ratio.high else 0 for ratio in ratios],
            "arrayminus": [ratio.value - ratio.low if ratio.low else 0 for ratio in ratios],
        },
        text=[_finding_text(found) for _, found in findings],
        hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip
