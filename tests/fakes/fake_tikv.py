"""A stand-in for TiKV's status server, with the interfaces of the real one over HTTP.

It tells `/config` as TiKV does (nested, sizes as texts, null where a default is left to the code),
takes changes of what TiKV's source marks as changeable online, counts in Prometheus' text form, and
reads its TOML file when it is started anew. What go-ycsb would do by gRPC, and a restart by the
system, reaches it by `/work` and `/restart`. It fails on demand (`mode`).

Flow control and the memory limit are as a real TiKV of 2026 has them (tikv_config). It flushes
nothing before a memtable is full, and `/metrics` tells most counters as they were at the last
refresh.
"""

import copy
import json
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from fakes.tikv_config import DEFAULTS, MIB, change_of, merge, mib, validate, value_of

REFRESH_LOOKS = 4
"""Counters are refreshed with every fourth look at them: so often lsmtune looks in refresh_s."""

RESTART = """#!{python} -ISB
import sys
sys.path.insert(0, {fakes!r})
from asking import ask
status, text = ask("127.0.0.1:{port}", "/restart", "")
sys.stderr.write(text)
sys.exit(0 if status == 200 else 3)
"""


class Mode(StrEnum):
    """What the stand-in does."""

    WORKS = "works"
    REFUSES = "refuses changes"
    CANNOT_PERSIST = "changes, but cannot persist"
    PERSISTS = "writes changes into its file whatever it is told"
    IGNORES = "says yes and changes nothing"
    SILENT = "does not answer changes"
    WILL_NOT_START = "does not come up again under a file that says something else"
    FAILS_TO_RESTART = "the restart command fails"
    STARTS_WITH_ITS_OWN = "comes up with other options than its file says"
    DIES_LOADING = "ends while it is loaded"
    RESTARTS_LOADING = "is started anew while it is loaded"
    GARBAGE = "tells a configuration that is none"
    FEW_METRICS = "counts next to nothing"
    GARBLED_METRICS = "tells metrics in no known form"
    KEEPS_TRIGGERS = "does not take the triggers of its small column families back"
    LOSES_RECORDS = "has none of the records that were loaded"


class FakeTiKV:
    """One TiKV: its configuration, what it has counted, and what has been asked of it.

    `looks` are the answers to `/metrics`. With `busy` compactions run until so many refreshes have
    passed; with `conflicts` such a share of the updates by transactions fails.
    """

    def __init__(self, config: Path) -> None:
        self.config_file = config
        self.own_text = config.read_text()
        self.mode = Mode.WORKS
        self.asked: list[str] = []
        self.starts = 0
        self.looks = 0
        self.keys = 0
        self.written_keys = 0
        self.owed = 0.0
        self.busy = 0
        self.conflicts = 0.0
        self.up = True
        self.config: dict[str, Any] = {}
        self.counters: dict[str, float] = {}
        self.start()

    def start(self) -> None:
        """Read the file, count from nothing."""
        self.starts += 1
        config = json.loads(json.dumps(DEFAULTS))
        own = self.mode is Mode.STARTS_WITH_ITS_OWN
        text = self.own_text if own else self.config_file.read_text()
        merge(config, tomllib.loads(text))
        validate(config)
        self.config = config
        self.counters = dict.fromkeys(COUNTED, 0.0)
        self._told = dict(self.counters)
        self._held = 0.0
        self.up = True

    def value(self, name: str) -> Any:
        """What it runs with."""
        return value_of(self.config, name)

    def change(self, changes: dict[str, Any]) -> None:
        """Set options as `/config` does: all of them, or none where one is not accepted."""
        config = copy.deepcopy(self.config)
        for name, value in changes.items():
            if change_of(name) != "online":
                raise ValueError(f"config {name} can not be changed")
            if self.mode is Mode.KEEPS_TRIGGERS and name.startswith("rocksdb.lockcf.level0"):
                continue
            table, _, key = name.rpartition(".")
            value_of(config, table)[key] = value
        validate(config)
        self.config = config
        self._compact()

    def _compact(self) -> None:
        """Do what was put off, unless it still is."""
        if not self.value("rocksdb.defaultcf.disable-auto-compactions"):
            self.counters["compacted"] += self.owed
            self.owed = 0.0

    def work(self, command: str, properties: dict[str, str]) -> dict[str, float]:
        """Do what go-ycsb asks for; small blocks are quick to read, large memtables to write."""
        loads = command == "load"
        operations = int(properties["insertcount" if loads else "operationcount"])
        size = int(properties["fieldcount"]) * int(properties["fieldlength"])
        changing = ("updateproportion", "insertproportion", "readmodifywriteproportion")
        writes = operations * (1.0 if loads else sum(float(properties[p]) for p in changing))
        if loads:
            self.keys = max(self.keys, operations)
        memtable = mib(self.value("rocksdb.defaultcf.write-buffer-size"))
        block = mib(self.value("rocksdb.defaultcf.block-size")) * 1024
        amplification = 2 + 512 / memtable
        self.counters["written"] += writes * size
        self._held += writes * size
        flushes, self._held = divmod(self._held, memtable * MIB)
        self.counters["flushes"] += flushes
        self.counters["flushed"] += flushes * memtable * MIB
        self.owed += flushes * memtable * MIB * (amplification - 1)
        self._compact()
        self.counters["reads"] += operations - writes
        self.counters["missed"] += (operations - writes) * 0.25
        conflicts = 0.0 if loads or properties["tikv.type"] == "raw" else self.conflicts
        return {
            "read_us": 100 + 10 * block, "write_us": 50 + 100 * amplification,
            "conflicts": conflicts,
        }  # fmt: skip

    def metrics(self) -> str:
        """What it tells of itself, in TiKV's names."""
        if self.mode is Mode.GARBLED_METRICS:
            return "# TYPE tikv_engine_flow_bytes counter\ntikv_engine_flow_bytes{db=\n"
        self.looks += 1
        if self.looks % REFRESH_LOOKS == 0:
            self._told = dict(self.counters)
            self.busy = max(0, self.busy - 1)
            self._told["running"] = float(self.busy > 0)
        info = 'tikv_server_info{hash="0ff1ce",version="8.5.3"} 1763800000\n'
        if self.mode is Mode.FEW_METRICS:
            return info
        keys = 0 if self.mode is Mode.LOSES_RECORDS else self.keys
        return info + METRICS.format(
            started=1_763_800_000 + self.starts, keys=keys, live=self.keys * 800,
            written_keys=self.written_keys, now=self.counters["flushes"],
            hits=self._told["reads"] * 3, cpu=self.counters["compacted"] / 1e8, **self._told,
        )  # fmt: skip


COUNTED = ("written", "flushed", "compacted", "reads", "missed", "flushes", "running")

METRICS = """# HELP tikv_engine_flow_bytes Bytes and keys of read/written
# TYPE tikv_engine_flow_bytes counter
tikv_engine_flow_bytes{{db="kv",type="bytes_written"}} {written}
tikv_engine_flow_bytes{{db="kv",type="flush_write_bytes"}} {flushed}
tikv_engine_flow_bytes{{db="kv",type="wal_file_bytes"}} {written}
tikv_engine_flow_bytes{{db="kv",type="keys_read"}} {reads}
tikv_engine_flow_bytes{{db="raft",type="bytes_written"}} 1e+30
# HELP tikv_engine_compaction_flow_bytes Bytes of read/written during compaction
# TYPE tikv_engine_compaction_flow_bytes counter
tikv_engine_compaction_flow_bytes{{db="kv",type="bytes_read"}} {compacted}
tikv_engine_compaction_flow_bytes{{db="kv",type="bytes_written"}} {compacted}
# TYPE tikv_engine_locate counter
tikv_engine_locate{{db="kv",type="number_db_seek"}} 0
# TYPE tikv_engine_stall_micro_seconds counter
tikv_engine_stall_micro_seconds{{db="kv"}} 250000
# TYPE tikv_engine_cache_efficiency counter
tikv_engine_cache_efficiency{{db="kv",type="block_cache_hit"}} {hits}
tikv_engine_cache_efficiency{{db="kv",type="block_cache_miss"}} {missed}
tikv_engine_cache_efficiency{{db="kv",type="block_cache_data_hit"}} {hits}
tikv_engine_cache_efficiency{{db="kv",type="block_cache_data_miss"}} {missed}
# TYPE tikv_engine_write_stall_reason gauge
tikv_engine_write_stall_reason{{db="kv",type="level0_file_limit_slowdown"}} 2
# TYPE tikv_engine_size_bytes gauge
tikv_engine_size_bytes{{db="kv",type="default"}} {live}
tikv_engine_size_bytes{{db="kv",type="write"}} 4096
tikv_engine_size_bytes{{db="raft",type="default"}} 1e+30
# TYPE tikv_engine_memory_bytes gauge
tikv_engine_memory_bytes{{cf="default",db="kv",type="mem-tables"}} 4096
tikv_engine_memory_bytes{{cf="default",db="kv",type="mem-tables-all"}} 99999
# TYPE tikv_engine_estimate_num_keys gauge
tikv_engine_estimate_num_keys{{cf="default",db="kv"}} {keys}
tikv_engine_estimate_num_keys{{cf="write",db="kv"}} {written_keys}
# TYPE tikv_engine_num_running_compactions gauge
tikv_engine_num_running_compactions{{db="kv"}} {running}
# HELP tikv_engine_event_total Number of engine events, which are not refreshed but counted at once
# TYPE tikv_engine_event_total counter
tikv_engine_event_total{{cf="default",db="kv",type="flush"}} {now}
tikv_engine_event_total{{cf="raft",db="kv",type="flush"}} 1e+30
tikv_engine_event_total{{cf="default",db="kv",type="compaction"}} 1e+30
# TYPE tikv_thread_cpu_seconds_total counter
tikv_thread_cpu_seconds_total{{name="rocksdb:low0",tid="17"}} {cpu}
tikv_thread_cpu_seconds_total{{name="rocksdb:low1",tid="18"}} {cpu}
tikv_thread_cpu_seconds_total{{name="grpc_server_0",tid="19"}} 100
# TYPE process_cpu_seconds_total counter
process_cpu_seconds_total {cpu}
# TYPE process_start_time_seconds gauge
process_start_time_seconds {started}
"""


class _Handler(BaseHTTPRequestHandler):
    """One request; `tikv` is set on the class of each server."""

    tikv: FakeTiKV

    def do_GET(self) -> None:
        if not self.tikv.up:
            self.close_connection = True
        elif self.path == "/config":
            broken = self.tikv.mode is Mode.GARBAGE
            self._answer(200, "<html>" if broken else json.dumps(self.tikv.config))
        elif self.path == "/metrics":
            self._answer(200, self.tikv.metrics())
        else:
            self._answer(200 if self.path == "/status" else 404, "")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/restart":
            self._restart()
        elif not self.tikv.up:
            self.close_connection = True
        elif self.path == "/tuned":
            own = self.tikv.config_file.read_text() == self.tikv.own_text
            self._answer(200, "no" if own else "yes")
        elif self.path == "/work":
            self._work(json.loads(body))
        elif self.path.startswith("/config"):
            self.tikv.asked.append(f"{self.path} {body.decode()}")
            self._change(json.loads(body))

    def _restart(self) -> None:
        tikv = self.tikv
        if tikv.mode is Mode.FAILS_TO_RESTART:
            self._answer(500, "Job for tikv.service failed\n")
            return
        try:
            tikv.start()
        except ValueError:  # it ends at once, with its reason in its log
            tikv.up = False
            self._answer(200, "")
            return
        differs = tikv.config_file.read_text() != tikv.own_text
        tikv.up = not (tikv.mode is Mode.WILL_NOT_START and differs)
        self._answer(200, "")

    def _work(self, told: dict[str, Any]) -> None:
        runs = told["command"] == "run"
        if runs and self.tikv.mode is Mode.DIES_LOADING:
            self.tikv.up = False
            self.close_connection = True
            return
        if runs and self.tikv.mode is Mode.RESTARTS_LOADING:
            self.tikv.start()
        self._answer(200, json.dumps(self.tikv.work(told["command"], told["properties"])))

    def _change(self, changes: dict[str, Any]) -> None:
        mode = self.tikv.mode
        if mode is Mode.REFUSES:
            self._answer(500, 'failed to update, error: "unacceptable"')
            return
        if mode is Mode.SILENT:
            threading.Event().wait(10)
            return
        try:
            if mode is not Mode.IGNORES:
                self.tikv.change(changes)
        except ValueError as error:
            self._answer(500, f'failed to update, error: "{error}"')
            return
        if mode is Mode.CANNOT_PERSIST:
            reason = 'Os { code: 13, kind: PermissionDenied, message: "Permission denied" }'
            self._answer(500, f"config changed, but failed to persist change due to err: {reason}")
            return
        if mode is Mode.PERSISTS:
            file = self.tikv.config_file
            file.write_text(f"{file.read_text()}# persisted {changes}\n")
        self._answer(200, "")

    def _answer(self, code: int, text: str) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True


@contextmanager
def serving(folder: Path, text: str = "") -> Iterator[tuple[FakeTiKV, int]]:
    """A TiKV with a file of its own and a restart command in the folder; the port of both."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tikv.toml").write_text(text)
    tikv = FakeTiKV(folder / "tikv.toml")
    handler = type("Handler", (_Handler,), {"tikv": tikv})
    server = _Server(("127.0.0.1", 0), handler)
    port = int(server.server_address[1])
    restart = folder / "restart"
    fakes = str(Path(__file__).parent)
    restart.write_text(RESTART.format(python=sys.executable, fakes=fakes, port=port))
    restart.chmod(0o755)
    thread = threading.Thread(target=lambda: server.serve_forever(0.02), daemon=True)
    thread.start()
    try:
        yield tikv, port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
