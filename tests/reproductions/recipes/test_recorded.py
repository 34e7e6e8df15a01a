"""Tests that the pages of the recipes can be rendered from the recorded results."""

import json
from html import unescape
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("recipe", "charts"), [("sst-size", 7), ("compaction-style", 5), ("db-bench-study", 9)]
)
def test_page_of_recorded_results_has_all_claims_and_charts(
    recipe: str, charts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import recorded_recipes  # type: ignore[import-not-found]  # noqa: PLC0415

    page = unescape(recorded_recipes.render(recipe)).replace("\xa0", " ")
    name = f"{recipe.replace('-', '_')}_recipe.json"
    recorded = json.loads((ROOT / "benchmarks" / "results" / name).read_text())
    assert len(recorded["claims"]) > 0
    for claim in recorded["claims"]:
        assert claim["statement"] in page
    assert page.count('class="plot"') == charts
