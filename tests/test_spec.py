"""Study settings: the text forms, what is refused, and what makes a study the same one."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lsmtune.engines.tikv.settings import Cluster
from lsmtune.errors import UserError
from lsmtune.experiment import Sweep
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.memory import memory_bytes
from lsmtune.knobs.types import Settings
from lsmtune.spaces import KnobSpaces, knob_space, rescaled
from lsmtune.spec import BUDGET_KEYS, Ground, StudySettings, all_keys, make_spec, read_study_file
from lsmtune.tables import Online, Screen
from lsmtune.trials import Base, Protocol
from lsmtune.units import MIB
from lsmtune.workloads import Workload

FULL = """
study = "night-run"
engine = "rocksdb"
program = "db_bench"
base = "OPTIONS-000123"
family = "orders"
cache = "4GiB"
early_stop = false
measure = "filled"
scale = "1/8"
knobs = "write-path"
objective = "write_amp"
limits = ["live_sst_bytes <= 1.1 * base", "write_p99_us <= 2000"]
memory = "4GiB"
deploy_cores = 8
optimizer = "random"
trials = 40
budget = "20m"
until = 12
seed = 7
base_runs = 2
finalists = 3
repeats = 1
new_store = true
one_way = true
simplify = false
pairs = 8
max_pairs = 20

[workload]
name = "fillrandom"
num = 200_000
value_size = 400

[protocol]
probe_reads = 500
quiet_s = 1

[screen]
design = "latin"
"""

OTHER_VALUES: dict[str, Any] = {
    "program": "db_bench_11",
    "rocksdb": "8.10.2",
    "library": "librocksdb.so",
    "base": "OPTIONS-000123",
    "family": "orders",
    "cache": "4GiB",
    "early_stop": False,
    "workload": {"num": 5000},
    "scale": "1/32",
    "deploy_cores": 16,
    "knobs": "write-path",
    "objective": "write_amp",
    "limits": ("load_s <= 5",),
    "memory": "64MiB",
    "optimizer": "random",
    "warm_start": "all",
    "trials": 17,
    "budget": "5m",
    "until": "stable",
    "seed": 2,
    "base_runs": 4,
    "finalists": 7,
    "repeats": 1,
    "new_store": True,
    "one_way": True,
    "simplify": False,
    "pairs": 9,
    "max_pairs": 99,
    "protocol": {"quiet_s": 2},
    "screen": {"design": "latin"},
    "sweep": {"factors": {"memtable": {"write_buffer_size": ["1MiB", "2MiB"]}}},
}
"""Another value for each setting than its default."""

TELL_NAME = """
from lsmtune.spec import make_spec
print(make_spec({"limits": ["load_s <= 5"], "workload": {"num": 5000}}, "here").name)
"""


def refusal(given: dict[str, Any]) -> str:
    with pytest.raises(UserError) as caught:
        make_spec(given, "study.toml")
    return str(caught.value)


def ground() -> Ground:
    settings: Settings = {knob.name: knob.default for knob in load("rocksdb").knobs}
    return Ground(load("rocksdb"), Base(options="", settings=settings), open_files=1024)


def test_every_setting_can_stand_in_a_study_file(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(FULL)
    spec = make_spec(read_study_file(file), str(file))
    said = tomllib.loads(FULL)
    assert said.keys() == set(all_keys()) - {
        "sweep",
        "warm_start",
        "online",
        "tikv",
        "rocksdb",
        "library",
        "libraries",
        "rate",
        "capacity",
    }  # instead of a screening, of the program, of another engine, or of filled stores
    assert spec.name == "night-run"
    assert spec.scale_value == Fraction(1, 8)
    assert spec.budget_s == 1200
    assert (spec.workload.num, spec.workload.value_size, spec.workload.key_size) == (
        200_000,
        400,
        16,
    )
    assert (spec.protocol.probe_reads, spec.protocol.quiet_s) == (500, 1.0)
    assert spec.parsed_objective.metrics == ("write_amp",)
    assert [str(limit) for limit in spec.parsed_objective.limits][-2:] == said["limits"]


def test_a_workload_may_be_named_instead_of_described() -> None:
    assert make_spec({"workload": "overwrite"}, "here") == make_spec({}, "here")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"speed": 5}, ["speed: ", "'speed'", "optimizer"]),
        ({"workload": {"records": 5}}, ["workload.records: ", "'records'", "value_size"]),
        ({"protocol": {"wait": 5}}, ["protocol.wait: ", "'wait'", "probe_reads"]),
        ({"workload": {"num": 5}}, ["workload.num = 5", "1000"]),
        ({"workload": "ycsb-z"}, ["ycsb-z", "fillrandom"]),
        ({"trials": 0}, ["trials = 0", "at least 1"]),
        ({"trials": "many"}, ["trials = 'many'", "integer"]),
        ({"engine": "leveldb"}, ["engine: ", "'leveldb'", "rocksdb, myrocks"]),
        ({"trails": 5}, ["trails: ", "'trials'"]),
        ({"study": "../escape"}, ["study = '../escape'", "letters"]),
        ({"study": ""}, ["study = ''", "letters"]),
        ({"study": "a" * 65}, ["64"]),
        ({"seed": 0}, ["seed = 0"]),
        ({"scale": "2"}, ["scale", "'2'", "1/64"]),
        ({"budget": "soon"}, ["budget", "'soon'", "20m"]),
        ({"cache": "512"}, ["cache", "'512'", "512MiB", "64 KiB"]),
        ({"cache": "63KiB"}, ["cache", "'63KiB'", "64 KiB"]),
        ({"objective": "fastest"}, ["objective", "'fastest'", "balanced"]),
        ({"limits": ["load_s < 5"]}, ["limit", "'load_s < 5'", "METRIC"]),
        ({"pairs": 3}, ["pairs", "3", "6"]),
    ],
)
def test_a_wrong_setting_is_refused_with_place_key_value_and_what_is_allowed(
    given: dict[str, Any], words: list[str]
) -> None:
    message = refusal(given)
    assert message.startswith("study.toml: ")
    for word in words:
        assert word in message
    assert "\n" not in message


WRONG_VALUES = ["", -1, 1.5, True, [], [1], [[1]], {}, {"a": 1}, float("inf"), date(2026, 1, 2)]
PYDANTIC = r"[Ii]nput|valid (string|integer|number|boolean|tuple)|tuple|\[key\]|[Ff]ield|datetime"


@pytest.mark.parametrize(
    ("table", "keys"),
    [
        ("", all_keys()),
        ("workload", Workload.model_fields),
        ("protocol", Protocol.model_fields),
        ("screen", Screen.model_fields),
        ("sweep", Sweep.model_fields),
        ("online", Online.model_fields),
        ("tikv", Cluster.model_fields),
    ],
)
def test_messages_about_wrong_types_have_the_key_and_plain_words(
    table: str, keys: Iterable[str]
) -> None:
    for key in (*keys, "nonesuch"):
        for value in WRONG_VALUES:
            given: dict[str, Any] = {table: {key: value}} if table else {key: value}
            try:
                make_spec(given, "study.toml")
            except UserError as error:
                message = str(error)
                assert (table or key) in message
                assert not re.search(PYDANTIC, message), message


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ({"factors": {"f": {"num_levels": [3]}}}, ["f.num_levels = [3]", "2 values"]),
        ({"factors": {"f": {"num_levels": [3, []]}}}, ["f.num_levels.1 = []", "a number"]),
        ({"factors": {"f": {"num_levels": 3}}}, ["f.num_levels = 3", "a list"]),
        ({"fixed": {"num_levels": {}}}, ["fixed.num_levels: ", "a number"]),
        ({}, ["sweep.factors: ", "missing"]),
    ],
)
def test_messages_about_an_experiment_name_a_wrong_value_once(
    sweep: dict[str, Any], words: list[str]
) -> None:
    message = refusal({"sweep": sweep})
    assert all(word in message for word in words), message
    assert all(message.count(word) == 1 for word in words), message


def test_every_wrong_setting_is_told_at_once() -> None:
    message = refusal({"trials": 0, "seed": 0, "speed": 1})
    assert all(key in message for key in ("trials", "seed", "speed"))


def test_verification_may_be_left_out() -> None:
    assert make_spec({"pairs": 0}, "here").pairs == 0


def test_a_file_that_is_no_toml_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text("trials = \n")
    with pytest.raises(UserError, match=r"study\.toml: .*TOML.*line 1"):
        read_study_file(file)
    file.write_bytes(b"study = '\xff'")
    with pytest.raises(UserError, match=r"study\.toml: .*UTF-8"):
        read_study_file(file)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"absent\.toml: .*No such file"):
        read_study_file(tmp_path / "absent.toml")


def test_there_is_another_value_for_every_setting() -> None:
    assert OTHER_VALUES.keys() == StudySettings.model_fields.keys() - {
        "study", "engine", "online", "engine_settings", "libraries", "measure", "rate",
        "capacity",
    }  # fmt: skip


@pytest.mark.parametrize("key", sorted(OTHER_VALUES))
def test_only_the_budget_may_change_within_a_study(key: str) -> None:
    before, after = StudySettings(), make_spec({key: OTHER_VALUES[key]}, "here")
    assert (before.identity() == after.identity()) == (key in BUDGET_KEYS)
    assert (before.name == after.name) == (key in BUDGET_KEYS)


def test_another_way_of_measuring_is_another_study() -> None:
    usual = {"rocksdb": "11.8.1"}
    within = {"capacity": "write_p99_us <= 2000"}
    asked = ({}, {"measure": "filled"}, {"rate": "40%"}, {"rate": 5000}, within)
    assert len({make_spec({**usual, **given}, "here").name for given in asked}) == len(asked)
    assert make_spec({**usual, "rate": "50%"}, "here") == make_spec(usual, "here")


@pytest.mark.parametrize(
    "capacity",
    ["write_p99_us", "write_p99_us >= 5", "write_p99_us <= 0", "write_p99_us <= 2 * base",
     "get_p99_us <= 5", "write_amp <= 5"],
)  # fmt: skip
def test_a_capacity_is_within_a_latency_of_the_workload(capacity: str) -> None:
    with pytest.raises(UserError, match=r"capacity: .*write_p99_us"):
        make_spec({"rocksdb": "11.8.1", "workload": "overwrite", "capacity": capacity}, "here")


def test_a_filled_store_has_no_capacity() -> None:
    with pytest.raises(UserError, match=r"capacity: .*running"):
        make_spec({"workload": "fillrandom", "capacity": "write_p99_us <= 2000"}, "here")


def test_a_screening_may_repeat_more_configs_more_often_while_it_goes_on() -> None:
    once, again = (
        make_spec({"screen": {"replicated": count, "runs": count}}, "here") for count in (2, 4)
    )
    assert once.identity() == again.identity()


def test_other_engines_run_some_loads_of_db_bench() -> None:
    spec = make_spec({"engine": "embedded"}, "here")
    assert (spec.program, spec.knobs, spec.scale) == ("lsmdriver", "all", "1")
    assert spec.objective == ("total_s",)
    assert make_spec({"engine": "myrocks"}, "here").knobs == "mixed"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"engine": "embedded", "workload": "readrandom"},
         "engine: 'embedded' .*readrandom; .*: rocksdb$"),
        ({"engine": "myrocks", "workload": "fillseq"},
         "engine: 'myrocks' .*fillseq; .*: rocksdb, embedded"),
        ({"engine": "embedded", "workload": {"tombstone_every": 50, "tombstone_width": 5}},
         "tombstone_every: .*embedded"),
        ({"engine": "embedded", "workload": {"num": 10**12, "key_size": 8}}, "12 to 500"),
        ({"engine": "embedded", "workload": {"key_size": 600}}, "key_size"),
        ({"libraries": {"lmdb": "liblmdb.so"}}, "libraries: .*rocksdb"),
        ({"engine": "embedded", "libraries": {"rocksdb": "lib.so"}}, "libraries"),
        ({"engine": "myrocks", "workload": {"value_size": 100_000}}, "value_size"),
        ({"engine": "myrocks", "online": {}}, "online: .*fillrandom .*tpcc, oltp_read_write"),
        ({"engine": ["rocksdb"]}, "engine"),
        ({"engine": "leveldb"}, "engine"),
        ({"engine": "tikv", "workload": "fillrandom"}, "engine: 'tikv' .*fillrandom"),
    ],
)  # fmt: skip
def test_what_another_engine_cannot_run_is_refused(given: dict[str, Any], words: str) -> None:
    assert re.search(words, refusal(given))


RESTARTED = {"config": "tikv.toml", "restart": ["systemctl", "restart", "tikv"]}


def test_a_study_of_tikv_tunes_what_its_tikv_takes() -> None:
    spec = make_spec({"engine": "tikv"}, "here")
    assert (spec.workload.name, spec.program, spec.scale) == ("ycsb_a", "go-ycsb", "1")
    assert (spec.knobs, spec.objective) == ("online", ("throughput_ops_s",))
    assert make_spec({"workload": "ycsb_c", "tikv": RESTARTED}, "here").knobs == "core"
    limits = [limit.metric for limit in make_spec({"workload": "writeheavy"}, "here")
              .parsed_objective.limits]  # fmt: skip
    assert limits == [
        "throughput_ops_s", "write_p99_us", "live_sst_bytes",
        "get_p50_us", "get_p99_us", "scan_p50_us", "scan_p99_us",
    ]  # fmt: skip
    other = make_spec({"engine": "tikv", "tikv": {"status": "other:20180"}}, "here")
    assert other.identity() != spec.identity()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"knobs": "core"}, "knobs: rocksdb.defaultcf.block-size .*restart"),
        ({"workload": "longscan"}, "workload.scan_length: 100000 .*raw API.*10240"),
        ({"scale": "1/8"}, "scale: 1/8"),
        ({"cache": "1GiB"}, "cache: .*storage.block-cache.capacity"),
        ({"workload": {"name": "ycsb_a", "value_size": 77}}, "value_size: 77 .* 10"),
        ({"workload": {"name": "ycsb_a", "key_size": 20}}, "ycsb_a 'key_size'"),
        (
            {"tikv": {"status": "a:b@host:1"}},
            "tikv.status = 'a:b@host:1': .*host:port",
        ),
        ({"tikv": {"pd": "host:1;host:2"}}, "tikv.pd = .*host:port"),
        ({"tikv": {"config": "x"}}, "tikv: .*config.*restart"),
        ({"tikv": {"restart": "systemctl restart tikv"}}, "tikv.restart"),
        ({"tikv": {"stop": ["x"]}}, "tikv.stop: .*'stop'.*status, pd"),
        ({"engine": "rocksdb", "workload": "fillrandom", "tikv": {}}, r"\[tikv\]: .*rocksdb"),
    ],
)
def test_what_a_tikv_does_not_do_is_refused(given: dict[str, Any], words: str) -> None:
    assert re.search(words, refusal({"engine": "tikv", **given}))


def test_ranges_of_tikv_reach_around_what_it_runs_with() -> None:
    catalogue = load("tikv")
    settings: Settings = {knob.name: knob.default for knob in catalogue.knobs}
    capacity = "storage.block-cache.capacity"
    settings |= {capacity: 225 << 30, "storage.scheduler-worker-pool-size": 8}
    ground = Ground(catalogue, Base(options="", settings=settings), open_files=1024)
    space = knob_space(make_spec({"engine": "tikv"}, "here"), ground)
    knobs = {knob.name: knob for knob in space.knobs}
    assert knobs[capacity].bounds() == (64 << 20, 225 << 30)  # what the memory limit allows
    assert knobs["storage.scheduler-worker-pool-size"].bounds() == (1, 8)
    assert dict(space.default()).items() <= settings.items()


def test_the_study_of_the_how_to_is_one() -> None:
    page = Path(__file__).parents[1] / "docs" / "how-to" / "tikv.md"
    text = page.read_text().partition("```toml\n")[2].partition("```")[0]
    spec = make_spec(tomllib.loads(text), str(page))
    assert (spec.engine, spec.knobs, spec.name) == ("tikv", "core", "lookups")


def test_long_scans_are_for_transactions() -> None:
    spec = make_spec({"workload": "longscan", "tikv": {"api": "txn"}}, "here")
    assert spec.workload.scan_length == 100_000


def test_a_screening_is_no_controlled_experiment() -> None:
    with pytest.raises(UserError, match=r"\[sweep\]: .*\[screen\]"):
        make_spec({name: OTHER_VALUES[name] for name in ("screen", "sweep")}, "here")


def test_the_given_name_wins_and_is_no_part_of_the_identity() -> None:
    assert StudySettings(study="mine").name == "mine"
    assert StudySettings(study="mine").identity() == StudySettings(study="yours").identity()


def test_the_name_is_the_same_in_every_process() -> None:
    name = subprocess.run(
        [sys.executable, "-c", TELL_NAME],
        env=os.environ | {"PYTHONHASHSEED": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    assert name == make_spec({"limits": ["load_s <= 5"], "workload": {"num": 5000}}, "here").name


def test_a_copy_with_other_values_computes_its_own_name_and_sizes() -> None:
    spec, same = (make_spec({"study": "one", "cache": "64MiB"}, "here") for _ in range(2))
    assert (spec.name, spec.cache_bytes, spec.scale_value) == ("one", 64 * MIB, Fraction(1, 64))
    other = spec.model_copy(update={"study": None, "cache": None, "scale": "1"})
    assert (other.cache_bytes, other.scale_value) == (None, 1)
    assert other.name not in ("one", other.model_copy(update={"seed": 2}).name)
    assert spec == same
    assert hash(spec) == hash(same)
    assert spec.model_dump() == same.model_dump()


def test_what_is_stored_is_the_same_study_when_it_is_read_again() -> None:
    spec = make_spec(tomllib.loads(FULL), "here")
    again = StudySettings.model_validate(spec.model_dump(mode="json"))
    assert again == spec
    assert again.identity() == spec.identity()


def test_the_space_is_scaled_and_has_the_memory_of_the_base() -> None:
    spec = StudySettings(scale="1/64", knobs="write_buffer_size, num_levels")
    space = knob_space(spec, ground())
    buffer, levels = space.knobs
    assert buffer.bounds() == (524_288, 1 << 20)  # the baseline's: more exceeds the memory limit
    assert levels.bounds() == (5, 8)
    assert space.memory.limit_bytes == memory_bytes(space.base) == (2 << 20) + (8 << 20)


def test_memory_can_be_lifted_by_name_but_not_below_the_base() -> None:
    lifted = knob_space(StudySettings(memory="64MiB"), ground())
    assert lifted.memory.limit_bytes == 64 << 20
    with pytest.raises(UserError, match=r"memory: .*10 MiB.*9 MiB"):
        knob_space(StudySettings(memory="9MiB"), ground())


def test_load_decides_knobs_and_objective_where_the_user_does_not() -> None:
    reads = make_spec({"workload": "readrandom"}, "here")
    assert reads.knobs == "tree,filters,lookups,codecs,blobs"
    assert reads.objective == ("throughput_ops_s",)
    asked = make_spec({"workload": "readrandom", "knobs": "core", "objective": "read_amp"}, "here")
    assert (asked.knobs, asked.objective) == ("core", ("read_amp",))
    limits = {limit.metric for limit in reads.parsed_objective.limits}
    assert limits == {
        "throughput_ops_s", "get_p50_us", "get_p99_us", "live_sst_bytes", "write_amp"
    }  # fmt: skip


def test_a_load_of_sql_brings_its_engine_its_knobs_and_its_program() -> None:
    spec = make_spec({"workload": "tpcc"}, "here")
    assert (spec.engine, spec.program, spec.knobs) == ("myrocks", "mariadbd", "mixed")
    assert spec.workload.threads == 8
    apart = make_spec({"workload": {"name": "tpcc", "families": True}}, "here")
    assert apart.knobs == "families"
    timed = make_spec({"workload": {"name": "tpcc", "duration_s": 20}}, "here")
    assert timed.objective == ("throughput_ops_s",)
    elsewhere = refusal({"workload": "tpcc", "engine": "rocksdb"})
    assert re.search("engine: 'rocksdb' .*tpcc; .*: myrocks$", elsewhere)


def test_only_a_running_engine_is_tuned_online() -> None:
    spec = make_spec({"workload": "oltp_read_write", "online": {"window_s": 2}}, "here")
    assert (spec.knobs, spec.objective) == ("online", ("throughput_ops_s",))
    refused = refusal({"online": {}, "engine": "embedded"})
    assert re.search("online: .*embedded.*: rocksdb, myrocks$", refused)
    both = {"online": {}, "sweep": {"factors": {"a": {"cache_size": [1, 2]}}}}
    assert re.search(r"\[online\]: .*\[sweep\]", refusal({"workload": "tpcc", **both}))


ONLINE = {"online": {}, "rocksdb": "11.8.1"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"online": {}, "workload": "overwrite"}, "online: db_bench .*rocksdb or library"),
        ({**ONLINE, "workload": "fillrandom"}, "online: .*fillrandom .*: overwrite, "),
        ({**ONLINE, "workload": "deleterandom"}, "online: .*deleterandom .*scanlong"),
        ({**ONLINE, "workload": {"name": "mix", "present": 0.5}}, "workload.present: 0.5 "),
        ({**ONLINE, "workload": "overwrite", "knobs": "write_buffer_size,block_size"},
         "knobs: .*block_size .*preset online"),
    ],
)  # fmt: skip
def test_what_an_open_rocksdb_cannot_do_is_refused(given: dict[str, Any], words: str) -> None:
    assert re.search(words, refusal(given))


ENDLESS = [
    "overwrite", "updaterandom", "readrandom", "readhalfmissing", "scanshort", "scanlong",
    "readwhilewriting", "readrandomwriterandom", "mix",
]  # fmt: skip


@pytest.mark.parametrize("workload", ENDLESS)
def test_an_open_rocksdb_searches_what_it_can_change(workload: str) -> None:
    spec = make_spec({**ONLINE, "workload": workload}, "here")
    assert spec.objective == ("throughput_ops_s",)
    knobs = knob_space(spec, ground()).knobs
    assert {knob.apply for knob in knobs} == {"online"}
    assert {"write_buffer_size", "max_background_jobs"} <= {knob.name for knob in knobs}


def test_a_change_of_the_database_sets_bytes_per_sync() -> None:
    """DBImpl::SetDBOptions turns 0 into 1 MiB."""
    spec = make_spec({**ONLINE, "workload": "overwrite"}, "here")
    space = knob_space(spec, ground())
    [knob] = [knob for knob in space.knobs if knob.name == "bytes_per_sync"]
    assert ground().base.settings["bytes_per_sync"] == 0
    assert space.default()["bytes_per_sync"] == MIB
    assert not knob.allows(0)
    of_family = knob_space(spec.model_copy(update={"knobs": "write_buffer_size"}), ground())
    assert of_family.base["bytes_per_sync"] == 0


def test_what_a_library_cannot_change_online_is_left_out() -> None:
    fixed = ("max_background_jobs", "delayed_write_rate", "bytes_per_sync", "wal_bytes_per_sync")
    base = ground().base.model_copy(update={"fixed_online": fixed})
    older = Ground(load("rocksdb"), base, open_files=1024)
    spec = make_spec({**ONLINE, "workload": "overwrite"}, "here")
    names = [knob.name for knob in knob_space(spec, older).knobs]
    assert "write_buffer_size" in names
    assert not set(fixed) & set(names)
    assert knob_space(spec, older).base["bytes_per_sync"] == 0
    only = spec.model_copy(update={"knobs": "max_background_jobs"})
    with pytest.raises(UserError, match=r"knobs: .*max_background_jobs"):
        knob_space(only, older)
    later = only.model_copy(update={"online": None})
    assert [knob.name for knob in knob_space(later, older).knobs] == ["max_background_jobs"]


def test_direct_reads_belong_to_the_load_and_are_not_searched() -> None:
    spec = make_spec({"workload": "readrandom", "knobs": "use_direct_reads,block_size"}, "here")
    space = knob_space(spec, ground())
    assert [knob.name for knob in space.knobs] == ["block_size"]
    assert space.base["use_direct_reads"] is True
    cached = {"name": "readrandom", "direct_reads": False}
    assert (
        knob_space(make_spec({"workload": cached}, "here"), ground()).base["use_direct_reads"]
        is False
    )


def test_a_cache_that_is_given_scales_with_the_tree() -> None:
    space = knob_space(StudySettings(cache="512MiB", knobs="cache_size", memory="1GiB"), ground())
    assert space.base["cache_size"] == 8 << 20
    assert space.knobs[0].bounds() == (512 << 10, 32 << 20)


def test_the_smallest_cache_that_is_allowed_is_the_smallest_that_a_trial_gets() -> None:
    spec = StudySettings(cache="65536", scale="1", knobs="cache_size", memory="1GiB")
    assert knob_space(spec, ground()).base["cache_size"] == 65536
    assert "MiB" not in refusal({"cache": "64kB"})


def test_the_ranges_reach_around_the_users_own_base() -> None:
    settings: Settings = {**ground().base.settings, "max_bytes_for_level_base": 4 << 30}
    own = Ground(load("rocksdb"), Base(options="", settings=settings), open_files=1024)
    spec = StudySettings(base="OPTIONS", knobs="max_bytes_for_level_base")
    low, high = knob_space(spec, own).knobs[0].bounds()
    assert low <= (4 << 30) / 64 / 4
    assert high >= 4 * (4 << 30) / 64


def test_what_was_not_changed_comes_back_to_the_byte_at_full_size() -> None:
    odd = (256 << 20) + 7
    settings: Settings = {**ground().base.settings, "max_bytes_for_level_base": odd}
    own = Ground(load("rocksdb"), Base(options="", settings=settings), open_files=1024)
    spec = StudySettings(base="OPTIONS", knobs="max_bytes_for_level_base,block_size")
    config = knob_space(spec, own).canonical(
        {"max_bytes_for_level_base": odd // 64, "block_size": 8192}
    )
    full = rescaled(KnobSpaces(spec, own), config, Fraction(1))
    assert full["max_bytes_for_level_base"] == odd
    assert full["block_size"] == 8192


def test_at_the_scale_of_the_study_a_config_is_as_it_ran() -> None:
    """Even if later rules would allow it no more: here, an eighth of the written bytes."""
    own = ground()
    ran = StudySettings(
        workload=Workload(num=10_000_000), knobs="write_buffer_size", memory="16GiB"
    )
    config = knob_space(ran, own).canonical({"write_buffer_size": 16 << 20})
    small = ran.model_copy(update={"workload": Workload(num=1000)})
    assert knob_space(small, own).legalise(config) != config
    found = rescaled(KnobSpaces(small, own), config, small.scale_value)
    assert found["write_buffer_size"] == 16 << 20


def test_sizes_of_a_published_study_grow_and_its_cache_stays() -> None:
    spec = StudySettings(knobs="cache_size,write_buffer_size,max_write_buffer_number")
    small = {"cache_size": 1 << 20, "write_buffer_size": 2 << 20, "max_write_buffer_number": 4}
    config = knob_space(spec, ground()).legalise(small)
    found = rescaled(KnobSpaces(spec, ground()), config, Fraction(1))
    grown = {"cache_size": 1 << 20, "write_buffer_size": 128 << 20, "max_write_buffer_number": 4}
    assert {name: found[name] for name in config} == grown


def test_lookups_are_tuned_family_by_family_and_not_while_they_run() -> None:
    wanted = make_spec({"workload": "lookup"}, "flags")
    assert (wanted.engine, wanted.knobs) == ("myrocks", "families")
    assert wanted.workload.column_families == ("writecf", "defaultcf")
    with pytest.raises(UserError, match=r"online: .*lookup .*tpcc"):
        make_spec({"workload": "lookup", "online": {}}, "flags")


@pytest.mark.parametrize("key", ["rocksdb", "library"])
def test_a_named_rocksdb_runs_on_the_driver(key: str) -> None:
    spec = make_spec({key: OTHER_VALUES[key]}, "here")
    assert spec.program == "lsmdriver"
    again = make_spec(spec.model_dump(mode="json"), "stored")
    assert again == spec
    assert again.identity() == spec.identity()


def test_a_study_without_a_named_rocksdb_keeps_its_identity() -> None:
    assert not {"rocksdb", "library"} & StudySettings().lasting().keys()
    assert make_spec({"rocksdb": None, "library": None}, "stored").identity() == (
        StudySettings().identity()
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rocksdb": "8.10.2", "library": "a.so"}, ["rocksdb", "library"]),
        ({"rocksdb": "8.10.2", "program": "db_bench"}, ["rocksdb", "program"]),
        ({"library": "a.so", "program": "./db_bench"}, ["library", "program"]),
        ({"program": "lsmdriver"}, ["program", "rocksdb or library"]),
        ({"rocksdb": "8.10.2", "engine": "simulated"}, ["rocksdb", "simulated"]),
        ({"library": "a.so", "workload": "tpcc"}, ["library", "myrocks"]),
        ({"rocksdb": "8.10.2", "workload": "mixgraph"}, ["rocksdb", "db_bench", "mixgraph"]),
        (
            {"library": "a.so", "workload": {"name": "trace", "trace": "t"}},
            ["library", "db_bench", "trace"],
        ),
        ({"library": ""}, ["library"]),
        *(
            ({"rocksdb": version}, ["rocksdb", "11.8.1"])
            for version in ("", "8", "8.10", "8.10.2.1.1", "v8.10.2", "8.10.2\n", "٨.1.2")
        ),
    ],
)
def test_what_names_no_rocksdb(given: dict[str, Any], words: list[str]) -> None:
    message = refusal(given)
    assert "\n" not in message
    assert all(word in message for word in words), message
