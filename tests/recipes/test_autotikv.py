"""The recipe autotikv on scripted engines: what is planted comes out, and is told why."""

import tempfile
from collections.abc import Iterator

import pytest

from lsmtune.engines.scripted import ScriptedEngine, measured
from lsmtune.knobs.families import option_name
from lsmtune.metrics.measurement import Level
from lsmtune.recipes.autotikv.numbers import Claim, claims
from lsmtune.recipes.autotikv.page import answer, best_so_far, render_autotikv
from lsmtune.recipes.autotikv.study import NAMES, TRIALS, Results, paper, run, specs
from lsmtune.recipes.base import Asked, Progress
from lsmtune.store.home import Home
from lsmtune.trials import TrialResult, TrialSpec


def planted(trial: TrialSpec) -> TrialResult:
    """Gets want small blocks, scans large ones; compaction helps all but blind writes.

    Filters do not matter, but for writecf's: there 5 bits are best.
    """
    own = {option_name(name): value for name, value in trial.settings.items()}
    noise = 1 + 0.0005 * (trial.seed % 5)
    off = bool(trial.settings.get("defaultcf.disable_auto_compactions",
                                  own["disable_auto_compactions"]))  # fmt: skip
    block_size = trial.settings.get("defaultcf.block_size", own["block_size"])
    steps = (4096, 8192, 16384, 32768, 65536).index(int(block_size))
    wants_large = trial.workload.name == "scanshort"
    slow = 1 + 0.2 * (4 - steps if wants_large else steps)
    if trial.workload.name == "overwrite":
        slow = 0.8 if off else 1.0
    else:
        slow *= 3 if off else 1
    slow *= 1 + 0.01 * (int(trial.settings.get("writecf.bloom_bits", 5)) - 5)
    result = measured(
        get_mean_us=30 * slow * noise, scan_mean_us=900 * slow * noise,
        write_mean_us=90 * slow * noise, throughput_ops_s=30e3 / slow * noise,
        sustained_ops_s=5e3 if off else 10e3 * noise, settle_s=4.0 if off else 0.5,
        cache_hit_data=(0.9 - 0.1 * steps) * noise, block_reads=0.2 * slow * noise,
        bloom_useful=80.0 if off else 2.0,
    )  # fmt: skip
    files = 83 if off else 2
    level = Level(level="L0", files=files, size_bytes=files, read_bytes=0, write_bytes=0,
                  w_amp_table=None)  # fmt: skip
    assert result.measurement is not None
    measurement = result.measurement.model_copy(update={"levels": (level,)})
    return result.model_copy(update={"measurement": measurement})


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, silent: Progress) -> Iterator[Results]:
    folder = tmp_path_factory.mktemp("autotikv")
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as home:
        patch.setattr(tempfile, "tempdir", str(folder))
        yield run(Asked(num=8000, repeats=2), home, silent,
                  lambda name, _: ScriptedEngine(planted, name))  # fmt: skip


@pytest.fixture(scope="module")
def found(results: Results) -> dict[tuple[str, str], Claim]:
    return {(claim.name, claim.knob): claim for claim in claims(results)}


def test_x(results: Results, found: dict[tuple[str, str], Claim]) -> None:
    for c in found.values():
        print(c)
    print(answer(list(found.values())))
    open("/tmp/hD/p.html","w").write(render_autotikv(results))
