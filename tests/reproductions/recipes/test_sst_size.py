"""Tests of the recipe sst-size on a scripted engine with a planted effect."""

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path

import pytest

from fakes.studies import opener
from lsmtune.analysis.experiment_runs import MIN_FLUSHES
from lsmtune.cli.main import run as command
from lsmtune.store.home import Home
from lsmtune.testing.scripted import measured
from lsmtune.trials import TrialResult, TrialSpec
from lsmtune_reproductions.recipes.base import Asked
from lsmtune_reproductions.recipes.sst_size.numbers import claims, diagonal, paper
from lsmtune_reproductions.recipes.sst_size.recipe import answer, render_sst_size
from lsmtune_reproductions.recipes.sst_size.study import Results, run, spec

pytestmark = pytest.mark.slow

MIB = 1 << 20
SCRIPTS = {
    "memtables": lambda files, memtables, noise: noise * (8 - 1.5 * log2(memtables)),
    "files": lambda files, memtables, noise: noise * (2 + 0.5 * log2(files)),
}


def planted(of: str) -> Callable[[TrialSpec], TrialResult]:
    """Return a script: write amplification follows one factor, hits follow the memtables."""

    def script(trial: TrialSpec) -> TrialResult:
        files = float(trial.settings["target_file_size_base"]) / MIB
        memtables = float(trial.settings["write_buffer_size"]) / MIB
        noise = 1 + 0.001 * (hash((files, memtables, trial.seed)) % 7)
        amp = SCRIPTS[of](files, memtables, noise)
        return measured(
            write_amp=amp, w_amp_table=amp * 1.1, compact_read_bytes=1e9 * amp,
            flush_write_bytes=1e8, compact_write_bytes=1e9 * amp * noise,
            background_s=10 * amp, background_jobs=round(1000 / memtables),
            memtable_hit=0.01 * memtables * noise,
        )  # fmt: skip

    return script


@pytest.fixture(scope="module", params=sorted(SCRIPTS))
def results(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("sst")
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as home:
        patch.setattr(tempfile, "tempdir", str(folder))
        script = planted(request.param)
        yield run(
            Asked(num=50_000),
            home,
            opener(home, script),
        )


def test_claims_follow_the_factor_that_changes_write_amplification(
    results: Results, request: pytest.FixtureRequest
) -> None:
    together, *_, hits, files, memtables, more = (claim.finding for claim in claims(results))
    by_memtables = "memtables" in request.node.name
    assert together == ("confirmed" if by_memtables else "contradicted")
    assert hits == "confirmed"
    assert files == ("not decided" if by_memtables else "confirmed")
    assert memtables == ("confirmed" if by_memtables else "not decided")
    assert more == ("confirmed" if by_memtables else "contradicted")


def test_page_shows_every_published_number(results: Results) -> None:
    page = render_sst_size(results)
    assert answer(results)[1:] in page.replace("\xa0", " ")
    for told in ("9.6", "3.6", "2.5", "2.05 GiB", "Figure 4", "Figure 5"):
        assert told in page
    assert len(diagonal(results, "w_amp_table")) == len(paper()["sizes"])


def test_failed_runs_decide_no_claim(results: Results) -> None:
    outcome = dataclasses.replace(results.experiment.outcome, runs=[])
    nothing = tuple(
        dataclasses.replace(metric, cells=(), fit=None)
        for metric in results.experiment.swept.metrics
    )
    swept = dataclasses.replace(results.experiment.swept, metrics=nothing, failed=27)
    experiment = dataclasses.replace(results.experiment, outcome=outcome, swept=swept)
    poor = dataclasses.replace(results, experiment=experiment)
    assert {claim.finding for claim in claims(poor)} == {"not decided"}
    assert render_sst_size(poor).count("not decided") >= len(list(claims(poor)))


def test_full_has_the_published_workload() -> None:
    load = spec(Asked(full=True)).workload
    assert (load.num, load.value_size, load.get_percent) == (1_000_000, 100, 90)
    assert (load.duration_s, load.client_operations) == (paper()["duration_s"], None)


def test_flag_of_another_recipe_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert command(["reproduce", "sst-size", "--configs", "4", "--home", str(home)]) == 2
    error = capsys.readouterr().err
    assert "--configs" in error
    assert "sst-size" in error
    assert not home.exists()


def test_small_runs_get_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Home(tmp_path / "home", create=True) as home:
        script = planted("memtables")
        poor = run(
            Asked(num=1000),
            home,
            opener(home, script),
        )
    experiment = poor.experiment
    fewest = min(experiment.flushes.values())
    assert fewest == pytest.approx(2500 * experiment.load.record_bytes / (16 * MIB))
    assert {claim.finding for claim in claims(poor)} == {"not judged"}
    reason = experiment.too_small()
    assert reason is not None
    needed = int(reason.rpartition(" ")[2])
    assert fewest * needed / 1000 >= MIN_FLUSHES
    page = render_sst_size(poor)
    assert "confirmed" not in page
    assert reason[1:] in page
