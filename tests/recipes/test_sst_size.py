"""The recipe sst-size on a scripted engine: which of the two did it is planted, and comes out."""

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from math import log2
from pathlib import Path

import pytest

from lsmtune.cli.main import run as command
from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.recipes.base import Asked, Progress
from lsmtune.recipes.sst_size.numbers import claims, diagonal, paper
from lsmtune.recipes.sst_size.page import answer, render_sst_size
from lsmtune.recipes.sst_size.study import Results, run, spec
from lsmtune.store.home import Home
from lsmtune.trials import TrialResult, TrialSpec

MIB = 1 << 20
SCRIPTS = {
    "memtables": lambda files, memtables, noise: noise * (8 - 1.5 * log2(memtables)),
    "files": lambda files, memtables, noise: noise * (2 + 0.5 * log2(files)),
}


def planted(of: str) -> Callable[[TrialSpec], TrialResult]:
    """Write amplification follows one of the two; hits always follow the memtables."""

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
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, silent: Progress
) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("sst")
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as home:
        patch.setattr(tempfile, "tempdir", str(folder))
        script = planted(request.param)
        yield run(Asked(num=2000), home, silent, lambda name, _: ScriptedEngine(script, name))


def test_the_one_that_did_it_is_named(results: Results, request: pytest.FixtureRequest) -> None:
    found = {claim.statement: claim.finding for claim in claims(results)}
    by_memtables = "memtables" in request.node.name
    assert found["larger memtables by themselves lower it"] == (
        "confirmed" if by_memtables else "not decided"
    )
    assert found["larger files by themselves raise write amplification"] == (
        "not decided" if by_memtables else "confirmed"
    )
    assert found["the memtables matter more than the files"] == (
        "confirmed" if by_memtables else "contradicted"
    )
    assert found["with both sizes grown, write amplification falls"] == (
        "confirmed" if by_memtables else "contradicted"
    )
    assert found["a larger memtable answers more of the gets"] == "confirmed"


def test_the_page_sets_every_published_number_beside_ours(results: Results) -> None:
    page = render_sst_size(results)
    assert answer(results)[1:] in page
    for told in ("9.6", "3.6", "2.5", "2.05 GiB", "no number", "Figure 4", "Figure 5"):
        assert told in page
    assert len(diagonal(results, "w_amp_table")) == len(paper()["sizes"])


def test_runs_that_failed_leave_a_page_that_says_so(results: Results) -> None:
    outcome = dataclasses.replace(results.experiment.outcome, runs=[])
    nothing = tuple(
        dataclasses.replace(metric, cells=(), fit=None)
        for metric in results.experiment.swept.metrics
    )
    swept = dataclasses.replace(results.experiment.swept, metrics=nothing, failed=27)
    experiment = dataclasses.replace(results.experiment, outcome=outcome, swept=swept)
    poor = dataclasses.replace(results, experiment=experiment)
    assert {claim.finding for claim in claims(poor)} == {"not decided"}
    assert "too few runs" in render_sst_size(poor)


def test_full_is_as_published() -> None:
    load = spec(Asked(full=True)).workload
    assert (load.num, load.value_size, load.get_percent) == (1_000_000, 100, 90)
    assert (load.duration_s, load.client_operations) == (paper()["duration_s"], None)


def test_flags_of_another_recipe_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert command(["reproduce", "sst-size", "--configs", "4", "--home", str(home)]) == 2
    assert "--configs: not an option" in capsys.readouterr().err
    assert not home.exists()
