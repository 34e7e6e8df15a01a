"""Comparison with random search: which optimizers beat it, and what the page may claim."""

import re

from lsmtune.spec import StudySettings
from lsmtune_reproductions.comparison.page import headline_text, render_comparison
from lsmtune_reproductions.comparison.race import Curve, Outcome, against_random, outcome

SEEDS = range(1, 9)


def search(name: str, end: float, *, spread: float = 0.01) -> list[Curve]:
    """Return one search per seed; seeds differ by the spread."""
    return [Curve(name, seed, (1.0, end + spread * (seed % 3))) for seed in SEEDS]


def compared(*searches: list[Curve]) -> Outcome:
    return outcome([curve for curves in searches for curve in curves], 2, None, None)


def test_only_an_interval_below_one_beats_random_search() -> None:
    found = compared(
        search("good", 0.5), search("same", 0.8), search("bad", 0.95), search("random", 0.8)
    )
    records = {each.optimizer: each for each in against_random(found)}
    assert set(records) == {"good", "same", "bad"}
    assert {name for name, each in records.items() if each.beats} == {"good"}
    assert {name for name, each in records.items() if each.loses} == {"bad"}
    ratio = records["good"].ratio
    assert ratio is not None
    assert 0.6 < ratio.low <= ratio.median <= ratio.high < 0.67


def test_one_search_per_optimizer_decides_nothing() -> None:
    found = outcome([search("a", 0.2)[0], search("random", 0.9)[0]], 2, None, None)
    (record,) = against_random(found)
    assert record.ratio is None
    assert not record.beats


def test_other_seeds_are_compared_unpaired() -> None:
    moved = [Curve("a", curve.seed + 100, curve.costs) for curve in search("a", 0.5)]
    (record,) = against_random(compared(moved, search("random", 0.8)))
    assert record.beats


def test_headline_names_only_optimizers_that_beat_random_search() -> None:
    found = compared(search("good", 0.5), search("same", 0.8), search("random", 0.8))
    title = headline_text(found, against_random(found))
    assert re.search(r"\bgood\b", title, re.IGNORECASE)
    assert "same" not in title


def test_headline_praises_nobody_if_random_search_is_as_good() -> None:
    found = compared(search("first", 0.8), search("second", 0.8), search("random", 0.8))
    title = headline_text(found, against_random(found))
    assert not re.search("first|second", title, re.IGNORECASE)


def test_headline_without_random_search_says_so() -> None:
    found = compared(search("first", 0.5), search("second", 0.8))
    assert against_random(found) == ()
    assert "random" in headline_text(found, ())


def test_page_lists_every_optimizer_with_its_ratio_to_random_search() -> None:
    found = compared(search("good", 0.5), search("bad", 0.95), search("random", 0.8))
    page = render_comparison(found, StudySettings(), real=False)
    assert page.count('class="plot"') == 1
    for name in ("good", "bad", "random"):
        assert f'<th scope="row">{name}</th>' in page
