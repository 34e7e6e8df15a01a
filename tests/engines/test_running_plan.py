"""Plans of trials of a running store: which clients each step has."""

from pathlib import Path
from typing import Any

import pytest

from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.driver.running_plan import rate_plan, running_plan, template_plan
from lsmtune.trials import Protocol, Running
from lsmtune.workloads import WORKLOADS, Records, Workload
from lsmtune.workloads.records import RECORDS

Json = dict[str, Any]

TREE = 77
LEVEL = '[DBOptions]\n[CFOptions "default"]\n  write_buffer_size=65536\n'
BLOBS = LEVEL + "  enable_blob_files=true\n"
AT_RATE = [one.name for one in RECORDS if one.runs_at_rate]
STEPS = Running(rate=1000, capacity_s=1, calm_s=2, window_s=3)


def part(load: Workload, options: str = LEVEL) -> Part:
    return Part("running", load, 7, Path("db"), Path(), options, {})


def runs(load: Workload, steps: Running = STEPS, options: str = LEVEL) -> list[Json]:
    phases = running_plan(part(load, options), steps, Protocol(), TREE)["phases"]
    return [phase for phase in phases if phase["do"] == "run"]


def groups(load: Workload, step: str) -> list[Json]:
    (found,) = [run for run in runs(load) if run["name"] == step]
    clients: list[Json] = found["groups"]
    return clients


def rates(load: Workload) -> dict[str, float]:
    """Operations per second of the window by kind, with those of watch reads."""
    return {
        "get_missing" if one.get("missing") else next(iter(one["mix"])): one["per_second"]
        for one in groups(load, "window")
    }


def test_the_workloads_that_run_at_a_rate() -> None:
    assert set(AT_RATE) == {
        "overwrite", "updaterandom", "rangedelete", "readwhilewriting", "readrandomwriterandom",
        "mix",
    }  # fmt: skip
    assert not any(WORKLOADS[name].needs_db_bench for name in AT_RATE)


@pytest.mark.parametrize("name", AT_RATE)
def test_each_step_lies_between_reports(name: str) -> None:
    load = Workload(name=name, num=1000)
    plan = running_plan(part(load), STEPS, Protocol(), TREE)
    assert plan["existing"]
    told = [phase.get("name", phase["do"]) for phase in plan["phases"]]
    assert told == [
        "turn", "report", "capacity", "report", "settle", "calm", "report", "window", "report",
    ]  # fmt: skip
    assert [run.get("seconds") for run in runs(load)] == [None, 1, 2, 3]
    seeds = [one["seed"] for run in runs(load) for one in run["groups"]]
    alike = {one["seed"] for one in groups(load, "capacity")}
    assert len({*seeds} - alike) == len([seed for seed in seeds if seed not in alike])


def test_without_a_rate_it_ends_after_the_capacity() -> None:
    load = Workload(name="mix", num=1000)
    assert [run["name"] for run in runs(load, Running(rate=None))] == ["turn", "capacity"]
    calmless = Running(rate=5, calm_s=0)
    assert [run["name"] for run in runs(load, calmless)][-2:] == ["capacity", "window"]


def test_each_kind_has_its_clients_and_its_share() -> None:
    shares = {"get": 0.4, "get_missing": 0.1, "put": 0.3, "scan": 0.2}
    load = Workload(name="mix", num=1000, threads=3, mix=shares)
    assert load.definition.read_shares == {"get": 0.4, "get_missing": 0.1, "scan": 0.2}
    assert rates(load) == {kind: pytest.approx(1000 * share) for kind, share in shares.items()}
    for one in groups(load, "window"):
        assert one["clients"] == 3
        assert one.get("count_blocks", False) == ("put" not in one["mix"])
    main, missing = groups(load, "capacity")
    assert missing["missing"]
    assert missing["mix"] == {"get": 1}
    assert main["mix"].keys() == {"get", "put", "scan"}
    assert "operations" not in main


def test_a_writer_next_to_readers_keeps_its_own_rate() -> None:
    load = Workload(name="readwhilewriting", num=1000, write_rate_bytes_s=104_000)
    assert rates(load) == {"get": 1000, "put": 100}
    assert load.definition.read_shares == {"get": 1}
    reader, writer = groups(load, "capacity")
    assert ("bytes_per_second" in reader, writer["bytes_per_second"]) == (False, 104_000)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("overwrite", "put"), ("updaterandom", "read_modify_write"), ("rangedelete", "put")],
)
def test_writes_are_watched_by_few_reads(name: str, kind: str) -> None:
    load = Workload(name=name, num=1000, threads=2)
    assert load.definition.read_shares == {}
    found = rates(load)
    assert found.pop(kind) == 1000
    assert found.keys() == {"get", "get_missing", "scan"}
    assert sum(found.values()) < 1000
    watching = [one for one in groups(load, "window") if one.get("count_blocks")]
    assert {one.get("clients", 1) for one in watching} == {1}
    assert len(groups(load, "capacity")) == 1


def test_range_deletions_run_in_all_steps() -> None:
    load = Workload(name="rangedelete", num=10_000, tombstone_every=100, tombstone_width=5)
    for run in runs(load):
        writers = [one for one in run["groups"] if "put" in one["mix"]]
        assert {one["range_delete"]["every"] for one in writers} == {100}
    (turn,) = groups(load, "turn")
    assert turn["range_delete"]["at_most"] == 100


def test_keys_are_turned_over_in_other_orders_and_more_often_with_blobs() -> None:
    load = Workload(name="overwrite", num=1000, threads=2)
    steps = Running(rate=None, turn_over=1.5)

    def turns(options: str) -> list[Json]:
        found = [run for run in runs(load, steps, options) if run["name"] == "turn"]
        return [one for run in found for one in run["groups"]]

    assert [one["operations"] for one in turns(LEVEL)] == [500, 250]
    assert [one["operations"] for one in turns(BLOBS)] == [500, 500, 500, 500, 250]
    assert {one["keys"]["kind"] for one in turns(BLOBS)} == {"unique"}
    filled = template_plan(part(load), Protocol())["phases"][:2]
    seeds = [run["groups"][0]["seed"] for run in filled] + [one["seed"] for one in turns(BLOBS)]
    assert len({*seeds}) == 7


def test_a_skewed_workload_also_writes_its_own_choice_of_keys() -> None:
    plain = Workload(name="overwrite", num=1000)
    for load in (
        Workload(name="overwrite", num=1000, write_skew=5),
        Workload(name="mix", num=1000, skew=5),
    ):
        assert len(runs(load)) == len(runs(plain)) + 1
        (own,) = runs(load)[1]["groups"]
        assert (own["keys"]["kind"], own["operations"]) == ("exponential", 250)
    # The skew of reads alone does not change which keys are written.
    reads = Workload(name="readwhilewriting", num=1000, skew=5)
    assert len(runs(reads)) == len(runs(plain))


@pytest.mark.parametrize("name", ["mix", "updaterandom", "readwhilewriting"])
def test_only_keys_that_exist_are_written(name: str) -> None:
    load = Workload(name=name, num=1000, present=0.5) if name != "mix" else None
    if load is None:
        load = Workload(name=name, num=1000, present=0.5, mix={"get": 0.5, "put": 0.5})
    template = template_plan(part(load), Protocol())["phases"][:2]
    for run in [*template, *runs(load)]:
        for one in run["groups"]:
            if one["mix"].keys() <= {"get", "scan"}:
                continue
            seed = 7 if run in template else TREE
            assert one["seed"] == seed
            assert one.get("write_keys", one["keys"]) == {"kind": "unique"}
            assert one["operations"] == 500


@pytest.mark.parametrize("name", AT_RATE)
def test_rates_are_those_of_the_shares(name: str) -> None:
    definition = Workload(name=name, num=1000).definition_of(Records)
    assert sum(definition.shares.values()) == pytest.approx(1)
    shares = {kind: definition.rates(10.0)[kind] / 10 for kind in definition.shares}
    assert shares == pytest.approx(dict(definition.shares))


def test_another_rate_has_the_clients_of_the_window() -> None:
    load = Workload(name="mix", num=1000, mix={"get": 0.5, "put": 0.5})
    plan = rate_plan(part(load), STEPS, 250, Protocol(), TREE)
    told = [phase.get("name", phase["do"]) for phase in plan["phases"]]
    assert told == ["report", "settle", "calm", "report", "window", "report"]
    at_rate = [one["per_second"] for one in plan["phases"][-2]["groups"]]
    assert at_rate == [per_second / 4 for per_second in rates(load).values()]


UNIVERSAL = LEVEL + "  compaction_style=kCompactionStyleUniversal\n"


@pytest.mark.parametrize(
    ("num", "percent", "window_s"),
    [(10_000, 100, 10), (10_000, 200, 20), (100_000, 200, 30), (1000, 10, 3)],
)
def test_the_window_of_universal_compaction_lasts_until_the_next_full_merge(
    num: int, percent: int, window_s: float
) -> None:
    merged = f"  compaction_options_universal={{max_size_amplification_percent={percent};}}\n"
    load = Workload(name="overwrite", num=num)
    window = runs(load, STEPS, UNIVERSAL + merged)[-1]
    assert (window["name"], window["seconds"]) == ("window", window_s)
    assert runs(load)[-1]["seconds"] == STEPS.window_s
