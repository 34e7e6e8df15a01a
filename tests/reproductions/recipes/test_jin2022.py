"""Tests of the recipe jin2022 on a scripted engine with the effects of the paper."""

import json
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

import lsmtune
from lsmtune.objective import jin2022_fitness
from lsmtune.store.home import Home
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec
from lsmtune_reproductions.recipes.base import Opener
from lsmtune_reproductions.recipes.jin2022 import study as jin2022
from lsmtune_reproductions.recipes.jin2022.numbers import (
    accuracies,
    contributions,
    convergence,
    data_share,
    group_tests,
    honest_fitness,
    paper,
    paper_fitness,
    verified,
)
from lsmtune_reproductions.recipes.jin2022.recipe import render_jin2022
from lsmtune_reproductions.recipes.jin2022.study import Plan, Results, run

pytestmark = pytest.mark.slow

PLAN = Plan(num=20_000, configs=60, seeds=(1,), repeats=1)
SPACE = {"none": 1.0, "snappy": 0.6, "lz4": 0.6, "zlib": 0.5}


def planted(spec: TrialSpec) -> TrialResult:
    """Return a result: larger memtables write less; codec and data decide the space."""
    size = float(spec.settings["write_buffer_size"]) / (1 << 20)
    data = spec.workload.compression_ratio
    live = 1e6 * (SPACE[str(spec.settings["compression_type"])] + data)
    noise = 1 + 0.002 * (spec.seed % 7)
    return measured(
        write_amp=noise * (6 - 2 * size),
        w_amp_table=noise * (9 - 3 * size),
        live_sst_bytes=noise * live,
        rate_mb_s=noise * (20 + 15 * size),
        throughput_ops_s=noise * 1000 * (20 + 15 * size),
        total_s=noise * (40 - 5 * size),
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, quick_models: None) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("jin2022")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        with Home(folder / "home", create=True) as home:
            yield run(PLAN, home, Opener(home.path, make=lambda _: ScriptedEngine(planted)))


def test_numbers_of_the_paper_are_consistent() -> None:
    """The fitness of table 2 is that of the text; the text has another reduction of WAF."""
    assert paper_fitness() == pytest.approx(paper()["genetic"]["fitness"], rel=0.03)
    default, found = (paper()["table_2"][of] for of in ("default", "found"))
    assert 1 - found["w_amp_table"] / default["w_amp_table"] == pytest.approx(0.239, abs=0.001)


def test_budget_is_that_of_the_paper(results: Results) -> None:
    assert paper()["genetic"]["evaluations"] == jin2022.EVALUATIONS
    for search in results.searches:
        assert len(search.trials) == len(convergence(search)) == 36


def test_planted_effects_are_found(results: Results) -> None:
    assert set(results.screenings["honest"].importance.top(2)) == {
        "write_buffer_size", "compression_type",
    }  # fmt: skip
    named = {row.knob: row for row in contributions(results)}
    assert named["write_buffer_size"].place["honest"] == 1
    assert named["threads"].place["honest"] is None
    assert named["compression_ratio"].place["published"] in (1, 2, 3)
    assert named["min_level_to_compress"].paper_place == 1


def test_accuracy_has_the_papers_value_if_there_is_one(results: Results) -> None:
    found = {row.metric: row for row in accuracies(results)}
    assert found["total_s"].paper == 0.697
    assert found["write_amp"].paper is None
    assert found["write_amp"].best["honest"].median > 0.9


def test_groups_of_parameters_without_effect_do_not_differ(results: Results) -> None:
    honest, published = group_tests(results, "mmap_write", "w_amp_table")
    assert honest.mode == "honest"
    assert published.p > 0.001
    codec = group_tests(results, "compression_type", "live_sst_bytes")[0]
    assert codec.p < 1e-6
    assert (codec.least[0], codec.most[0]) == ("zlib", "none")


def test_honest_searches_are_verified(results: Results) -> None:
    fitness = honest_fitness(results)
    assert fitness is not None
    best = {"write_amp": 2, "live_sst_bytes": 1e6, "total_s": 30, "rate_mb_s": 50}
    base = {"write_amp": 4, "live_sst_bytes": 1.1e6, "total_s": 35, "rate_mb_s": 35}
    there_is = jin2022_fitness(best, base)
    assert 0.5 * there_is < fitness.median < 1.1 * there_is


def test_gain_from_the_data_is_separated(results: Results) -> None:
    (search,) = (search for search in results.searches if search.mode == "published")
    share, whole, kept = data_share(search), verified(search.pairs), verified(search.on_base_data)
    assert share is not None
    assert whole is not None
    assert kept is not None
    assert 0 < share < 1
    assert kept.found["live_sst_bytes"] > whole.found["live_sst_bytes"]
    assert kept.found["write_amp"] == pytest.approx(whole.found["write_amp"], rel=0.02)


def test_page_has_every_figure_and_table(results: Results) -> None:
    page = render_jin2022(results)
    figures = [f"Figure {number}" for number in (5, 6, 7, 8)]
    for part in [*figures, "Table 2", "4.84e-31", "1328", "432.94"]:
        assert part in page
    share = next(s for search in results.searches if (s := data_share(search)) is not None)
    assert f"{100 * share:.0f} %" in page.replace("\xa0", " ")


def test_shipped_data_is_complete() -> None:
    own, shared = Path(jin2022.__file__).parent, Path(lsmtune.__file__).parent / "data" / "jin2022"
    abouts = {"honest": shared / "honest.json", "published": own / "screening.json"}
    for mode, configs in (("honest", 400), ("published", 150)):
        lines = jin2022.shipped_screening(mode)  # type: ignore[arg-type]
        assert all(line.error is None for line in lines if line.metrics)
        assert {line.workload.num for line in lines} == {200_000}
        knobs = [json.dumps([line.knobs, line.workload.model_dump()]) for line in lines]
        assert len(set(knobs)) >= configs
        assert sum(knobs.count(text) > 1 for text in set(knobs)) >= 20
        if mode == "honest":
            assert {line.workload.compression_ratio for line in lines} == {0.5}
            assert {line.workload.threads for line in lines} == {1}
        about = json.loads(abouts[mode].read_text())
        assert about["engine"]["version"]
        assert about["host"]["logical_cpus"]
        assert about["command"].startswith("lsmtune screen")


def test_small_searches_get_no_verdict(results: Results) -> None:
    searches = tuple(replace(search, flushes=1.0) for search in results.searches)
    poor = replace(results, searches=searches)
    assert results.too_small is None
    assert poor.too_small is not None
    page = render_jin2022(poor)
    assert poor.too_small[1:] in page
    assert "Table 2" not in page
