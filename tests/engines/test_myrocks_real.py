"""The engine on real private servers: what comes out is consistent, and nothing stays behind."""

import shutil
import signal
import threading
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from engines.measured_names import MYROCKS
from fakes.asks import Asks
from fakes.patience import PATIENCE_S, eventually
from fakes.records import check_records
from fakes.rig import Rig
from lsmtune.engines.base import (
    Deployed,
    Live,
    Outcome,
    Places,
    Rehearses,
    TrialFailedError,
    Watch,
    Window,
)
from lsmtune.engines.myrocks import loads
from lsmtune.engines.myrocks.engine import MyRocks
from lsmtune.engines.myrocks.loads import read_check, sysbench_argv
from lsmtune.engines.myrocks.options import as_my_cnf
from lsmtune.engines.myrocks.server import DATABASE, ServerFiles, install, run_client, running
from lsmtune.errors import UserError
from lsmtune.knobs.space import KnobSpace
from lsmtune.knobs.types import Settings
from lsmtune.rehearsal import Rehearsal
from lsmtune.spec import StudySettings
from lsmtune.study.online import OnlineTuner, Plan
from lsmtune.trials import Judgement, Protocol, Status, TrialSpec
from lsmtune.units import MIB
from lsmtune.workloads import Workload
from lsmtune.workloads.sql import Tpcc

HERE = all(shutil.which(name) for name in ("mariadbd", "mariadb-install-db", "sysbench"))
pytestmark = [
    pytest.mark.skipif(not HERE, reason="MyRocks is not installed: make myrocks"),
    pytest.mark.slow,
]
SMALL = Workload(name="oltp_write_only", tables=1, num=2000, threads=4, operations=200)
RECORDS = Workload(num=5000, value_size=100, compression_ratio=0.3, operations=4000, threads=2)
TPCC = Workload(name="tpcc", warehouses=1, threads=4, operations=100)
COMMITS = "SHOW GLOBAL STATUS LIKE 'Com_commit'"


def servers_in(folder: Path) -> list[psutil.Process]:
    """The servers that run on data below a folder."""
    found = []
    for process in psutil.process_iter(["name", "cmdline"]):
        if str(folder) in " ".join(process.info["cmdline"] or []):
            found.append(process)
    return found


def templates(rig: Rig) -> set[Path]:
    return set((rig.folder / "templates").iterdir())


@pytest.fixture(scope="module")
def rig(on_disk: Path) -> Rig:
    folder = on_disk / "myrocks"
    folder.mkdir()
    return Rig("mariadbd", folder, StudySettings(workload=SMALL))


@pytest.fixture(scope="module")
def few_items(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """TPC-C has a tenth of its items, which are a third of its rows and most of its bytes."""
    folder = tmp_path_factory.mktemp("scripts")
    for script in Path(loads.__file__).parent.glob("*.lua"):
        shutil.copy(script, folder)
    population = folder / "tpcc_load.lua"
    whole = population.read_text()
    assert "local ITEMS = 100000\n" in whole
    population.write_text(whole.replace("local ITEMS = 100000\n", "local ITEMS = 10000\n"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tpcc, "script", str(folder / "tpcc.lua"))
        yield


@pytest.fixture(scope="module")
def tpcc(on_disk: Path, few_items: None) -> Rig:
    load = TPCC.model_copy(update={"families": True})
    folder = on_disk / "tpcc"
    folder.mkdir()
    return Rig("mariadbd", folder, StudySettings(workload=load))


@pytest.fixture(scope="module")
def first(rig: Rig) -> tuple[Outcome, dict[str, float]]:
    """The first trial, which builds the database of the others, and when its phases began."""
    begun: dict[str, float] = {}
    outcome = rig.run(watch=Watch(lambda phase: begun.update({phase: time.monotonic()})))
    return outcome, begun | {"end": time.monotonic()}


@pytest.fixture(scope="module")
def first_tpcc(tpcc: Rig) -> Outcome:
    """The only trial of TPC-C, with settings of several families."""
    return tpcc.run(
        tpcc.base
        | {
            "cf_orders.bloom_bits": 10, "cf_stock.block_size": 16384, "default.block_size": 8192,
            "cf_order_line.write_buffer_size": 2 << 20,
        }
    )  # fmt: skip


def test_a_trial_measures_what_happened(rig: Rig, first: tuple[Outcome, dict[str, float]]) -> None:
    outcome, begun = first
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    measurement = outcome.result.measurement
    assert measurement is not None
    m = measurement.metrics
    assert list(begun)[-3:] == ["load", "settle", "end"]
    assert m["total_s"] == pytest.approx(m["load_s"] + m["settle_s"])
    # Neither the checking nor the end of the server are the load's.
    assert m["settle_s"] < begun["end"] - begun["settle"]
    assert m["throughput_ops_s"] == pytest.approx(800 / m["load_s"], rel=0.02)
    written = m["flush_write_bytes"] + m["compact_write_bytes"]
    assert written > 0
    in_log = sum(level.write_bytes or 0 for level in measurement.levels)
    assert in_log == pytest.approx(written, rel=0.05)
    in_levels = sum(level.size_bytes for level in measurement.levels)
    assert in_levels == pytest.approx(m["live_sst_bytes"], rel=0.05)
    assert m["peak_space_bytes"] >= m["live_sst_bytes"]
    assert measurement.engine_version == "6.29.5"
    assert measurement.as_run["use_direct_reads"] == "ON"
    assert {"my.cnf", "LOG", "OPTIONS", "status.txt", "load-stdout.txt"} <= set(outcome.evidence)
    assert servers_in(rig.folder) == []


def test_the_same_seed_writes_the_same(rig: Rig, first: tuple[Outcome, dict[str, float]]) -> None:
    by_user, amplified = [], []
    for outcome in (first[0], rig.run()):
        m = outcome.result.metrics
        amplified.append(m["write_amp"])
        by_user.append((m["flush_write_bytes"] + m["compact_write_bytes"]) / m["write_amp"])
    assert by_user[0] == pytest.approx(by_user[1], rel=0.01)
    # Which versions of a record a flush still finds depends on when it happens.
    assert amplified[0] == pytest.approx(amplified[1], rel=0.5)


@pytest.mark.usefixtures("first")
def test_universal_compaction_starts_from_a_tree_of_its_own(rig: Rig) -> None:
    of_level = templates(rig)
    outcome = rig.run(rig.base | {"default.compaction_style": 1})
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    assert len(templates(rig) - of_level) == 1
    assert rig.run(rig.base | {"default.block_size": 8192}).result.status is Status.COMPLETE
    assert len(templates(rig) - of_level) == 1


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"mmap_read": True}, "direct"),
        ({"default.compression_type": "bzip2"}, "not"),
    ],
)
def test_what_the_server_refuses_is_told_in_its_own_words(
    rig: Rig, changes: Settings, word: str
) -> None:
    outcome = rig.run(rig.base | changes)
    assert outcome.result.status is Status.REFUSED
    assert word in str(outcome.result.reason).lower()
    assert servers_in(rig.folder) == []


def test_each_family_runs_what_it_was_given_and_the_tables_are_consistent(
    first_tpcc: Outcome,
) -> None:
    assert first_tpcc.result.status is Status.COMPLETE, first_tpcc.result.reason
    measurement = first_tpcc.result.measurement
    assert measurement is not None
    assert measurement.as_run["cf_stock.block_size"] == "16384"
    assert measurement.as_run["cf_order_line.write_buffer_size"] == str(2 << 20)
    assert measurement.as_run["default.block_size"] == "8192"
    assert measurement.metrics["tpmc"] > 0
    assert "check-stdout.txt" in first_tpcc.evidence


@pytest.mark.usefixtures("first_tpcc")
def test_a_server_that_is_killed_is_a_crash_and_the_data_stay_consistent(tpcc: Rig) -> None:
    folder = tpcc.folder / "killed"
    folder.mkdir()
    template = next(iter(templates(tpcc)))
    shutil.copytree(template / "db", folder / "data")
    files = ServerFiles(folder)
    load = tpcc.spec.workload.model_copy(update={"operations": 10_000})
    with pytest.raises(TrialFailedError, match=r"SIGKILL|failed|refused"):
        _run_and_kill(files, load)
    # A kill can cut the last record of the WAL, and the default mode then opens no database.
    recovery = {"rocksdb_wal_recovery_mode": "2"}
    with running("mariadbd", files, recovery) as server:
        argv = sysbench_argv(load, server.socket, "check", 3)
        _, printed = run_client(argv, files, "check", PATIENCE_S)
        assert read_check(printed) == {1: 0, 2: 0, 3: 0, 4: 0}
    assert servers_in(folder) == []


def _run_and_kill(files: ServerFiles, load: Workload) -> None:
    with running("mariadbd", files, {}) as server:

        def kill() -> None:
            assert eventually(lambda: server.query(COMMITS)[0][1] != "0")
            server.process.kill()

        threading.Thread(target=kill).start()
        run_client(sysbench_argv(load, server.socket, "run", 3), files, "load", PATIENCE_S)


def test_a_trial_whose_server_dies_is_a_failed_one(rig: Rig) -> None:
    load = SMALL.model_copy(update={"operations": 100_000})

    def kill() -> None:
        for process in servers_in(rig.folder):
            process.send_signal(signal.SIGKILL)

    def phase(name: str) -> None:
        if name == "load":
            threading.Timer(0.5, kill).start()

    outcome = rig.run(workload=load, watch=Watch(phase))
    assert outcome.result.status is Status.CRASHED
    assert servers_in(rig.folder) == []


def test_a_load_that_takes_too_long_is_ended(rig: Rig) -> None:
    load = SMALL.model_copy(update={"operations": 1_000_000})
    outcome = rig.run(workload=load, wall_limit_s=1)
    assert outcome.result.status is Status.TIMED_OUT
    assert servers_in(rig.folder) == []


def test_random_writes_of_db_bench_run_as_sql(rig: Rig) -> None:
    """And write the records that the functions of records.lua say."""
    phases: list[str] = []
    outcome = rig.run(workload=RECORDS, watch=Watch(phases.append), seed=11)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason
    m = outcome.result.metrics
    assert phases == ["build", "load", "settle", "probe"]
    assert m["throughput_ops_s"] == pytest.approx(8000 / m["load_s"], rel=0.02)
    assert m["write_amp"] > 0
    assert m["disk_write_amp"] * 8000 * RECORDS.record_bytes == pytest.approx(m["disk_write_bytes"])
    rate = m["throughput_ops_s"] * RECORDS.record_bytes / MIB
    assert m["rate_mb_s"] == pytest.approx(rate, rel=0.02)
    assert m.keys() >= MYROCKS
    for prefix in ("write", "get", "get_missing", "scan"):
        assert 0 < m[f"{prefix}_p50_us"] <= m[f"{prefix}_p99_us"]
    assert servers_in(rig.folder) == []
    with running("mariadbd", ServerFiles(rig.folder / f"run{rig.runs}"), {}) as server:
        rows = server.query("SELECT k, v FROM lsmtune.records")
    check_records({_text(key): _text(value) for key, value in rows}, RECORDS, 11)


def test_lookups_ask_the_keys_before_the_values(tmp_path: Path) -> None:
    load = Workload(name="lookup", num=3900, operations=2000, value_size=500, skew=8)
    own = Rig("mariadbd", tmp_path, StudySettings(workload=load, knobs="autotikv"))
    left = own.space.settings({**own.space.default(), "defaultcf.disable_auto_compactions": True})
    outcome = own.run(left, seed=3)
    measurement = outcome.result.measurement
    assert measurement is not None, outcome.result.reason
    m = measurement.metrics
    assert 0.3 < m["get_found"] < 0.7
    assert m["throughput_ops_s"] == pytest.approx(2000 / m["load_s"])
    assert 0 < m["get_p50_us"] <= m["get_p99_us"]
    # Both are of one client, but a busy machine also takes time between its lookups.
    assert 0.05 < m["get_mean_us"] * m["throughput_ops_s"] / 1e6 < 1.2
    assert m["write_amp"] > 0.5  # of the building, with what was left
    assert m["total_s"] == m["load_s"]
    assert measurement.as_run["defaultcf.disable_auto_compactions"] == "true"
    assert measurement.as_run["writecf.disable_auto_compactions"] == "false"
    with running("mariadbd", ServerFiles(tmp_path / "run1"), {}) as server:
        [(keys,)] = server.query("SELECT COUNT(*) FROM lsmtune.writes")
        [(values,)] = server.query("SELECT COUNT(*) FROM lsmtune.records")
    assert keys == values
    assert 1800 < int(str(keys)) < 2200
    phases: list[str] = []
    other = load.model_copy(update={"operations": 1000, "threads": 2})
    assert own.run(left, other, Watch(phases.append)).result.status is Status.COMPLETE
    assert phases == ["load", "settle"]  # on the database that is there
    assert servers_in(tmp_path) == []


def _text(cell: object) -> str:
    assert isinstance(cell, bytes)
    return cell.decode()


def test_a_server_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^program /bin/false"):
        Rig("/bin/false", tmp_path, StudySettings(workload=SMALL))


def test_two_servers_do_not_meet(tmp_path: Path) -> None:
    """Each has a folder and a socket of its own, and none listens on a port."""
    both = [ServerFiles(tmp_path / name) for name in ("one", "two")]
    for files in both:
        files.workdir.mkdir()
        install(files)
    with running("mariadbd", both[0], {}) as one, running("mariadbd", both[1], {}) as two:
        one.query(f"CREATE DATABASE {DATABASE}")
        assert (DATABASE,) in one.query("SHOW DATABASES")
        assert (DATABASE,) not in two.query("SHOW DATABASES")
        for server in (one, two):
            assert psutil.Process(server.process.pid).net_connections("inet") == []


@contextmanager
def served(rig: Rig, name: str) -> Iterator[Live]:
    load = Workload(name="oltp_read_write", tables=1, num=2000)
    spec = TrialSpec(
        settings=rig.base, base_settings=rig.base, workload=load, protocol=Protocol(), seed=1
    )
    folder = rig.folder / name
    folder.mkdir()
    places = Places(folder, rig.folder / "templates")
    watch = Watch(lambda phase: None)
    with MyRocks("mariadbd").serve(spec, rig.ground.base, places, watch) as live:
        assert eventually(lambda: has_begun(live))
        yield live


def has_begun(live: Live) -> bool:
    """Whether the load commits transactions; it needs some time to start."""
    try:
        live.window(0.1)
    except TrialFailedError as failure:
        if failure.status is not Status.TIMED_OUT:
            raise
        return False
    return True


def long_enough(live: Live) -> Window:
    """A window of about 100 transactions; those that only partly run in it then hardly count."""
    for seconds in (1, 2, 4, 8, 16):
        window = live.window(seconds)
        if window.metrics["throughput_ops_s"] * seconds > 100:
            break
    return window


def test_a_running_server_is_changed_watched_and_changed_back(rig: Rig) -> None:
    with served(rig, "live") as live:
        before = long_enough(live)
        assert before.metrics["throughput_ops_s"] > 0
        # Each transaction of sysbench selects ten single rows, and writes some.
        assert 10 / 4 < before.traits["keys read per transaction"] < 4 * 10
        assert before.traits["bytes written per transaction"] > 0
        changed = rig.base | {
            "default.write_buffer_size": 256 << 10, "cache_size": 1 << 20,
            "default.compression_type": "zlib", "default.level0_file_num_compaction_trigger": 2,
        }  # fmt: skip
        live.change(changed)
        after = long_enough(live)
        for trait, value in before.traits.items():
            # Transactions and bytes are not counted at the same moment.
            assert value / 4 < after.traits[trait] < 4 * value
        live.change(rig.base)
        # What a server takes without doing it is found out.
        with pytest.raises(TrialFailedError, match=r"compaction_style is .* 1"):
            live.change(rig.base | {"default.compaction_style": 1})
    assert servers_in(rig.folder) == []


def test_a_running_server_that_dies_is_told(rig: Rig) -> None:
    with pytest.raises(TrialFailedError, match=r"SIGKILL|connect"):
        _serve_and_kill(rig)
    assert servers_in(rig.folder) == []


def _serve_and_kill(rig: Rig) -> None:
    with served(rig, "dead") as live:
        for process in servers_in(rig.folder / "dead"):
            process.send_signal(signal.SIGKILL)
        assert eventually(lambda: servers_in(rig.folder / "dead") == [])
        live.window(5.0)


def test_a_planted_harmful_change_to_a_real_server_is_taken_back(rig: Rig) -> None:
    # The table is larger than this cache, so each window has misses: their number is never 0.
    base = rig.base | {"cache_size": 512 << 10}
    space = KnobSpace(
        (rig.ground.catalogue.knob("cache_size"), rig.ground.catalogue.knob("delayed_write_rate")),
        base, rig.ground.open_files, rig.space.memory,
    )  # fmt: skip
    harmful = space.canonical({**space.default(), "cache_size": 64 << 10})
    with served(rig, "guarded") as live:
        live.change(base)
        tuner = OnlineTuner(live, space, Asks([harmful]), Plan("read_amp", 0.5, 3, 1, 1))
        [step] = tuner.steps()
        # Where other work makes the windows differ, the loss may not be shown, or the load may
        # seem to be another one, but no gain is shown.
        assert step.judgement not in (Judgement.KEPT, Judgement.REFUSED), step
        assert tuner.current == space.default()


def rehearsed(
    rig: Rig, changes: dict[str, str], head: str = "", *, new_store: bool = False
) -> Rehearsal:
    """Rehearse a my.cnf with these variables of RocksDB, by their names without prefix."""
    name = f"rehearsal{len(list(rig.folder.glob('rehearsal*')))}"
    spec = TrialSpec(
        settings=rig.base, base_settings=rig.base, workload=SMALL, protocol=Protocol(), seed=1
    )
    folder = rig.folder / name
    folder.mkdir()

    def text(names: Collection[str]) -> str:
        return f"{head}{as_my_cnf({name: changes[name] for name in names})}"

    files = Deployed(
        exported=text(changes), undo=text([]), changed=tuple(changes), only=text,
        family="default", new_store=new_store,
    )  # fmt: skip
    engine = rig.engine
    assert isinstance(engine, Rehearses)
    places = Places(folder, rig.folder / "templates")
    found = engine.rehearse(spec, rig.ground.base, files, places, Watch(lambda phase: None))
    assert servers_in(rig.folder) == []
    return found


def test_rehearse_files_of_both_values_passes_and_leaves_the_users_folders(
    rig: Rig, tmp_path: Path
) -> None:
    """The user's my.cnf names folders and files of a server that runs."""
    other = tmp_path / "running"
    folders = {"datadir": "", "tmpdir": "tmp", "rocksdb_wal_dir": "wal",
               "loose-rocksdb_log_dir": "log", "secure_file_priv": "priv"}  # fmt: skip
    files = {"log-bin": "bin", "general_log_file": "a.log", "log_error": "b.log", "socket": "s"}
    for name in folders.values():
        (other / name).mkdir(parents=True, exist_ok=True)
    (other / "wal" / "000001.log").write_text("a log of the running server")
    paths = "".join(f"{name} = {other / value}\n" for name, value in (folders | files).items())
    head = f"[client]\npassword=x\n[mysqld]\nuser=mysql\nport=3307\ngeneral_log=1\n{paths}"
    before = [(path, path.stat().st_mtime_ns) for path in sorted(other.rglob("*"))]
    options = "write_buffer_size=4m;block_based_table_factory={block_size=8192}"
    found = rehearsed(rig, {"default_cf_options": options}, head)
    assert found.passed, found
    assert found.version == "6.29.5"
    assert found.families == ("default",)
    assert found.records > SMALL.num
    assert found.replaced == tuple(
        name.removeprefix("loose-").replace("-", "_")
        for name in (folders | files)
        if name != "log-bin"
    )
    assert "user, port, log_bin" in found.remarks[0]
    assert before == [(path, path.stat().st_mtime_ns) for path in sorted(other.rglob("*"))]


def test_rehearse_fewer_levels_names_the_refused_option(rig: Rig) -> None:
    changes = {"max_background_jobs": "4", "default_cf_options": "num_levels=5"}
    found = rehearsed(rig, changes)
    assert (found.failed, found.step) == ("exported", "open")
    assert "db has more levels than options.num_levels" in str(found.message)
    assert found.options == ("default_cf_options",)
    new = rehearsed(rig, changes, new_store=True)
    assert new.passed, new
    assert new.new_store


def test_rehearse_more_levels_finds_no_way_back(rig: Rig) -> None:
    found = rehearsed(rig, {"default_cf_options": "num_levels=8"})
    assert (found.failed, found.step) == ("undo", "open")


def test_rehearse_a_file_that_the_server_refuses_is_a_failed_baseline(rig: Rig) -> None:
    with pytest.raises(TrialFailedError, match="unknown variable"):
        rehearsed(rig, {}, "[mysqld]\nnonsense=1\n")


def test_transactions_arrive_at_a_rate(rig: Rig) -> None:
    kept, impossible = (
        rig.run(None, SMALL.model_copy(update={"transactions_s": rate}))
        for rate in (100, 1_000_000)
    )
    assert kept.result.status is Status.COMPLETE, kept.result.reason
    assert kept.result.metrics["throughput_ops_s"] < 130
    assert impossible.result.status is Status.CRASHED
    assert "rate" in str(impossible.result.reason)
