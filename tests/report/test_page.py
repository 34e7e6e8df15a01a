"""The page: whole, safe, self-contained in every state of a study."""

import html
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from sample import (
    CATALOGUE,
    EMPTY,
    online_view,
    pairs,
    pareto_view,
    read_view,
    study_view,
    trial,
    verification,
    window_view,
)

from fakes.facts import HOST
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.study_view import Change, StudyView
from lsmtune.report.overview_page import render_overview
from lsmtune.report.page import render_page
from lsmtune.report.text.headline_text import headline_of
from lsmtune.trials import Role, Status

CUT = trial(4, Role.TRIAL, None, status=Status.CUT, reason="too slow", bound=(1.3,))
VIEWS: dict[str, StudyView] = {
    "gain": study_view(),
    "two goals": pareto_view(),
    "three goals": pareto_view(("write_amp", "throughput_ops_s", "total_s")),
    "goals without a front": replace(pareto_view(), **EMPTY, front=()),
    "running": window_view(),
    "reads": read_view(),
    "online": online_view(),
    "cut": study_view(trials=(*study_view().trials, CUT)),
    "no gain": study_view(verifications=(verification(pairs(noise=0.2, shift={})),)),
    "unverified": study_view(verifications=()),
    "nothing found": study_view(**EMPTY),
    "not begun": study_view(**EMPTY, trials=(), base=None, base_runs=()),
    "all failed": study_view(**EMPTY, trials=(trial(1, Role.TRIAL, None, status=Status.CRASHED),)),
}
VOID = {"meta", "wbr"}


class Outline(HTMLParser):
    """The elements of a page; fails on one that is closed out of turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, *tags: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag in tags]


def without_library(page: str) -> str:
    """The page without the packed plotting library."""
    return re.sub(r'<script id="plotly".*?</script>', "", page)


@pytest.fixture(scope="module", params=[*VIEWS, "overview"])
def page(request: pytest.FixtureRequest) -> str:
    if request.param == "overview":
        return render_overview(list(VIEWS.values()))
    return render_page(VIEWS[request.param])


def test_the_page_is_well_formed_and_loads_nothing(page: str) -> None:
    outline = Outline(page)
    assert outline.open == []
    loaded = [a for a in outline.all("script", "img", "iframe") if "src" in a]
    assert loaded == []
    assert outline.all("link") == []
    assert "http" not in without_library(page).replace("http-equiv", "")


def test_page_embeds_plotly_once_if_it_has_charts(page: str) -> None:
    has_charts = bool([a for a in Outline(page).all("div") if a.get("class") == "plot"])
    assert page.count('<script id="plotly"') == has_charts


def test_headings_follow_each_other(page: str) -> None:
    tags = [tag for tag, _ in Outline(page).found if re.fullmatch(r"h\d", tag)]
    assert tags[0] == "h1"
    assert tags.count("h1") == 1
    assert all(int(b[1]) - int(a[1]) <= 1 for a, b in pairwise(tags))


def test_every_picture_has_words_and_every_table_a_caption(page: str) -> None:
    outline = Outline(page)
    pictures = [a for a in outline.all("div") if a.get("class") == "plot"]
    assert all(a["role"] == "img" and a["aria-label"] for a in pictures)
    assert len(pictures) == len(outline.all("figure"))
    assert len(outline.all("table")) == len(outline.all("caption"))
    assert all(a.get("scope") for a in outline.all("th"))


def test_identifiers_are_unique(page: str) -> None:
    ids = [a["id"] for _, a in Outline(page).found if "id" in a]
    assert len(ids) == len(set(ids))


def test_a_finished_study_shows_every_picture() -> None:
    page = render_page(VIEWS["gain"])
    pictures = ("result", "search", "comparison", "size", "written")
    assert all(f'id="{name}"' in page for name in pictures)


@pytest.mark.parametrize("name", VIEWS)
def test_page_starts_with_the_claim_and_its_chart(name: str) -> None:
    view = VIEWS[name]
    page = render_page(view)
    first = page[page.index("<header>") : page.index("</header>")]
    assert (headline_of(claim_of(view)) in html.unescape(first).replace("\xa0", " ")) is True
    assert ('id="result"' in first) is (view.best is not None)
    for step in claim_of(view).steps:
        assert step.command is None or step.command in html.unescape(page)


def test_texts_of_the_study_cannot_become_markup() -> None:
    evil = "</script><script>alert(1)</script><b>"
    knob = CATALOGUE.knob("compression_type").model_copy(update={"name": evil, "trade": evil})
    evil_change = (Change(knob, evil, evil),)
    failed = trial(
        3, Role.TRIAL, None, status=Status.CRASHED, reason=evil, changes=evil_change
    )  # fmt: skip
    cut = replace(CUT, reason=evil, bound=(1.3, 1.2))
    front = tuple(replace(found, changes=evil_change) for found in pareto_view().front)
    hostile = study_view(
        name=evil, host=replace(HOST, cpu_model=evil), optimizer=evil, trials=(failed, cut),
        front=front, objective=pareto_view().objective, best_trial=front[0],
    )  # fmt: skip
    pages = [render_page(hostile), render_overview([hostile, study_view()])]
    page = without_library("".join(pages))
    assert "<script>alert" not in page
    assert "<b>" not in re.sub(r'<script type="application/json">.*?</script>', "", page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_colours_come_from_the_style_sheet_only() -> None:
    page = without_library(render_page(VIEWS["gain"]))
    data = "".join(re.findall(r'<script type="application/json">(.*?)</script>', page))
    used = set(re.findall(r"var\(--([a-z]+)\)", data))
    assert used
    assert all(page.count(f"--{name}:") == 2 for name in used)  # in the light and in the dark
    assert not re.search(r"#[0-9a-f]{6}", data)
