"""A study that starts warm begins with what an earlier one found, and is not misled for long."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.errors import UserError
from lsmtune.knobs.space import KnobSpace
from lsmtune.optimizers.base import Observation
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.earlier import earlier_studies
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, TrialResult, TrialSpec

KNOBS = "block_size,write_buffer_size,max_bytes_for_level_base,target_file_size_base"


def make(name: str, **given: Any) -> StudySettings:
    fast = {
        "study": name, "objective": "write_amp", "optimizer": "gp-ucb", "repeats": 0,
        "knobs": KNOBS, "trials": 12, "base_runs": 1, "memory": "4GiB",
    }  # fmt: skip
    return make_spec({**fast, **given}, "test")


def searched(home: Home, spec: StudySettings, script: Script) -> list[StoredTrial]:
    """The trials that the optimizer chose."""
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        run_search(study)
        return [t for t in home.trials(study.stored) if t.role is Role.TRIAL]


def write_amps(trials: list[StoredTrial]) -> list[float]:
    return [trial.result.metrics["write_amp"] for trial in trials]


def small_blocks(spec: TrialSpec) -> TrialResult:
    """Small blocks are good; the metrics are those of a load of gets."""
    size = float(spec.settings["block_size"])
    return measured(write_amp=size, read_amp=size / 1e3, cache_hit_data=0.9, stall_s=0.01)


def large_blocks(spec: TrialSpec) -> TrialResult:
    """Large blocks are good; the metrics are those of a load of puts."""
    size = float(spec.settings["block_size"])
    return measured(write_amp=1e6 / size, read_amp=9.0, cache_hit_data=0.1, stall_s=size / 1e3)


def nothing_matters(spec: TrialSpec) -> TrialResult:
    """Whatever is set makes a percent, of no use to anybody."""
    size = float(spec.settings["block_size"])
    return measured(write_amp=1.0 + size % 7 / 700, read_amp=1.0, cache_hit_data=0.5, stall_s=0.0)


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with an earlier study, and one that starts cold with the opposite script."""
    folder = tmp_path_factory.mktemp("begun")
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as home:
        patch.setattr(tempfile, "tempdir", str(folder))
        searched(home, make("earlier"), small_blocks)
        searched(home, make("cold"), large_blocks)
    return folder / "home"


@pytest.fixture
def later(begun: Path, tmp_path: Path) -> Iterator[Home]:
    """That home, for one test; to run these studies again runs nothing."""
    with Home(shutil.copytree(begun, tmp_path / "later"), create=False) as home:
        yield home


def base_of(space: KnobSpace) -> list[Observation]:
    """The history of a study that has measured its base."""
    return [Observation(space.default(), (1.0,), -1.0)]


def test_the_best_of_the_earlier_study_are_tried_first(later: Home) -> None:
    earlier = searched(later, make("earlier"), small_blocks)
    best = min(earlier, key=lambda trial: trial.result.metrics["write_amp"])
    warm = searched(later, make("warm", warm_start="earlier", trials=3), small_blocks)
    assert warm[0].config["block_size"] == pytest.approx(best.config["block_size"], rel=0.1)
    assert min(write_amps(warm)) <= min(write_amps(earlier)[:4])


def test_with_any_other_optimizer_too(later: Home) -> None:
    searched(later, make("earlier"), small_blocks)
    cold = searched(later, make("random", optimizer="random", trials=1), small_blocks)
    warm = searched(
        later, make("warm", optimizer="random", warm_start="earlier", trials=1), small_blocks
    )
    assert write_amps(warm)[0] < write_amps(cold)[0]


def test_of_all_studies_that_of_the_like_load_counts(home: Home) -> None:
    searched(home, make("gets"), small_blocks)
    searched(home, make("puts"), large_blocks)
    for script, better in ((small_blocks, "gets"), (large_blocks, "puts")):
        warm = searched(home, make(f"warm-{better}", warm_start="all", trials=2), script)
        alone = searched(home, make(f"named-{better}", warm_start=better, trials=2), script)
        assert [t.config for t in warm] == [t.config for t in alone]


def test_a_study_that_misleads_costs_little(later: Home) -> None:
    searched(later, make("earlier"), small_blocks)
    cold = searched(later, make("cold"), large_blocks)
    misled = searched(later, make("misled", warm_start="earlier", trials=16), large_blocks)
    assert write_amps(misled)[0] > 2 * min(write_amps(cold))  # it does mislead
    assert min(write_amps(misled)) < 1.1 * min(write_amps(cold))


def test_a_study_under_which_nothing_mattered_costs_little(later: Home) -> None:
    searched(later, make("flat"), nothing_matters)
    cold = searched(later, make("cold"), large_blocks)
    warm = searched(later, make("warm", warm_start="flat", trials=14), large_blocks)
    assert min(write_amps(warm)) < 1.1 * min(write_amps(cold))


def test_what_the_earlier_study_could_set_and_this_one_cannot_is_brought_into_range(
    home: Home,
) -> None:
    searched(home, make("earlier", scale="1/32", memory="4GiB"), small_blocks)
    spec = make("warm", warm_start="earlier", trials=3)
    with open_study(home, spec, ScriptedEngine(small_blocks), lambda _: None) as study:
        narrow = replace(
            study.space,
            knobs=tuple(
                k.model_copy(update={"low": 9000, "high": 10000, "grid": ()})
                if k.name == "block_size"
                else k
                for k in study.space.knobs
            ),
        )
        earlier = earlier_studies(home, study.stored, spec, study.space)
        for optimizer in ("gp-ucb", "random"):
            config = make_optimizer(optimizer, earlier).ask(narrow, base_of(narrow), 1)
            assert all(knob.allows(config[knob.name]) for knob in narrow.knobs)


def test_what_the_earlier_study_measures_later_changes_nothing(later: Home, tmp_path: Path) -> None:
    searched(later, make("earlier"), small_blocks)
    whole = searched(later, make("whole", warm_start="earlier", trials=8), small_blocks)
    searched(later, make("halved", warm_start="earlier", trials=4), small_blocks)
    searched(later, make("earlier", trials=20), small_blocks)
    halved = searched(later, make("halved", warm_start="earlier", trials=8), small_blocks)
    assert [t.config for t in halved] == [t.config for t in whole]


def test_a_study_at_another_scale_lends_its_sizes_in_proportion(home: Home) -> None:
    def small_memtables(spec: TrialSpec) -> TrialResult:
        return measured(write_amp=float(spec.settings["write_buffer_size"]))

    earlier = searched(home, make("earlier"), small_memtables)
    best = min(earlier, key=lambda trial: trial.result.metrics["write_amp"])
    spec = make("warm", warm_start="earlier", trials=1, scale="1/32", memory="4GiB")
    (warm,) = searched(home, spec, small_memtables)
    expected = 2 * float(best.config["write_buffer_size"])
    assert float(warm.config["write_buffer_size"]) == pytest.approx(expected, rel=0.1)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"warm_start": "nobody"}, "study 'nobody'"),
        ({"warm_start": "short"}, r"^warm_start: .*'short' has 3 .*write_amp"),
    ],
)
def test_what_cannot_be_begun_with_is_refused(
    home: Home, given: dict[str, Any], words: str
) -> None:
    searched(home, make("short", trials=2), small_blocks)
    with pytest.raises(UserError, match=words):
        searched(home, make("warm", **given), small_blocks)
    assert home.study_names() == ["short"]  # nothing was begun


def test_all_of_a_home_without_studies_is_a_cold_start(home: Home) -> None:
    warm = searched(home, make("warm", warm_start="all", trials=3), small_blocks)
    with Home(home.path.parent / "other", create=True) as other:
        cold = searched(other, make("cold", trials=3), small_blocks)
    assert [t.config for t in warm] == [t.config for t in cold]
