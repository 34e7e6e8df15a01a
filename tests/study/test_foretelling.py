"""What the simulator foretells of a study's configs, as a search is led by it."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("lsmsim", reason="the native core is not built here")

from fakes.machines import planted, run_on
from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.space import KnobSpace
from lsmtune.limits import default_limits, no_default_limits
from lsmtune.simulator import Machine, Run, predict
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings, catalogue_of, make_spec, without_load
from lsmtune.study.foretelling import foretelling
from lsmtune.trials import Base, TrialSpec
from lsmtune.workloads import Workload

SIMULATED = "tree,flushes,filters,codecs"


def told(**given: object) -> tuple[StudySettings, KnobSpace]:
    """The settings and the space of a filled study, by default without knobs of blob files."""
    usual = {"workload": {"name": "fillrandom", "num": 50_000}, "knobs": SIMULATED}
    spec = make_spec({**usual, **given}, "here")
    catalogue = catalogue_of(spec.engine, spec.workload)
    base = Base(options="", settings=catalogue.defaults(1))
    return spec, knob_space(spec, Ground(catalogue, base, 20_000))


def test_the_base_is_one_and_a_config_what_it_gains() -> None:
    free = no_default_limits(Workload(), ENGINES["rocksdb"])
    spec, space = told(objective="write_amp", limits=free)
    foretell = foretelling(spec, space)
    assert foretell is not None
    config = space.sample(np.random.default_rng(3))
    base, found, again = foretell([space.default(), config, config]).ravel()
    assert base == 0
    # The mean over loads a little shorter and longer, each under a seed of its own.
    loads = [spec.workload.model_copy(update={"num": num}) for num in (48_500, 50_000, 51_500)]
    plain, changed = (
        [
            predict([Run(load, without_load(space.settings(c)), seed)])[0].metrics["write_amp"]
            for seed, load in enumerate(loads, start=1)
        ]
        for c in (space.default(), config)
    )
    assert found == again == pytest.approx(np.mean(np.log(changed) - np.log(plain)))


def test_a_limit_that_is_foretold_to_break_counts() -> None:
    config = told()[1].starts()[0]
    free, bound = (
        foretelling(*told(objective="write_amp", limits=(f"live_sst_bytes <= {limit}",)))
        for limit in ("none", "0.5 * base")
    )
    assert free is not None
    assert bound is not None
    assert bound([config])[0] > free([config])[0]


def test_reads_are_foretold_where_something_is_asked_of_them() -> None:
    _, space = told(objective="write_amp")
    packed = space.canonical({**space.default(), "compression_type": "zlib"})
    reads = (x.metric for x in default_limits(Workload(), ENGINES["rocksdb"]) if x.probe)
    lifted = [f"{name} <= none" for name in reads]
    limited, free = (
        foretelling(*told(objective="write_amp", limits=limits)) for limits in ((), lifted)
    )
    assert limited is not None
    assert free is not None
    assert limited([packed])[0] > free([packed])[0]


def test_a_machine_is_as_fast_as_it_ran_the_base() -> None:
    spec, space = told(objective="total_s", limits=["stall_percent <= none"])
    constants = planted(writer=1.0, background=3.0, zlib=1.0)
    machine = Machine(
        cpu_model="", logical_cpus=2, calibrated_at="", rocksdb=space.version, constants=constants
    )
    run = TrialSpec(
        settings=without_load(space.settings(space.default())), workload=spec.workload,
        protocol=spec.protocol, seed=1,
    )  # fmt: skip
    base = [(run, run_on(constants, run).metrics)]
    config = space.canonical({**space.default(), "write_buffer_size": 4 << 20})
    guesses = (
        foretelling(spec, space),
        foretelling(spec, space, machine),
        foretelling(spec, space, base=base),
    )
    guessed, known, by_base = (float(guess([config])[0, 0]) for guess in guesses if guess)
    assert abs(by_base - known) < 0.5 * abs(guessed - known)


def test_a_calibration_with_another_rocksdb_does_not_count() -> None:
    spec, space = told(objective="total_s", limits=["stall_percent <= none"])
    constants = planted(writer=1.0, background=3.0, zlib=1.0)
    facts = {"cpu_model": "", "logical_cpus": 2, "calibrated_at": "", "constants": constants}
    config = space.canonical({**space.default(), "write_buffer_size": 4 << 20})
    guessed, same, other = (
        float(guess([config])[0, 0])
        for guess in (
            foretelling(spec, space),
            foretelling(spec, space, Machine(rocksdb=space.version, **facts)),
            foretelling(spec, space, Machine(rocksdb="11.8.1", **facts)),
        )
        if guess
    )
    assert other == guessed != same


def test_configs_are_foretold_by_the_rules_of_the_version() -> None:
    spec, space = told(
        objective="write_amp", limits=no_default_limits(Workload(), ENGINES["rocksdb"])
    )
    later = replace(space, version="11.8.1")
    changes = {"write_buffer_size": 64 << 10, "level0_file_num_compaction_trigger": 2}
    config = space.canonical({**space.default(), **changes})
    before, after = (foretelling(spec, each) for each in (space, later))
    assert before is not None
    assert after is not None
    assert after([config])[0] < before([config])[0] - 0.2


def test_each_goal_has_a_number() -> None:
    spec, space = told(objective=("write_amp", "total_s"))
    foretell = foretelling(spec, space)
    assert foretell is not None
    assert foretell([space.default()]).shape == (1, 2)


@pytest.mark.parametrize(
    "given",
    [
        {"objective": "write_p99_us"},
        {"workload": {"name": "deleterandom", "num": 50_000}},
        {"engine": "embedded", "knobs": "all"},
    ],
    ids=["writes one by one", "another load", "another engine"],
)
def test_nothing_is_foretold_of_what_is_not_simulated(given: dict[str, object]) -> None:
    assert foretelling(*told(**given)) is None


def test_the_window_of_a_running_study_is_foretold_at_its_rate() -> None:
    load = {"name": "overwrite", "num": 50_000}
    asked = {"workload": load, "rocksdb": "11.8.1", "measure": "running"}
    spec, space = told(**asked, knobs="write_buffer_size,max_bytes_for_level_multiplier")
    steps = spec.steps
    assert steps is not None
    foretell = foretelling(spec, space, running=steps.model_copy(update={"rate": 5000.0}))
    assert foretell is not None
    config = space.sample(np.random.default_rng(3))
    base, found = foretell([space.default(), config]).ravel()
    assert base == 0 != found
    _, with_blobs = told(**asked, knobs="write_buffer_size,enable_blob_files")
    assert foretelling(spec, with_blobs) is None
