"""A store that is tuned while it is open, in a driver that imitates one."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from fakes.fake_lsmsim import install
from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.rocksdb.bench import Files, Part
from lsmtune.engines.rocksdb.driver.client import Client
from lsmtune.engines.rocksdb.driver.live import LiveStore, WrittenJobs, serve
from lsmtune.engines.rocksdb.driver.plans import endless_plan
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import replace_options
from lsmtune.trials import Protocol, Status
from lsmtune.units import MIB
from lsmtune.workloads import Workload

CATALOGUE = load("rocksdb")
BASE: Settings = {
    "write_buffer_size": 4 * MIB, "max_write_buffer_number": 2, "target_file_size_base": 4 * MIB,
    "max_compaction_bytes": 0, "max_background_jobs": 2, "bytes_per_sync": MIB,
}  # fmt: skip
TEXTS = {
    ("DBOptions", "max_background_jobs"): "2", ("DBOptions", "bytes_per_sync"): str(MIB),
    ('CFOptions "default"', "write_buffer_size"): str(4 * MIB),
    ('CFOptions "default"', "max_write_buffer_number"): "2",
    ('CFOptions "default"', "target_file_size_base"): str(4 * MIB),
    ('CFOptions "default"', "max_compaction_bytes"): str(100 * MIB),
}  # fmt: skip
OPTIONS = replace_options('[DBOptions]\n[CFOptions "default"]\n', TEXTS)

Serve = Callable[..., AbstractContextManager[LiveStore]]


@pytest.fixture
def _driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package with the driver is the one that imitates it."""
    monkeypatch.delitem(sys.modules, "lsmsim", raising=False)
    monkeypatch.syspath_prepend(install(tmp_path / "package"))


@pytest.fixture
def served(_driver: None, tmp_path: Path) -> Serve:
    """Serves a load on a driver of that kind."""

    @contextmanager
    def run(
        mode: str = "WORKS", workload: str = "overwrite", patience_s: float = 60
    ) -> Iterator[LiveStore]:
        database, library = tmp_path / "db", tmp_path / "library"
        database.mkdir()
        library.write_text(mode)
        part = Part("load", Workload(name=workload), 7, database, tmp_path, OPTIONS, BASE)
        limits = Protocol(silence_limit_s=patience_s)
        client = Client(str(library), endless_plan(part), database, part.files)
        with serve(client, CATALOGUE, part, limits) as live:
            yield live

    return run


def changes(tmp_path: Path) -> list[tuple[str, dict[str, str]]]:
    """The commands that changed options, with these options."""
    lines = (tmp_path / "db" / "commands").read_text().splitlines()
    commands = (json.loads(line) for line in lines)
    return [(do, fields["options"]) for do, fields in commands if do != "report"]


def test_the_load_has_no_end(tmp_path: Path) -> None:
    for name in ("readrandomwriterandom", "readwhilewriting"):
        part = Part("load", Workload(name=name), 7, tmp_path, tmp_path, OPTIONS, BASE)
        plan = endless_plan(part)
        [run] = plan["phases"]
        assert plan["existing"]
        assert run.get("seconds") is None
        assert not any("operations" in group for group in run["groups"])


def test_a_window_is_what_the_load_did_in_whole_seconds(served: Serve) -> None:
    with served() as live:
        for seconds in (1.5, 2):
            window = live.window(seconds)
            metrics = window.metrics
            assert metrics["throughput_ops_s"] == (1000 + 3000) / 2
            assert metrics["write_p99_us"] == (1000 * 100 + 3000 * 300) / 4000
            assert metrics["write_mean_us"] == pytest.approx(50)
            assert metrics["write_amp"] == 4
            assert metrics["stall_s"] > 0
            assert metrics["stall_percent"] > 0
            assert window.traits["writes per operation"] == 1
            assert window.traits["bytes per write"] == 1000


def test_the_writer_next_to_readers_is_not_counted(served: Serve) -> None:
    with (
        served(workload="readwhilewriting") as live,
        pytest.raises(TrialFailedError) as caught,
    ):
        live.window(1)
    assert caught.value.status is Status.TIMED_OUT


def test_each_option_goes_to_its_command_and_is_read_back(tmp_path: Path, served: Serve) -> None:
    with served() as live:
        live.window(1)
        wanted = {**BASE, "write_buffer_size": 8 * MIB, "max_background_jobs": 4}
        live.change(wanted)
        live.change(wanted)
        live.window(1)
        live.change(BASE)
    assert changes(tmp_path) == [
        ("change", {"write_buffer_size": str(8 * MIB)}),
        ("change_database", {"max_background_jobs": "4"}),
        ("change", {"write_buffer_size": str(4 * MIB)}),
        ("change_database", {"max_background_jobs": "2"}),
    ]


def test_what_rocksdb_derives_only_when_it_opens_a_store_is_set(
    tmp_path: Path, served: Serve
) -> None:
    with served() as live:
        live.change({**BASE, "target_file_size_base": 8 * MIB})
    [(_, options)] = changes(tmp_path)
    assert options == {
        "target_file_size_base": str(8 * MIB), "max_compaction_bytes": str(200 * MIB)
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"write_buffer_size": 666}, Status.REFUSED),
        ({"max_write_buffer_number": 9}, Status.MISMATCH),
    ],
)
def test_after_a_change_that_failed_the_load_goes_on(
    served: Serve, change: Settings, status: Status
) -> None:
    with served() as live:
        with pytest.raises(TrialFailedError) as caught:
            live.change({**BASE, **change})
        assert caught.value.status is status
        live.change(BASE)
        assert live.window(2).metrics["throughput_ops_s"] == 2000


def test_what_was_set_before_a_refusal_is_taken_back(tmp_path: Path, served: Serve) -> None:
    with served() as live:
        wanted = {**BASE, "write_buffer_size": 8 * MIB, "max_background_jobs": 15}
        with pytest.raises(TrialFailedError) as caught:
            live.change(wanted)
        live.change(BASE)
    assert caught.value.status is Status.REFUSED
    assert changes(tmp_path)[2:] == [("change", {"write_buffer_size": str(4 * MIB)})]


@pytest.mark.parametrize(
    ("jobs", "words"), [(13, "exit code 3"), (14, "RocksDB: put: IO error: it broke")]
)
def test_the_end_of_the_driver_is_told(served: Serve, jobs: int, words: str) -> None:
    with served() as live, pytest.raises(TrialFailedError, match=words) as caught:
        live.change({**BASE, "max_background_jobs": jobs})
    assert caught.value.status is Status.CRASHED


@pytest.mark.parametrize(
    ("mode", "patience_s", "status"),
    [
        ("IDLE", 60, Status.TIMED_OUT),
        ("SILENT", 0.3, Status.TIMED_OUT),
        ("REFUSES", 60, Status.REFUSED),
        ("DIES", 60, Status.CRASHED),
    ],
)
def test_a_load_that_does_nothing_is_no_window(
    served: Serve, mode: str, patience_s: float, status: Status
) -> None:
    with pytest.raises(TrialFailedError) as caught, served(mode, patience_s=patience_s) as live:
        live.window(1)
    assert caught.value.status is status


@pytest.mark.usefixtures("_driver")
def test_half_an_event_is_of_a_driver_that_died(tmp_path: Path) -> None:
    database, library = tmp_path / "db", tmp_path / "library"
    database.mkdir()
    library.write_text("DIES")
    client = Client(str(library), {"options": ""}, database, Files.of(tmp_path, "short"))
    with pytest.raises(TrialFailedError, match="SIGKILL") as caught:
        client.run_short()
    assert caught.value.status is Status.CRASHED


def test_jobs_count_only_if_tickers_miss_bytes(tmp_path: Path) -> None:
    log = tmp_path / "LOG"
    event = '1 EVENT_LOG_v1 {{"time_micros": {}, "job": 3, "event": "compaction_{}"{}}}\n'
    log.write_text(event.format(10, "started", ""))
    plain, parallel = (
        f'[CFOptions "default"]\n  compression_opts={{level=1;parallel_threads={n};}}\n'
        for n in (1, 4)
    )
    jobs = WrittenJobs(log)
    assert jobs.ended(parallel) == []
    line = event.format(20, "finished", ', "total_output_size": 5000')
    with log.open("a") as file:
        file.write(line[:30])
    assert jobs.ended(parallel) == []
    with log.open("a") as file:
        file.write(line[30:])
    assert [job.written_bytes for job in jobs.ended(parallel)] == [5000]
    with log.open("a") as file:
        file.write(line)
    assert jobs.ended(plain) == []
