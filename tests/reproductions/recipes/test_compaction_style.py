"""Tests of the recipe compaction-style on scripted engines with planted effects."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.studies import opener
from lsmtune.knobs.families import PLAIN
from lsmtune.metrics.measurement import Level
from lsmtune.store.home import Home
from lsmtune.testing.scripted import measured
from lsmtune.trials import TrialResult, TrialSpec
from lsmtune_reproductions.recipes.base import Asked
from lsmtune_reproductions.recipes.compaction_style.numbers import claims, paper, tree
from lsmtune_reproductions.recipes.compaction_style.recipe import answer, render_compaction_style
from lsmtune_reproductions.recipes.compaction_style.study import (
    LEVEL,
    UNIVERSAL,
    Results,
    run,
    specs,
)
from lsmtune_reproductions.recipes.tree_section import deepest

pytestmark = pytest.mark.slow

MIB = 1 << 20


def level(number: int, mib: float) -> Level:
    size = round(mib * MIB)
    return Level(
        level=f"L{number}", files=1, size_bytes=size, read_bytes=size, write_bytes=2 * size,
        w_amp_table=1.5,
    )  # fmt: skip


def planted(trial: TrialSpec) -> TrialResult:
    """Return a result: universal writes less and is deeper; with TPC-C it uses more space."""
    named = {PLAIN.option(name): value for name, value in trial.settings.items()}
    universal = named["compaction_style"] == UNIVERSAL
    noise = 1 + 0.002 * (trial.seed % 5)
    sql = trial.workload.name == "tpcc"
    space = (1.2 if sql else 0.9) if universal else 1.0
    amp = (2.0 if universal else 4.0) * noise
    result = measured(
        write_amp=amp, live_sst_bytes=40 * MIB * space * noise, background_s=9 * amp, tpmc=9000.0
    )
    levels = (level(0, 1), level(6, 30)) if universal else (level(1, 2), level(2, 38))
    assert result.measurement is not None
    measurement = result.measurement.model_copy(update={"levels": levels})
    return result.model_copy(update={"measurement": measurement})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("style")
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as home:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield run(
            Asked(num=20_000),
            home,
            opener(home, planted),
        )


def test_conclusions_are_judged_on_both_engines(results: Results) -> None:
    findings = [claim.finding for claim in claims(results)]
    for engine, space in (("rocksdb", "confirmed"), ("myrocks", "contradicted")):
        own = findings[:4] if engine == "rocksdb" else findings[4:]
        assert own == [space, "confirmed", "confirmed", "confirmed"]


def test_results_contain_the_trees_of_both_styles(results: Results) -> None:
    for part in results.parts:
        assert deepest(tree(part, LEVEL)) == 2
        assert deepest(tree(part, UNIVERSAL)) == 6


def test_page_shows_both_published_tables_and_both_engines(results: Results) -> None:
    page = render_compaction_style(results).replace("\xa0", " ")
    first, other = results.parts
    assert answer(first)[1:] in page
    changes = answer(other).partition(": ")[2].replace(", ", " and ")
    assert f"{other.title} with universal compaction has {changes}." in page
    for told in ("38.41 MiB", "20.23 MiB", "186", "158", "30.0 MiB", "L6"):
        assert told in page


def test_published_tables_add_up() -> None:
    for style in ("level", "universal"):
        told = paper()[style]
        assert sum(row["jobs"] for row in told["levels"]) == told["background_jobs"]
        size = sum(row["size_mib"] for row in told["levels"]) * MIB
        assert size == pytest.approx(told["live_sst_bytes"], rel=0.01)


def test_cells_differ_only_in_the_style() -> None:
    for spec in specs(Asked()).values():
        assert spec.sweep is not None
        assert list(spec.sweep.factors) == ["style"]
        assert spec.scale == "1"


def test_styles_have_their_names(results: Results) -> None:
    for part in results.parts:
        assert part.experiment.swept.factors["style"] == (
            "kCompactionStyleLevel", "kCompactionStyleUniversal",
        )  # fmt: skip


def test_small_runs_get_no_verdict_on_the_engine_that_num_sizes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Home(tmp_path / "home", create=True) as home:
        poor = run(
            Asked(num=1000),
            home,
            opener(home, planted),
        )
    findings = [claim.finding for claim in claims(poor)]
    assert set(findings[:4]) == {"not judged"}
    assert "not judged" not in findings[4:]
    reason = poor.parts[0].experiment.too_small()
    assert reason is not None
    assert reason[1:] in render_compaction_style(poor)
