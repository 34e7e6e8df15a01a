"""The engine tikv on stand-ins of TiKV's status server and of go-ycsb."""

import os
import tempfile
import time
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.fake_go_ycsb import Mode as Ycsb
from fakes.fake_tikv import Mode, change_of
from fakes.rig import Rig
from fakes.tikv_site import FILE, NUM, Site, site
from lsmtune.engines.base import Borrowed, Deployed, Outcome, Places, Rehearses, Watch
from lsmtune.engines.tikv import node, status
from lsmtune.engines.tikv.options import as_told, edited
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.catalogue import load
from lsmtune.rehearsal import Rehearsal
from lsmtune.spec import make_spec
from lsmtune.trials import Protocol, Status, TrialSpec
from lsmtune.workloads import Workload

CATALOGUE = load("tikv")
BLOCK, MEMTABLE = "rocksdb.defaultcf.block-size", "rocksdb.defaultcf.write-buffer-size"
KIB, MIB = 1 << 10, 1 << 20
ROOMY = "16GiB"
LEFT = ["bin", "restart", "tikv.toml", "tikv.toml.lsmtune-lock"]


pytestmark = pytest.mark.usefixtures("own_host")


class HurriedClock:
    """A clock on which each sleep takes a minute."""

    def __init__(self) -> None:
        self._slept_s = 0.0

    def monotonic(self) -> float:
        return self._slept_s

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
        self._slept_s += 60


def be_impatient(patch: pytest.MonkeyPatch, mode: Mode) -> None:
    """Let lsmtune wait only briefly for what does not come in this mode."""
    if mode is Mode.SILENT:
        patch.setattr(status, "_ANSWER_S", 0.5)
    elif mode is Mode.WILL_NOT_START:
        patch.setattr(node, "time", HurriedClock())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Site]:
    with site(tmp_path / "site") as found:
        yield found


def rig(place: Site, load_name: str = "ycsb_a", **changes: Any) -> Rig:
    """A study's engine; `tikv` is what is otherwise in its table."""
    table = changes.pop("tikv", {})
    given = place.study(load_name, memory=ROOMY, **changes)
    given["tikv"] |= table
    return Rig(str(place.program), place.folder.parent / "work", make_spec(given, "here"))


def give_back(rigged: Rig) -> None:
    assert isinstance(rigged.engine, Borrowed)
    rigged.engine.give_back()


def metrics(outcome: Outcome) -> dict[str, float]:
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    return outcome.result.metrics


def test_the_base_is_what_runs(place: Site) -> None:
    found = rig(place)
    assert found.facts.version == "8.5.3"
    assert found.base[BLOCK] == 64 * KIB
    assert found.base["storage.block-cache.capacity"] == 1 << 30
    # TiKV tells null: the default of its code.
    assert found.base["rocksdb.defaultcf.target-file-size-base"] == 8 * MIB
    given = found.ground.base.given or ""
    assert "block-size" in given
    for left_out in ("never-to-be-shown", "data-dir", "labels"):
        assert left_out not in found.ground.base.model_dump_json()
    assert place.tikv.asked == []
    assert place.tikv.starts == 1


def test_a_load_is_measured(place: Site) -> None:
    found = rig(place, "writeheavy")
    phases: list[str] = []
    outcome = found.run(watch=Watch(phases.append))
    told = metrics(outcome)
    assert phases == ["build", "load", "settle", "probe"]
    assert told["load_s"] == 2.5
    assert told["throughput_ops_s"] == NUM // 16 // 4 * 4 / 2.5
    assert told["write_amp"] == pytest.approx(2 + 512 / 128, rel=0.05)  # whole memtables
    assert told["wal_inclusive_write_amp"] == pytest.approx(told["write_amp"] + 1)
    assert told["live_sst_bytes"] == NUM * 800
    assert told["stall_s"] == 0  # what TiKV had counted before is not of this load
    assert told["compaction_cpu_s"] == pytest.approx(2 * told["cpu_s"])
    assert told["write_mean_us"] > 0
    assert told["get_p99_us"] > told["get_mean_us"] > 0
    assert told["scan_p99_us"] > 0
    # What the probe costs inside TiKV would be told only after one more refresh.
    for untold in ("read_amp", "cache_hit_data", "others_cpu_percent", "space_amp"):
        assert untold not in told
    assert outcome.result.measurement is not None
    assert outcome.result.measurement.as_run[BLOCK] == "64KB"
    assert {"load.properties", "load-stdout.txt", "metrics-before.txt", "metrics-after.txt",
            "config.json", "probe-get-stdout.txt"} <= outcome.evidence.keys()  # fmt: skip
    for path in outcome.evidence.values():
        assert "never-to-be-shown" not in path.read_text()


def test_reads_of_a_load_are_measured(place: Site) -> None:
    told = metrics(rig(place).run())
    assert told["cache_hit_data"] == pytest.approx(3 / 3.25)
    assert told["read_amp"] == pytest.approx(0.25)
    for untold in ("cache_hit_index", "bloom_useful"):
        assert untold not in told


def test_a_load_that_flushes_nothing_has_no_write_amplification(place: Site) -> None:
    found = rig(place, "writeheavy")
    enough = metrics(found.run())
    assert enough["flushes"] == pytest.approx(NUM / 16 * 1000 / (128 * MIB), abs=1)
    small = metrics(found.run(workload=Workload(name="writeheavy", num=NUM, operations=100)))
    assert small["flushes"] == 0
    assert not {"write_amp", "wal_inclusive_write_amp"} & small.keys()
    assert small["flush_write_bytes"] == 0


def test_what_tikv_does_not_count_is_no_metric(place: Site) -> None:
    found = rig(place)
    place.tikv.mode = Mode.FEW_METRICS
    told = metrics(found.run())
    assert {"throughput_ops_s", "get_p99_us", "write_p99_us"} <= told.keys()
    assert not {"write_amp", "live_sst_bytes", "stall_s", "cpu_s", "cache_hit_data"} & told.keys()


# --- options


def test_what_needs_a_restart_goes_by_the_file_and_only_that_changes(place: Site) -> None:
    found = rig(place)
    outcome = found.run(found.base | {BLOCK: 4 * KIB, MEMTABLE: 256 * MIB})
    assert outcome.result.status is Status.COMPLETE
    written = place.config.read_text()
    assert written.startswith(FILE[: FILE.index("block-size")])
    assert 'block-size = "4KiB" # as ever' in written
    assert 'write-buffer-size = "256MiB"' in written
    assert 'path = "never-to-be-shown"' in written
    assert place.tikv.starts == 2
    assert place.tikv.asked == []
    assert outcome.result.measurement is not None
    assert outcome.result.measurement.as_run[MEMTABLE] == "256MiB"


def test_what_can_go_online_does_and_no_file_is_touched(place: Site) -> None:
    found = rig(place)
    metrics(found.run(found.base | {MEMTABLE: 256 * MIB, "rocksdb.max-background-jobs": 4}))
    [asked] = place.tikv.asked
    assert asked.startswith("/config?persist=false ")
    assert '"rocksdb.defaultcf.write-buffer-size": "256MiB"' in asked
    assert '"rocksdb.max-background-jobs": 4' in asked
    assert place.tikv.starts == 1
    assert place.config.read_text() == FILE


def test_a_trial_is_brought_from_what_runs_not_from_the_base(place: Site) -> None:
    found = rig(place)
    for settings in ({BLOCK: 4 * KIB}, {BLOCK: 4 * KIB, MEMTABLE: 96 * MIB}, {}):
        outcome = found.run(found.base | settings)
        assert metrics(outcome)
    # By the file, then online, then by the file again.
    assert (place.tikv.starts, len(place.tikv.asked)) == (3, 1)
    assert place.tikv.value(BLOCK) == "64KB"


@pytest.mark.parametrize("settings", [{BLOCK: 4 * KIB}, {MEMTABLE: 256 * MIB}, {}])
def test_tikv_is_left_as_it_was_found(place: Site, settings: dict[str, int]) -> None:
    found = rig(place)
    inode = place.config.stat().st_ino
    found.run(found.base | settings)
    give_back(found)
    assert place.config.read_text() == FILE
    assert place.config.stat().st_ino == inode
    assert sorted(p.name for p in place.folder.iterdir()) == LEFT
    assert place.tikv.value(BLOCK) == "64KB"
    assert place.tikv.value(MEMTABLE) == "128MiB"
    give_back(found)  # once is enough


def rehearsed(rigged: Rig, changes: dict[str, int]) -> Rehearsal:
    """Rehearse the user's file with these values."""
    catalogue = rigged.ground.catalogue

    def text(names: Collection[str]) -> str:
        return edited(FILE, {n: as_told(catalogue.knob(n), changes[n]) for n in names})

    files = Deployed(
        exported=text(changes), undo=FILE, changed=tuple(changes), only=text, family=""
    )
    spec = TrialSpec(
        settings=rigged.base, base_settings=rigged.base, workload=rigged.spec.workload,
        protocol=Protocol(), seed=1,
    )  # fmt: skip
    assert isinstance(rigged.engine, Rehearses)
    places = Places(rigged.folder, rigged.folder / "templates")
    watch = Watch(lambda phase: None)
    return rigged.engine.rehearse(spec, rigged.ground.base, files, places, watch)


@pytest.mark.parametrize("settings", [{BLOCK: 4 * KIB}, {MEMTABLE: 256 * MIB}])
def test_rehearse_brings_both_values_into_force(place: Site, settings: dict[str, int]) -> None:
    found = rig(place)
    told = rehearsed(found, settings)
    assert told.passed, told
    assert (told.version, told.reader, told.records) == ("8.5.3", "lsmtune", 0)
    assert "read back" in told.remarks[0]
    assert place.tikv.starts == (3 if BLOCK in settings else 1)
    assert place.tikv.value(BLOCK) == "64KB"
    assert place.tikv.value(MEMTABLE) == "128MiB"
    give_back(found)
    assert place.config.read_text() == FILE


@pytest.mark.parametrize("mode", [Mode.REFUSES, Mode.IGNORES])
def test_rehearse_a_refused_value_names_the_option(place: Site, mode: Mode) -> None:
    found = rig(place)
    place.tikv.mode = mode
    told = rehearsed(found, {MEMTABLE: 256 * MIB})
    assert (told.failed, told.step, told.options) == ("exported", "options", (MEMTABLE,))
    give_back(found)


def kill(rigged: Rig) -> None:
    """As the kernel does: locks are open again, nothing is given back."""
    rigged.engine._node._held.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("settings", [{BLOCK: 4 * KIB}, {MEMTABLE: 256 * MIB}])
def test_what_a_killed_lsmtune_has_left_is_mended_first(
    place: Site, settings: dict[str, int]
) -> None:
    found = rig(place)
    found.run(found.base | settings)
    kill(found)
    again = rig(place)
    assert again.base == found.base
    assert place.config.read_text() == FILE
    assert place.tikv.value(BLOCK) == "64KB"
    assert place.tikv.value(MEMTABLE) == "128MiB"
    give_back(again)
    # The marker is gone: what the user changes now is his.
    place.tikv.change({MEMTABLE: "64MiB"})
    assert rig(place).base[MEMTABLE] == 64 * MIB


def test_a_restart_that_failed_is_remembered(place: Site) -> None:
    found = rig(place)
    found.run(found.base | {BLOCK: 4 * KIB})
    place.tikv.mode = Mode.FAILS_TO_RESTART
    with pytest.raises(LsmtuneError, match=r"code 3: Job for tikv.service"):
        give_back(found)
    with pytest.raises(UserError, match=r"delete .*\.json"):
        rig(place)
    place.tikv.mode = Mode.WORKS
    assert rig(place).base == found.base
    assert place.tikv.value(BLOCK) == "64KB"


def test_an_edit_during_a_study_is_kept_and_told(place: Site) -> None:
    found = rig(place)
    found.run(found.base | {BLOCK: 4 * KIB})
    place.config.write_text("[log]\nlevel = 'warn'\n")
    with pytest.raises(UserError, match=r"tikv\.toml\.lsmtune-found"):
        give_back(found)
    assert place.config.read_text() == FILE
    assert place.tikv.value(BLOCK) == "64KB"
    assert place.config.with_name("tikv.toml.lsmtune-found").read_text().startswith("[log]")
    assert rig(place).base == found.base


def test_what_tikv_persists_is_no_edit(place: Site) -> None:
    found = rig(place)
    place.tikv.mode = Mode.PERSISTS
    for settings in ({BLOCK: 4 * KIB}, {BLOCK: 4 * KIB, MEMTABLE: 96 * MIB}):
        metrics(found.run(found.base | settings))
    assert "persisted" in place.config.read_text()
    give_back(found)
    assert place.config.read_text() == FILE


def test_one_tikv_by_two_names_is_one(place: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    found = rig(place)
    found.run()
    with pytest.raises(UserError, match=f"^TiKV at .*process {os.getpid()}"):
        rig(place, tikv={"status": f"localhost:{place.port}", "config": None, "restart": []},
            knobs="online")  # fmt: skip
    monkeypatch.setattr(tempfile, "tempdir", str(place.folder))
    with pytest.raises(UserError, match=f"^TiKV at .*process {os.getpid()}"):
        rig(place)


def test_two_lsmtunes_do_not_tune_one_tikv(place: Site) -> None:
    found = rig(place)
    found.run()
    with pytest.raises(UserError, match=f"^TiKV at .*process {os.getpid()}"):
        rig(place)
    give_back(found)
    rig(place)


def test_the_users_other_base_is_started_before_it_is_measured(place: Site, tmp_path: Path) -> None:
    base = tmp_path / "base.toml"
    base.write_text(
        '[server]\nlabels = {}\n[storage]\ndata-dir = "/other"\n[raftstore]\nsync-log = false\n'
        '[rocksdb.defaultcf]\nblock-size = "16KB"\nprop-size-index-distance = 77\n'
        '[rocksdb.writecf]\nwrite-buffer-size = "256MB"\n'
    )
    found = rig(place, base=str(base))
    assert found.base[BLOCK] == 16 * KIB
    assert found.base["rocksdb.writecf.write-buffer-size"] == 256 * MIB
    assert place.tikv.starts == 1  # not until a trial runs
    metrics(found.run())
    written = place.config.read_text()
    assert 'data-dir = "/data/tikv"   # big disk' in written
    assert "sync-log" not in written
    assert 'path = "never-to-be-shown"' in written
    assert place.tikv.value("rocksdb.defaultcf.prop-size-index-distance") == 77
    assert place.tikv.starts == 2
    give_back(found)
    assert place.config.read_text() == FILE


def test_without_a_restart_only_online_knobs_are_tuned(place: Site) -> None:
    told = {"config": None, "restart": []}
    with pytest.raises(UserError, match=r"^here: knobs: .*block-size .*config and restart"):
        rig(place, tikv=told)
    found = rig(place, tikv=told, knobs="online")
    metrics(found.run(found.base | {MEMTABLE: 256 * MIB}))
    with pytest.raises(UserError, match=r"^tikv:.*restart.*\[tikv\]"):
        found.run(found.base | {BLOCK: 4 * KIB})
    give_back(found)
    assert place.tikv.value(MEMTABLE) == "128MiB"


def test_a_base_that_tikv_cannot_be_started_with_is_remarked_on(
    place: Site, tmp_path: Path
) -> None:
    base = tmp_path / "base.toml"
    base.write_text('[rocksdb.defaultcf]\nblock-size = "16KB"\n')
    found = rig(place, tikv={"config": None, "restart": []}, knobs="online", base=str(base))
    assert found.base[BLOCK] == 64 * KIB
    (note,) = (note for note in found.ground.base.notes if note.startswith(f"{BLOCK}:"))
    assert "65536" in note
    assert "16384" in note


def test_the_catalogue_knows_what_tikvs_source_marks_as_online() -> None:
    differing = {k.name: k.apply for k in CATALOGUE.knobs if k.apply != change_of(k.name)}
    assert not differing


# --- failures of TiKV


ONLINE, BY_FILE = {MEMTABLE: 256 * MIB}, {BLOCK: 4 * KIB}


@pytest.mark.parametrize(
    ("mode", "settings", "ended", "words"),
    [
        (Mode.REFUSES, ONLINE, Status.REFUSED, "unacceptable"),
        (Mode.IGNORES, ONLINE, Status.MISMATCH, "write-buffer-size is 128MiB"),
        (Mode.SILENT, ONLINE, Status.TIMED_OUT, "127.0.0.1"),
        (Mode.STARTS_WITH_ITS_OWN, BY_FILE, Status.MISMATCH, "is 64KB"),
        (Mode.WILL_NOT_START, BY_FILE, Status.TIMED_OUT, "within 60 s"),
        (Mode.FAILS_TO_RESTART, BY_FILE, Status.REFUSED, "tikv.service failed"),
        (Mode.DIES_LOADING, {}, Status.CRASHED, "TiKV ended"),
        (Mode.RESTARTS_LOADING, {}, Status.CRASHED, "restarted"),
        (Mode.GARBAGE, {}, Status.UNREADABLE, "JSON"),
        (Mode.GARBLED_METRICS, {}, Status.UNREADABLE, "Prometheus"),
        (Mode.LOSES_RECORDS, {}, Status.CRASHED, "records"),
    ],
)
def test_each_failure_has_its_status(
    place: Site, mode: Mode, settings: dict[str, int], ended: Status, words: str
) -> None:
    found = rig(place, "ycsb_c")
    found.run()
    place.tikv.mode = mode
    with pytest.MonkeyPatch.context() as patch:
        be_impatient(patch, mode)
        result = found.run(found.base | settings).result
    assert (result.status, words in str(result.reason)) == (ended, True), result.reason
    place.tikv.mode = Mode.WORKS
    assert metrics(found.run())  # the next trial is not concerned
    give_back(found)
    assert place.config.read_text() == FILE
    assert place.tikv.value(BLOCK) == "64KB"


def test_a_change_that_could_not_be_persisted_is_one(place: Site) -> None:
    found = rig(place)
    place.tikv.mode = Mode.CANNOT_PERSIST
    metrics(found.run(found.base | ONLINE))
    assert place.tikv.value(MEMTABLE) == "256MiB"


def test_a_tikv_that_cannot_be_left_as_found_is_told(place: Site) -> None:
    found = rig(place)
    found.run(found.base | BY_FILE)
    place.tikv.mode = Mode.FAILS_TO_RESTART
    with pytest.raises(LsmtuneError, match=r"^TiKV: .*restart.*code 3"):
        give_back(found)
    assert place.config.read_text() == FILE  # the file is the user's again all the same


def test_a_tikv_that_is_gone_ends_the_study_not_the_trial(place: Site) -> None:
    found = rig(place, tikv={"config": None, "restart": [], "start_s": 0.2}, knobs="online")
    metrics(found.run(found.base | ONLINE))
    place.tikv.mode = Mode.DIES_LOADING
    with pytest.raises(LsmtuneError, match=r"^TiKV at .*key restart in the table \[tikv\]"):
        found.run()
    place.tikv.mode = Mode.WORKS
    place.tikv.start()
    metrics(found.run())


def test_a_tikv_that_is_not_there_is_told(place: Site) -> None:
    with pytest.raises(UserError, match=r"^tikv: .*127\.0\.0\.1:1"):
        rig(place, tikv={"status": "127.0.0.1:1"})


@pytest.mark.parametrize(
    ("table", "words"),
    [({"restart": ["nosuch"]}, "^tikv.restart: .*nosuch"),
     ({"prepare": ["nosuch"]}, "^tikv.prepare: .*nosuch"),
     ({"config": "nosuch.toml"}, "nosuch.toml")],
)  # fmt: skip
def test_what_the_user_told_wrongly_is_told_before_anything_runs(
    place: Site, table: dict[str, Any], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        rig(place, tikv=table)
    assert place.tikv.starts == 1


def test_go_ycsb_must_be_there(place: Site) -> None:
    with pytest.raises(UserError, match=r"^program: .*nosuch"):
        Rig("nosuch", place.folder.parent / "work", make_spec(place.study(), "here"))


# --- failures of go-ycsb


@pytest.mark.parametrize(
    ("mode", "ended", "words"),
    [
        (Ycsb.SAYS_ERRORS, Status.CRASHED, "rpc error"),
        (Ycsb.COUNTS_ERRORS, Status.CRASHED, "3 READ"),
        (Ycsb.GARBAGE, Status.UNREADABLE, "number"),
        (Ycsb.NO_END, Status.UNREADABLE, "Run finished"),
        (Ycsb.DIES, Status.CRASHED, "SIGKILL"),
        (Ycsb.FAILS, Status.CRASHED, "cluster id"),
        (Ycsb.DOES_LESS, Status.UNREADABLE, "operations"),
        (Ycsb.HANGS, Status.TIMED_OUT, "1 s"),
    ],
)
def test_a_load_that_fails_is_a_failed_trial(
    place: Site, mode: Ycsb, ended: Status, words: str
) -> None:
    found = rig(place)
    place.ycsb(mode)
    result = found.run(wall_limit_s=1 if mode is Ycsb.HANGS else 60).result
    assert (result.status, words in str(result.reason)) == (ended, True), result.reason


@pytest.mark.parametrize("load_name", ["ycsb_a", "ycsb_f"])
def test_write_conflicts_of_transactions_are_counted(place: Site, load_name: str) -> None:
    """Of both loads, half of the operations change a record."""
    found = rig(place, load_name, tikv={"api": "txn"})
    assert metrics(found.run())["failed_percent"] == 0
    place.tikv.conflicts = 0.25
    told = metrics(found.run())
    assert told["failed_percent"] == pytest.approx(12.5)
    assert told["throughput_ops_s"] == pytest.approx(NUM * 0.875 / 2.5)


@pytest.mark.parametrize(
    ("table", "failing", "ended"),
    [
        ({"max_failed_percent": 20}, 0.25, Status.COMPLETE),
        ({"max_failed_percent": 10}, 0.25, Status.CRASHED),
        ({}, 1.0, Status.COMPLETE),  # half of all: so many may fail by default
    ],
)
def test_too_many_conflicts_fail_a_trial(
    place: Site, table: dict[str, Any], failing: float, ended: Status
) -> None:
    place.tikv.conflicts = failing
    result = rig(place, tikv={"api": "txn", **table}).run().result
    assert result.status is ended
    assert (result.reason is None) == (ended is Status.COMPLETE)
    assert ended is Status.COMPLETE or "max_failed_percent" in str(result.reason)


def test_a_load_of_which_most_fails_has_failed(place: Site) -> None:
    place.tikv.conflicts = 0.6
    found = rig(place, "writeheavy", tikv={"api": "txn"})
    assert found.run().result.status is Status.CRASHED


def test_raw_operations_do_not_fail(place: Site) -> None:
    with pytest.raises(UserError, match=r"max_failed_percent"):
        rig(place, tikv={"max_failed_percent": 5})
    assert "failed_percent" not in metrics(rig(place).run())


def test_the_other_output_style_is_read_as_well(place: Site) -> None:
    found = rig(place)
    place.ycsb(Ycsb.JSON)
    assert metrics(found.run())["get_p99_us"] > 0


# --- debt


def test_compactions_that_were_put_off_are_this_trials(place: Site) -> None:
    idle = "rocksdb.defaultcf.disable-auto-compactions"
    found = rig(place, "writeheavy")
    there = metrics(found.run())
    outcome = found.run(found.base | {idle: True})
    told = metrics(outcome)
    assert told["write_amp"] == pytest.approx(there["write_amp"])
    assert place.tikv.owed == 0
    assert place.tikv.value(idle) is True
    assert outcome.result.measurement is not None
    assert outcome.result.measurement.as_run[idle] == "true"
    give_back(found)
    assert place.tikv.value(idle) is False


# --- records


def test_raw_records_do_not_go_among_those_of_transactions(place: Site) -> None:
    place.tikv.written_keys = 5_000
    with pytest.raises(UserError, match=r"^tikv\.api: .*txn"):
        rig(place).run()
    assert loads(place) == 0


def test_transactions_go_among_transactions(place: Site) -> None:
    place.tikv.written_keys = 5_000
    metrics(rig(place, tikv={"api": "txn"}).run())
    assert loads(place) == 1


def loads(place: Site) -> int:
    return sum(run["command"] == "load" for run in place.runs())


def test_records_are_loaded_again_only_where_files_would_be_others(place: Site) -> None:
    found = rig(place)
    metrics(found.run())
    assert loads(place) == 1
    cache = found.base | {"storage.block-cache.capacity": 512 * MIB}
    assert "build_s" not in metrics(found.run(cache))
    assert loads(place) == 1
    assert "build_s" in metrics(found.run(found.base | BY_FILE))
    metrics(found.run(found.base | BY_FILE))
    assert loads(place) == 2
    metrics(found.run())
    assert loads(place) == 3


def test_records_that_are_gone_are_loaded_again(place: Site) -> None:
    found = rig(place)
    found.run()
    place.tikv.keys = 0
    found.run()
    assert loads(place) == 2


def test_who_prepares_the_data_himself_has_records_loaded_once(place: Site, tmp_path: Path) -> None:
    script = tmp_path / "prepare"
    script.write_text(f"#!/bin/sh\necho prepared >> {tmp_path}/told\n")
    script.chmod(0o755)
    found = rig(place, tikv={"prepare": [str(script)]})
    for settings in ({}, BY_FILE, {}):
        metrics(found.run(found.base | settings))
    assert loads(place) == 1
    assert (tmp_path / "told").read_text() == "prepared\n" * 3
    script.write_text("#!/bin/sh\necho 'no space' >&2; exit 4\n")
    result = found.run().result
    assert result.status is Status.CRASHED
    assert "code 4: no space" in str(result.reason)


def test_a_load_that_was_cut_is_begun_anew(place: Site) -> None:
    found = rig(place)
    place.tikv.mode = Mode.DIES_LOADING
    found.run()
    place.tikv.mode = Mode.WORKS
    assert found.run().result.status is Status.COMPLETE
