"""New studies: memory at full size, cautious limits, and files that nothing changes."""

from math import exp
from pathlib import Path
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.analysis.read_study import read_study
from lsmtune.knobs.types import Config
from lsmtune.objective import Metrics
from lsmtune.report.study_document import show_document
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.ranking import cautious_metrics
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import SizeRule, TrialResult, TrialSpec

CAPTURED = Path(__file__).parents[1] / "data" / "captured" / "rocksdb-7.8.3-level"
OPTIONS = (CAPTURED / "OPTIONS").read_text().replace("bloomfilter:10:false", "nullptr")
MIB = 1 << 20


def tuned(home: Home, script: Any, **given: Any) -> None:
    fast = {"study": "s", "objective": "write_amp", "optimizer": "random", "repeats": 0,
            "base_runs": 1, "trials": 10, "pairs": 0, "cache": "256MiB",
            "knobs": "write_buffer_size,max_write_buffer_number,cache_size,bloom_bits"}  # fmt: skip
    engine = ScriptedEngine(script, options=OPTIONS)
    with open_study(home, make_spec({**fast, **given}, "test"), engine, lambda _: None) as study:
        run_search(study)


def large_memtables_gain(spec: TrialSpec) -> TrialResult:
    return measured(write_amp=1e9 / float(spec.settings["write_buffer_size"]))


def test_study_stores_its_rule_and_the_memory_of_each_run(home: Home) -> None:
    tuned(home, large_memtables_gain)
    stored = home.study("s")
    assert isinstance(stored.rule, SizeRule)
    limit = next(one for one in stored.limits if one.metric == "memory_bytes")
    assert (limit.bound, limit.times_base) == (1.02, True)
    trials = home.trials(stored)
    base = trials[0].result.metrics["memory_bytes"]
    assert base > (128 + 256) * MIB
    assert all(trial.result.metrics["memory_bytes"] <= base for trial in trials)
    shown = show_document(read_study(home, "s"))["memory"]
    assert shown["total"] <= shown["limit"]
    assert (
        shown["memtables"] + shown["caches"] + shown["filters"] + shown["indexes"]
        == (shown["total"])
    )


def test_config_that_measures_too_much_memory_cannot_win(home: Home) -> None:
    def larger_tables(spec: TrialSpec) -> TrialResult:
        is_base = spec.settings["write_buffer_size"] == MIB
        result = large_memtables_gain(spec)
        metrics = {**result.metrics, "table_readers_bytes": (1.0 if is_base else 9.0) * MIB}
        return measured(**metrics)

    tuned(home, larger_tables)
    assert read_study(home, "s").best_trial is None


def test_given_memory_is_a_limit_on_measured_memory(home: Home) -> None:
    tuned(home, large_memtables_gain, memory="2GiB")
    limit = next(one for one in home.study("s").limits if one.metric == "memory_bytes")
    assert (limit.bound, limit.times_base) == (1.02 * (2 << 30), False)


@pytest.mark.parametrize(
    ("style", "base_style", "factor"), [(1, 0, exp(0.1)), (1, 1, 1), (0, 0, 1)]
)
def test_live_space_of_universal_compaction_is_expected_larger(
    style: int, base_style: int, factor: float
) -> None:
    metrics: Metrics = {"live_sst_bytes": 100.0, "write_amp": 2.0}
    config, base = (Config({"compaction_style": value}) for value in (style, base_style))
    found = cautious_metrics(config, metrics, base)
    assert found == {"live_sst_bytes": pytest.approx(100 * factor), "write_amp": 2.0}


def test_counts_at_the_end_of_a_load_are_chance(home: Home) -> None:
    counts = iter([3.0, 3.0, 3.0, *[4.0] * 20])

    def script(_: TrialSpec) -> TrialResult:
        return measured(scan_sorted_runs=next(counts))

    tuned(home, script, base_runs=3, trials=2)
    with open_study(
        home, home.study("s").settings, ScriptedEngine(script, options=OPTIONS), lambda _: None
    ) as study:
        scorer = study.history.scorer
    assert scorer.deviations["scan_sorted_runs"] == 0.3
    assert scorer.deviations["throughput_ops_s"] == 0
