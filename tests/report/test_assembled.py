"""A page is one small file: its library is packed, and nothing is requested."""

import re
import zlib
from base64 import b64decode

from plotly.offline import get_plotlyjs
from sample import pareto_view, study_view

from lsmtune.report.canvas import Chart, picture
from lsmtune.report.markup import Html, element, table
from lsmtune.report.page import assembled, render_page

MOST_BYTES = 2_200_000
CHART = picture("chart", Chart(100), [], "a chart")


def packed_library(page: str) -> str:
    found = re.search(r'<script id="plotly" type="text/plain">(.*?)</script>', page)
    assert found is not None
    return found[1]


def test_page_with_charts_embeds_plotly_that_unpacks_to_the_original() -> None:
    page = assembled("x", [CHART])
    assert zlib.decompress(b64decode(packed_library(page))).decode() == get_plotlyjs()


def test_study_pages_are_below_the_size_limit_and_have_no_address() -> None:
    for view in (study_view(), pareto_view()):
        page = render_page(view)
        assert len(page.encode()) <= MOST_BYTES
        own = page.replace(packed_library(page), "")
        assert not re.search(r"https?://|//cdn|@import|url\(", own)


def test_page_without_charts_has_no_library() -> None:
    page = assembled("x", [element("p", "text")])
    assert "plotly" not in page
    assert len(page) < 30_000


def test_same_parts_give_the_same_page() -> None:
    assert assembled("x", [CHART]) == assembled("x", [CHART])


def test_additional_scripts_are_embedded() -> None:
    assert "<script>let own = 1;</script>" in assembled("x", [], ["let own = 1;"])


def rows(count: int) -> list[list[str]]:
    return [[str(n), "x"] for n in range(count)]


def test_long_table_is_folded_and_a_short_one_is_not() -> None:
    assert not table("short", ("a", "b"), rows(15)).startswith("<details")
    assert table("long", ("a", "b"), rows(16)).startswith("<details")
    assert not table("long", ("a", "b"), rows(16), fold=False).startswith("<details")
    assert table("short", ("a", "b"), rows(1), fold=True).startswith("<details")


def test_every_table_scrolls_in_a_named_box_with_a_hint() -> None:
    shown = table("caption", ("a", "b"), rows(2))
    assert shown.index('class="hint"') < shown.index('class="scroll"')
    assert 'aria-label="caption"' in shown
    assert isinstance(shown, Html)
