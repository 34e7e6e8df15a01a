"""Skewed writes: which workloads have them, who runs them, and how many keys they touch."""

import json
import random
from math import exp, log
from pathlib import Path

import pytest
from pydantic import ValidationError

from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.best_case import BestCase
from lsmtune.engines.rocksdb.driver.plans import Json, endless_plan, load_plan, probe_plan
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings, make_spec
from lsmtune.trials import Protocol
from lsmtune.workloads import WORKLOADS, Workload
from lsmtune.workloads.key_values import skewed_keys

WRITING = ("fillrandom", "overwrite", "updaterandom", "deleterandom", "rangedelete",
           "readwhilewriting", "readrandomwriterandom", "mix")  # fmt: skip
SKEWED, UNIFORM = {"kind": "exponential", "range": 9.0}, {"kind": "uniform"}
CACHE = {"cache_size": 8 << 20, "cache_numshardbits": -1, "cache_high_pri_pool_ratio": 0.0}


def part(name: str, **fields: object) -> Part:
    load = Workload.model_validate({"name": name, "num": 5000, **fields})
    return Part("load", load, 7, Path("db"), Path("work"), "[DBOptions]\n", CACHE)


def groups(plan: Json) -> list[Json]:
    (run,) = (phase for phase in plan["phases"] if phase["do"] == "run")
    found: list[Json] = run["groups"]
    return found


def test_workloads_that_write_records_have_it() -> None:
    assert {name for name, one in WORKLOADS.built_in.items() if "write_skew" in one.parameters} == {
        *WRITING
    }
    with pytest.raises(ValidationError, match="readrandom 'write_skew'"):
        Workload(name="readrandom", write_skew=5)
    for wrong in (0, -1, 101):
        with pytest.raises(ValidationError, match="write_skew"):
            Workload(name="overwrite", write_skew=wrong)


@pytest.mark.parametrize("name", WRITING)
def test_workloads_without_it_keep_their_json(name: str) -> None:
    load = Workload(name=name)
    last = ["skew", "trace", "database", "warehouses", "families", "tables"]
    for dumped in (load.model_dump(), json.loads(load.model_dump_json())):
        assert "write_skew" not in dumped
        assert list(dumped)[-6:] == last
    spec = StudySettings(workload=load)
    assert "write_skew" not in json.dumps(spec.model_dump(mode="json"))
    assert "write_skew" not in spec.identity()


def test_a_workload_with_it_is_another_one_and_is_read_again() -> None:
    plain, skewed = Workload(name="overwrite"), Workload(name="overwrite", write_skew=9)
    assert Workload.model_validate_json(skewed.model_dump_json()) == skewed != plain
    specs = [
        make_spec({"workload": load.model_dump(), "rocksdb": "11.8.1"}, "x")
        for load in (plain, skewed)
    ]
    assert specs[0].identity() != specs[1].identity()
    assert specs[1].changed_since(specs[0]) == ["workload"]


@pytest.mark.parametrize("name", ["fillrandom", "overwrite", "updaterandom", "deleterandom",
                                  "rangedelete"])  # fmt: skip
def test_the_driver_skews_all_keys_of_clients_that_only_write(name: str) -> None:
    (group,) = groups(load_plan(part(name, write_skew=9), Protocol()))
    assert group["keys"] == SKEWED
    assert "write_keys" not in group
    (group,) = groups(load_plan(part(name), Protocol()))
    assert group["keys"] == UNIFORM


def test_the_driver_skews_only_the_writes_of_clients_that_also_read() -> None:
    (group,) = groups(load_plan(part("readrandomwriterandom", write_skew=9), Protocol()))
    assert (group["keys"], group["write_keys"]) == (UNIFORM, SKEWED)
    (group,) = groups(load_plan(part("mix", write_skew=9, skew=3), Protocol()))
    assert (group["keys"]["range"], group["write_keys"]) == (3, SKEWED)
    # As before: the skew of a mix without write_skew is that of all its operations.
    (group,) = groups(load_plan(part("mix", skew=3), Protocol()))
    assert group["keys"]["range"] == 3
    assert "write_keys" not in group


def test_the_driver_skews_the_writer_next_to_readers() -> None:
    readers, writer = groups(load_plan(part("readwhilewriting", write_skew=9), Protocol()))
    assert (readers["keys"], writer["keys"]) == (UNIFORM, SKEWED)
    readers, writer = groups(endless_plan(part("readwhilewriting", skew=3)))
    assert (readers["keys"]["range"], writer["keys"]) == (3, UNIFORM)


def test_the_read_probe_reads_the_keys_that_were_written() -> None:
    plan = probe_plan(part("fillrandom", write_skew=9), Protocol())
    runs = [phase["groups"][0] for phase in plan["phases"] if phase["do"] == "run"]
    assert [run["keys"] for run in runs] == [SKEWED] * 3
    assert {run["seed"] for run in runs} == {7}


def test_db_bench_refuses_it_and_names_what_can_run_it() -> None:
    given = {"workload": {"name": "overwrite", "write_skew": 9}}
    for program in ({}, {"program": "db_bench"}):
        with pytest.raises(UserError, match=r"write_skew: db_bench .*driver .*rocksdb"):
            make_spec({**given, **program}, "x")
    for runs in ({"rocksdb": "11.8.1"}, {"library": "librocksdb.so"}, {"engine": "simulated"}):
        assert make_spec({**given, **runs}, "x").workload.write_skew == 9


def test_other_engines_refuse_it() -> None:
    given = {"name": "fillrandom", "write_skew": 9}
    with pytest.raises(UserError, match=r"write_skew: engine myrocks .*embedded"):
        make_spec({"workload": given, "engine": "myrocks"}, "x")
    assert make_spec({"workload": given, "engine": "embedded"}, "x").workload.write_skew == 9


@pytest.mark.parametrize(("writes", "skew"), [(2000, 9.0), (20_000, 9.0), (20_000, 2.0),
                                              (5000, 30.0), (20_000, 0.5)])  # fmt: skip
def test_the_number_of_different_keys_is_that_of_the_distribution(writes: int, skew: float) -> None:
    num, rng = 10_000, random.Random(3)
    drawn = {int(num * exp(-rng.random() * skew)) for _ in range(writes)}
    assert skewed_keys(num, writes, skew) == pytest.approx(len(drawn), rel=0.05)


def test_the_live_records_follow_from_the_different_keys() -> None:
    num = 100_000
    plain, skewed = (
        Workload(name="fillrandom", num=num, write_skew=skew) for skew in (None, log(num))
    )
    assert plain.distinct_bytes is not None
    assert skewed.distinct_bytes is not None
    assert skewed.distinct_bytes < 0.5 * plain.distinct_bytes
    kept = Workload(name="overwrite", num=num, write_skew=9)
    assert kept.distinct_bytes == num * kept.record_bytes
    left = Workload(name="deleterandom", num=num, write_skew=log(num)).distinct_bytes
    assert left == pytest.approx(num * kept.record_bytes - skewed.distinct_bytes)


def test_the_space_bound_of_a_trial_holds_for_skewed_writes() -> None:
    assert BestCase(Workload(name="fillrandom", write_skew=9)).least_live_bytes() is None
    kept = [
        BestCase(Workload(name="overwrite", write_skew=skew)).least_live_bytes()
        for skew in (None, 9)
    ]
    assert kept[0] is not None
    assert kept[0] == kept[1]
