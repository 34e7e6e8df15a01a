"""One trial on a private server: restore its data, start, load, settle, check, stop."""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lsmtune.engines.base import Places, TrialFailedError, Watch, Window
from lsmtune.engines.debt import paying
from lsmtune.engines.myrocks.loads import (
    PROBES,
    has_check,
    is_of_records,
    is_of_sysbench,
    probe_argv,
    read_check,
    read_probe,
    read_run,
    sysbench_argv,
)
from lsmtune.engines.myrocks.measure import (
    Loaded,
    Probed,
    Snapshot,
    measure,
    measure_build,
    read_back,
    snapshot,
)
from lsmtune.engines.myrocks.options import live_statements, read_base, read_settings, variables_of
from lsmtune.engines.myrocks.server import (
    DATABASE,
    Server,
    ServerFiles,
    SpaceMeter,
    install,
    run_client,
    running,
    settle,
)
from lsmtune.engines.read_back import newest_options
from lsmtune.engines.templates import Template, restore
from lsmtune.engines.tickers import read_metrics, write_metrics
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import PLAIN
from lsmtune.knobs.types import Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import CpuMeter
from lsmtune.system.process import ChildProcess
from lsmtune.system.workdir import directory_bytes
from lsmtune.trials import Base, Status, TrialSpec

_TREE = 1_000_003
"""The seed of a template's data and of the writes that warm it."""
_WARMING, _FEWEST, _MOST = 4, 100, 500
"""A template is warmed with a fourth of the load's transactions of each client, between bounds."""
_PREPARE_S = 3600.0
_LEVELED = 0
_STYLE = ("compaction_style", "num_levels")
"""A template has been loaded under the trial's own: a tree that changes its style rewrites all,
and one that has more levels than it may have is refused."""
_ROOM = 3
_UNSYNCED = {"rocksdb_flush_log_at_trx_commit": "2"}
"""No commit waits for a sync, as no write of db_bench's does; MyRocks syncs its log each second."""

_LOOK_S = 0.1
_TRAITS = {
    "bytes written per transaction": "rocksdb.bytes.written",
    "keys read per transaction": "rocksdb.number.keys.read",
    "seeks per transaction": "rocksdb.number.db.seek",
}
"""What a transaction does, whatever the options."""


class LiveServer:
    """A server under load. `change` sets options, `window` tells what it did meanwhile."""

    def __init__(
        self, server: Server, load: ChildProcess, catalogue: Catalogue, base: Base, set_: Settings
    ) -> None:
        self._server = server
        self._load = load
        self._catalogue = catalogue
        self._base = base
        self._settings = dict(set_)

    def change(self, settings: Settings) -> None:
        """Set the options that differ from those that run, and read all of them back."""
        # The server is asked each time: a change that it refused may be set in part.
        text = newest_options(self._server.files.store).read_text()
        now = self._settings | read_settings(self._catalogue, text, self._server.variables())
        for statement in live_statements(self._catalogue, self._base.options, now, settings):
            self._server.query(statement)
        self._settings = dict(settings)
        read_back(self._catalogue, settings, self._server)

    def window(self, seconds: float) -> Window:
        """Wait so long; TrialFailedError when server or load end meanwhile."""
        before, began, done = snapshot(self._server), time.monotonic(), self._transactions()
        while (left := began + seconds - time.monotonic()) > 0:
            if not self._load.running:
                raise TrialFailedError(
                    Status.CRASHED, "sysbench ended before the measuring window was over"
                )
            self._load.read_line(min(_LOOK_S, left))
        after, took_s = snapshot(self._server), time.monotonic() - began
        return _window(after, before, self._transactions() - done, took_s)

    def _transactions(self) -> int:
        rows = self._server.query("SHOW GLOBAL STATUS LIKE 'Com_commit'")
        return int(str(rows[0][1]))


def _window(after: Snapshot, before: Snapshot, transactions: int, took_s: float) -> Window:
    counted = after.since(before)
    if not transactions:
        reason = f"sysbench committed no transaction within {took_s:.0f} s"
        raise TrialFailedError(Status.TIMED_OUT, reason)
    written = counted.tickers.get("rocksdb.bytes.written", 0)
    metrics = {
        "throughput_ops_s": transactions / took_s,
        **(write_metrics(counted) if written else {}),
        **read_metrics(counted),
    }
    traits = {name: counted.tickers.get(t, 0) / transactions for name, t in _TRAITS.items()}
    return Window(metrics, traits)


class Trial:
    """One trial; `measure` runs it, `evidence` tells which files it has left."""

    def __init__(
        self, program: str, catalogue: Catalogue, spec: TrialSpec, base: Base, places: Places
    ) -> None:
        self._program = program
        self._catalogue = catalogue.with_families(spec.workload.column_families)
        self._spec = spec
        self._base = base
        self._places = places
        self._files = ServerFiles(places.workdir)

    def measure(self, watch: Watch) -> Measurement:
        """Run all parts; TrialFailedError when one fails."""
        load, template = self._spec.workload, self._restored(watch)
        meter = CpuMeter()
        with running(self._program, self._files, self._variables(self._spec.settings)) as server:
            loaded = self._load(server, watch)
            probed = self._probe(server, watch) if load.kind == "write" else None
            checking_cpu_s = _check(server, self._spec) if has_check(load) else 0.0
        status = server.process.wait(0)
        children_cpu_s = status.cpu_s + loaded.client_cpu_s + checking_cpu_s
        children_cpu_s += probed.client_cpu_s if probed else 0.0
        metrics = {
            "peak_space_bytes": float(loaded.peak_space_bytes),
            "cpu_s": loaded.cpu_s,
            "peak_rss_bytes": float(status.peak_rss_bytes),
            "others_cpu_percent": meter.others_percent(children_cpu_s),
            **template.metrics,
        }
        return measure(load, self._files, loaded, probed, metrics)

    def leave_store(self, watch: Watch) -> None:
        """Leave the server's data as the load leaves them; one that only reads needs no run."""
        self._restored(watch)
        if self._spec.workload.kind != "read":
            variables = self._variables(self._spec.settings)
            with running(self._program, self._files, variables) as server:
                self._load(server, watch)

    @contextmanager
    def serve(self, watch: Watch) -> Iterator[LiveServer]:
        """The server under a load without end, until the block ends."""
        self._restored(watch)
        spec, work = self._spec, self._files.workdir
        with running(self._program, self._files, self._variables(spec.settings)) as server:
            read_back(self._catalogue, spec.settings, server)
            argv = sysbench_argv(spec.workload, server.socket, "run", spec.seed, endless=True)
            output, errors = work / "load-stdout.txt", work / "load-stderr.txt"
            with ChildProcess(
                argv, cwd=work, stdout_path=output, stderr_path=errors, env={}
            ) as load:
                yield LiveServer(server, load, self._catalogue, self._base, spec.settings)

    def _restored(self, watch: Watch) -> Template:
        return restore(
            self._places.templates,
            self._template_key(),
            _ROOM * self._spec.workload.user_bytes,
            lambda folder: self._build(folder, watch),
            self._files.data,
        )

    def evidence(self) -> dict[str, Path]:
        """The files that exist, by the name under which they are kept."""
        work, store = self._files.workdir, self._files.store
        named = {path.name: path for path in work.glob("*-std*.txt")}
        named |= {"my.cnf": self._files.config, "error.log": self._files.error_log}
        named |= {"LOG": store / "LOG", "status.txt": work / "status.txt"}
        for path in sorted(store.glob("OPTIONS-*"))[-1:]:
            named["OPTIONS"] = path
        return {name: path for name, path in named.items() if path.is_file()}

    def _variables(self, settings: Settings) -> dict[str, str]:
        given = {} if self._base.given is None else read_base(self._base.given)
        base = self._base
        variables = variables_of(self._catalogue, base.options, base.settings, given, settings)
        return (_UNSYNCED if is_of_records(self._spec.workload) else {}) | variables

    def _template_key(self) -> str:
        """Return the key of workload, style and baseline: a trial meets the tree of the baseline.

        So it does in production, and building one takes as long as a trial.
        """
        load = self._spec.workload
        reads, warmed = load.kind == "read", load.definition.prepared and load.kind != "read"
        identity = {
            "program": self._program,
            "base": [self._base.options, self._base.given],
            "settings": self._build_settings(),
            "load": [load.name, load.warehouses, load.families, load.tables, load.num],
            "record": [load.key_size, load.value_size],
            "present": [load.compression_ratio, load.present] if reads else [],
            "warming": [load.threads, self._warming_operations()] if warmed else [],
        }
        return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()[:24]

    def _build_settings(self) -> Settings:
        """The base's settings under the trial's compaction style.

        What only reads meets files as the trial's own settings make them.
        """
        reads = self._spec.workload.kind == "read"
        shaping = {k.name for k in self._catalogue.knobs if k.shapes} if reads else set()
        own = {
            name: value
            for name, value in self._spec.settings.items()
            if PLAIN.option(name) in _STYLE or name in shaping
        }
        return self._spec.base_settings | own

    def _build(self, data: Path, watch: Watch) -> Template:
        """Load the tables, warm them with writes where the load finds any, settle.

        Where indexes are made last they are loaded under leveled compaction, for MyRocks' bulk
        load fails under universal (error 4055); then all is compacted once as the trial's style
        has it. For a load that only reads nothing is warmed.
        """
        watch.phase("build")
        started, load = time.monotonic(), self._spec.workload
        files, settings = ServerFiles(data.parent, data.name), self._build_settings()
        styles = [name for name in settings if PLAIN.option(name) == "compaction_style"]
        indexed_last = is_of_sysbench(load)
        leveled = dict.fromkeys(styles, _LEVELED) if indexed_last else {}
        operations = self._warming_operations()
        changes = {"operations": operations, "duration_s": None, "transactions_s": None}
        warming = load.model_copy(update=changes)
        install(files)
        with running(self._program, files, self._variables(settings | leveled)) as server:
            server.query(f"CREATE DATABASE {DATABASE}")
            argv = sysbench_argv(load, server.socket, "prepare", _TREE)
            run_client(argv, files, "prepare", _PREPARE_S)
            if load.kind == "read":
                settle(server, self._spec.protocol, SpaceMeter(server))
                build_s = time.monotonic() - started
                return Template(metrics={**measure_build(snapshot(server)), "build_s": build_s})
        with running(self._program, files, self._variables(settings)) as server:
            if any(settings[name] != _LEVELED for name in leveled):
                server.query("SET GLOBAL rocksdb_compact_cf = 'default'")
            if load.definition.prepared:
                argv = sysbench_argv(warming, server.socket, "run", _TREE)
                run_client(argv, files, "warm", _PREPARE_S)
            settle(server, self._spec.protocol, SpaceMeter(server))
        return Template(metrics={"build_s": time.monotonic() - started})

    def _warming_operations(self) -> int:
        load = self._spec.workload
        told = load.client_operations or load.definition.default_operations or 0
        return min(max(_FEWEST, told // _WARMING), _MOST)

    def _load(self, server: Server, watch: Watch) -> Loaded:
        spec = self._spec
        as_run = read_back(self._catalogue, spec.settings, server)
        before, cpu_s = snapshot(server), server.process.cpu_s()
        disk_write_bytes = server.process.disk_write_bytes()
        meter = SpaceMeter(server)
        watch.phase("load")
        argv = sysbench_argv(spec.workload, server.socket, "run", spec.seed)
        status, printed = run_client(
            argv, self._files, "load", spec.protocol.wall_limit_s, meter.look
        )
        end_s, ended = time.time(), snapshot(server)
        watch.phase("settle")
        with_compactions = paying(spec.settings)
        for statement in live_statements(
            self._catalogue, self._base.options, spec.settings, with_compactions
        ):
            server.query(statement)
        settle(server, spec.protocol, meter)
        settled_s, cpu_s = time.time(), server.process.cpu_s() - cpu_s
        (self._files.workdir / "status.txt").write_text(server.status())
        return Loaded(
            read_run(spec.workload, printed),
            before,
            ended,
            snapshot(server),
            end_s,
            settled_s,
            cpu_s,
            meter.peak_bytes,
            as_run,
            status.cpu_s,
            server.process.disk_write_bytes() - disk_write_bytes,
            directory_bytes(self._files.store),
        )

    def _probe(self, server: Server, watch: Watch) -> Probed:
        """Gets of keys that exist, gets of keys that do not, short scans."""
        watch.phase("probe")
        spec, before, cpu_s = self._spec, snapshot(server), 0.0
        latencies: dict[str, float] = {}
        for part in PROBES:
            argv = probe_argv(spec.workload, server.socket, part, spec.seed, spec.protocol)
            status, printed = run_client(
                argv, self._files, f"probe-{part}", spec.protocol.wall_limit_s
            )
            latencies |= read_probe(part, printed).latency_metrics()
            cpu_s += status.cpu_s
        return Probed(latencies, snapshot(server).since(before), cpu_s)


def _check(server: Server, spec: TrialSpec) -> float:
    """The CPU time of checking; TrialFailedError where TPC-C's tables are inconsistent."""
    argv = sysbench_argv(spec.workload, server.socket, "check", spec.seed)
    status, printed = run_client(argv, server.files, "check", spec.protocol.wall_limit_s)
    broken = {condition: count for condition, count in read_check(printed).items() if count}
    if broken:
        raise TrialFailedError(
            Status.UNREADABLE,
            f"the tables of TPC-C are inconsistent: {', '.join(map(_violation, broken.items()))}",
        )
    return status.cpu_s


def _violation(found: tuple[int, int]) -> str:
    condition, count = found
    return f"consistency condition {condition} of TPC-C is violated {count} times"
