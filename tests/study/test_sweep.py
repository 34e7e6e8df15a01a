"""Controlled experiments, driven by a scripted engine: order, blocks, resuming, what is refused."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fakes.cuts import check_goes_on
from fakes.studies import open_study
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.sweep import plan, sweep
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec

FACTORS = {
    "sst": {"target_file_size_base": ["2MiB", "8MiB", "16MiB"]},
    "memtable": {"write_buffer_size": ["2MiB", "8MiB", "16MiB"]},
}


def make(factors: dict[str, Any] | None = None, **table: Any) -> StudySettings:
    stated = {"factors": factors or FACTORS, **table}
    knobs = [name for knobs in stated["factors"].values() for name in knobs]
    given = {"study": "s", "scale": "1", "memory": "1TiB", "knobs": ",".join(
        [*knobs, *stated.get("fixed", {})]), "sweep": stated}  # fmt: skip
    return make_spec(given, "test")


def run(home: Home, spec: StudySettings, script: Script) -> list[StoredTrial]:
    assert spec.sweep is not None
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        sweep(study, spec.sweep)
        return home.trials(study.stored)


def flat(_: TrialSpec) -> TrialResult:
    return measured()


def test_every_block_runs_every_cell_once_with_the_base_between(home: Home) -> None:
    trials = run(home, make(repeats=4), flat)
    cells = [trial for trial in trials if trial.role is Role.TRIAL]
    assert set(Counter(trial.config for trial in cells).values()) == {4}
    assert len({trial.config for trial in cells}) == 9
    blocks = {seed: [t for t in trials if t.spec.seed == seed] for t in trials
              for seed in [t.spec.seed]}  # fmt: skip
    assert len(blocks) == 4
    for block in blocks.values():
        places = [place for place, trial in enumerate(block) if trial.role is Role.BASE]
        assert len(places) == 2
        assert places[0] <= 6 < places[1]
    orders = [[t.config.hash for t in block if t.role is Role.TRIAL] for block in blocks.values()]
    assert len({tuple(order) for order in orders}) == 4


def test_sizes_are_those_that_were_written_and_fixed_settings_hold_everywhere(home: Home) -> None:
    trials = run(home, make(fixed={"compression_type": "none", "max_write_buffer_number": 3}), flat)
    assert {t.spec.settings["compression_type"] for t in trials} == {"none"}
    assert {t.spec.settings["max_write_buffer_number"] for t in trials} == {3}
    sizes = {t.spec.settings["write_buffer_size"] for t in trials if t.role is Role.TRIAL}
    assert sizes == {2 << 20, 8 << 20, 16 << 20}


def test_an_interrupted_experiment_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    check_goes_on(tmp_path, lambda home, script: run(home, make(), script), (3, 12, 20))


def test_a_cell_that_failed_is_kept_and_not_tried_again(home: Home) -> None:
    def dies_at_large(spec: TrialSpec) -> TrialResult:
        if spec.settings["write_buffer_size"] == 16 << 20:
            return TrialResult(status=Status.CRASHED, reason="it died")
        return measured()

    first = run(home, make(), dies_at_large)
    assert len(run(home, make(), flat)) == len(first)


def test_more_repeats_add_blocks_to_those_that_have_run(home: Home) -> None:
    first = run(home, make(repeats=2), flat)
    more = run(home, make(repeats=3, metrics=["write_amp"]), flat)
    assert [t.number for t in more[: len(first)]] == [t.number for t in first]
    assert len(more) == len(first) * 3 / 2


def test_a_metric_that_is_not_measured_is_told_with_the_first_run_of_the_base(home: Home) -> None:
    def lacks_it(_: TrialSpec) -> TrialResult:
        whole = measured()
        assert whole.measurement is not None
        metrics = {k: v for k, v in whole.metrics.items() if k != "stall_s"}
        return TrialResult(
            status=Status.COMPLETE,
            measurement=whole.measurement.model_copy(update={"metrics": metrics}),
        )

    with pytest.raises(UserError, match=r"^sweep\.metrics: .*stall_s; .*write_amp"):
        run(home, make(metrics=["stall_s"]), lacks_it)
    assert len(home.trials(home.study("s"))) <= 7


def test_levels_may_be_called_by_names_which_change_no_study() -> None:
    named = make(labels={"sst": ["small", "middle", "large"]})
    assert named.sweep is not None
    assert named.sweep.level_names(load("rocksdb")) == {
        "sst": ("small", "middle", "large"), "memtable": ("2 MiB", "8 MiB", "16 MiB"),
    }  # fmt: skip
    assert named.identity() == make().identity()


def test_cells_that_are_one_config_to_rocksdb_each_have_their_runs(home: Home) -> None:
    factors = {"stop": {"level0_stop_writes_trigger": [10, 20]},
               "slow": {"level0_slowdown_writes_trigger": [20, 12]}}  # fmt: skip
    spec = make(factors, repeats=2)
    assert spec.sweep is not None
    with open_study(home, spec, ScriptedEngine(flat), lambda _: None) as study:
        done = sweep(study, spec.sweep)
        assert len(done) == len(plan(study.spaces, spec.sweep)) == 10


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"factors": {}}, "sweep: .*factor"),
        ({"factors": {"a": {"write_buffer_size": ["1MiB"]}}}, "at least 2"),
        ({"factors": {"a": {"write_buffer_size": ["1MiB", "2MiB"],
                            "target_file_size_base": ["1MiB", "2MiB", "4MiB"]}}},
         "sweep: factor a: "),
        ({"factors": {"a": {"write_buffer_size": ["1MiB", "2MiB"]},
                      "b": {"write_buffer_size": ["1MiB", "2MiB"]}}}, "write_buffer_size .*twice"),
        ({"factors": {"a": {"write_buffer_size": ["1MiB", "1MiB"]}}}, "factor a .*twice"),
        ({"factors": {"a": {"write_buffer_size": ["1MiB", "2MiB"]}}, "blocks": 3}, "blocks"),
        ({"factors": {"a": {"write_buffer_size": ["1MiB", "2MiB"]}}, "labels": {"b": ["x", "y"]}},
         "labels: .*'b'.*: a$"),
        ({"factors": {"a": {"write_buffer_size": ["1MiB", "2MiB"]}}, "labels": {"a": ["x", "x"]}},
         "labels: .*2 .*factor a"),
    ],
)  # fmt: skip
def test_what_is_no_experiment_is_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        make_spec({"sweep": table, "knobs": "core"}, "test")


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ({"a": {"write_buffer_size": [1, 2]}}, "write_buffer_size: value 1 .*134152192"),
        ({"a": {"compression_type": ["snappy", "brotli"]}}, "'brotli'.*none, snappy"),
        ({"a": {"mmap_read": [False, True]}, "b": {"use_direct_reads": [False, True]}},
         "^sweep: the config mmap_read = True, use_direct_reads = True"),
    ],
)  # fmt: skip
def test_cells_that_rocksdb_would_refuse_are_not_run(
    home: Home, factors: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        run(home, make(factors), flat)
    assert home.find_study("s") is None  # so the corrected file is not another study


def test_texts_of_booleans_are_booleans(home: Home) -> None:
    factors = {"blobs": {"enable_blob_files": ["false", "true"]}}
    trials = run(home, make(factors, fixed={"cache_index_and_filter_blocks": "true"}), flat)
    own = [t.spec.settings["enable_blob_files"] for t in trials if t.role is Role.TRIAL]
    assert sorted(own) == [False] * (len(own) // 2) + [True] * (len(own) // 2)
    assert {t.spec.settings["cache_index_and_filter_blocks"] for t in trials} == {True}
