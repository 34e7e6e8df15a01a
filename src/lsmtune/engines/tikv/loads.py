"""The loads in go-ycsb's words, with every property told: what it ships says one thing and sets
another."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.base import MOST_CHARACTERS, TrialFailedError, last_words
from lsmtune.engines.tikv.settings import Cluster
from lsmtune.metrics.go_ycsb import YcsbRun, parse_go_ycsb
from lsmtune.system.cancelling import ProcessTimeout
from lsmtune.system.process import ChildProcess, NoLine
from lsmtune.trials import Protocol, Status
from lsmtune.workloads import Workload
from lsmtune.workloads.ycsb import YCSB_FIELDS, Shares, Ycsb

_TICK_S, _LOOK_S, _END_S = 0.1, 1.0, 30.0
_FAILED = "operation err: "
_MOST_FAILED_PERCENT = 50.0

_ALWAYS = {
    "workload": "core", "fieldcount": YCSB_FIELDS, "fieldlengthdistribution": "constant",
    "readallfields": "true", "writeallfields": "false", "dataintegrity": "false",
    "insertstart": 0, "insertorder": "hashed", "zeropadding": 1, "keyprefix": "user",
    "scanlengthdistribution": "uniform", "batch.size": 1, "target": 0, "warmuptime": 0,
    "core_workload_insertion_retry_limit": 0, "core_workload_insertion_retry_interval": 3,
    "dropdata": "false", "verbose": "false",
    "measurementtype": "histogram", "measurement.interval": 10, "outputstyle": "plain",
    "histogram.percentiles.export": "false", "debug.pprof": "127.0.0.1:0",
    "tikv.conncount": 128, "tikv.batchsize": 128, "tikv.apiversion": "V1",
    "tikv.async_commit": "true", "tikv.one_pc": "true",
}  # fmt: skip
"""Mostly go-ycsb's defaults; its profiler would listen on every address of the machine."""


_READS, _SCANS = Shares("zipfian", read=1), Shares("uniform", scan=1)

Properties = Mapping[str, str]


def loading(load: Workload, cluster: Cluster, table: str) -> Properties:
    """The properties of `go-ycsb load`: every record once."""
    mix = load.definition_of(Ycsb).shares
    return _properties(load, cluster, table, mix, keys=load.num, operations=load.num)


def running(load: Workload, cluster: Cluster, table: str) -> Properties:
    """The properties of `go-ycsb run`."""
    mix = load.definition_of(Ycsb).shares
    operations = (load.client_operations or 0) * load.threads
    keys = mix.keys * load.num
    return _properties(load, cluster, table, mix, keys=keys, operations=operations)


def probing(
    load: Workload, cluster: Cluster, table: str, protocol: Protocol
) -> dict[str, Properties]:
    """The parts of the probe that follows a load of nothing but writes: gets, short scans."""
    asked = load.model_copy(update={"scan_length": protocol.scan_length, "threads": 1})
    operations = protocol.probe_reads
    return {
        part: _properties(asked, cluster, table, mix, keys=load.num, operations=operations)
        for part, mix in (("get", _READS), ("scan", _SCANS))
    }


def _properties(
    load: Workload, cluster: Cluster, table: str, mix: Shares, *, keys: int, operations: int
) -> Properties:
    scan_length = load.scan_length or 1
    told = {
        **_ALWAYS,
        "table": table,
        "recordcount": keys,
        "insertcount": keys,
        "operationcount": operations,
        "threadcount": load.threads,
        "fieldlength": load.value_size // YCSB_FIELDS,
        "requestdistribution": mix.distribution,
        "readproportion": mix.read,
        "updateproportion": mix.update,
        "insertproportion": mix.insert,
        "scanproportion": mix.scan,
        "readmodifywriteproportion": mix.modify,
        "minscanlength": mix.shortest_scan or scan_length,
        "maxscanlength": scan_length,
        "tikv.pd": cluster.pd,
        "tikv.type": cluster.api,
        # Of transactions some fail as a rule: go-ycsb counts them, but a line for each would hold
        # it up.
        "silence": str(cluster.api == "txn").lower(),
    }
    return {name: str(value) for name, value in told.items()}


@dataclass(frozen=True, slots=True)
class GoYcsb:
    """The program, the folder for what it prints, and who looks on; `look` may raise.

    At most `most_failed_percent` of the operations of a run may fail.
    """

    program: str
    folder: Path
    limit_s: float
    most_failed_percent: float
    look: Callable[[], None]

    def run(self, command: str, name: str, properties: Properties) -> YcsbRun:
        """Run `go-ycsb load` or `run` to its end; what it prints is kept under the name.

        TrialFailedError where it fails, takes too long, or where too many operations fail; of those
        that load records, none may.
        """
        told = self.folder / f"{name}.properties"
        told.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
        argv = [self.program, command, "tikv", "-P", str(told)]
        stdout, stderr = (self.folder / f"{name}-{part}.txt" for part in ("stdout", "stderr"))
        with ChildProcess(
            argv, cwd=self.folder, stdout_path=stdout, stderr_path=stderr, env={}
        ) as process:
            self._hear(process)
            try:
                status = process.wait(_END_S)
            except ProcessTimeout as timeout:
                raise TrialFailedError(
                    Status.TIMED_OUT, f"lsmtune stopped go-ycsb: {timeout}"
                ) from timeout
        printed = stdout.read_text(errors="replace")
        if status.returncode != 0:
            how = status.signal_name or f"code {status.returncode}"
            said = stderr.read_text(errors="replace") or printed
            words = last_words([line.strip() for line in said.splitlines() if line.strip()])
            raise TrialFailedError(Status.CRASHED, f"go-ycsb ended with {how}: {words}")
        run = parse_go_ycsb(printed)
        loads = command == "load"
        _check_failed(run, 0.0 if loads else self.most_failed_percent)
        _check_count(run, int(properties["insertcount" if loads else "operationcount"]))
        return run

    def _hear(self, process: ChildProcess) -> None:
        limit = time.monotonic() + self.limit_s
        looked = time.monotonic()
        while (line := process.read_line(_TICK_S)) is not NoLine.END:
            if isinstance(line, str) and line.startswith(_FAILED):
                words = line.removeprefix(_FAILED)[:MOST_CHARACTERS]
                self.look()  # where TiKV is gone, that is the reason
                raise TrialFailedError(Status.CRASHED, f"an operation of go-ycsb failed: {words}")
            now = time.monotonic()
            if now > limit:
                reason = f"lsmtune stopped go-ycsb: time limit of {self.limit_s:g} s exceeded"
                raise TrialFailedError(Status.TIMED_OUT, reason)
            if now - looked >= _LOOK_S:
                looked = now
                self.look()


def most_failed_percent(cluster: Cluster) -> float:
    """How many of the operations of a run may fail: of transactions some, of others none."""
    if cluster.api == "raw":
        return 0.0
    given = cluster.max_failed_percent
    return _MOST_FAILED_PERCENT if given is None else given


def _check_failed(run: YcsbRun, most_percent: float) -> None:
    if run.failed_percent <= most_percent:
        return
    counts = ", ".join(f"{count} {kind}" for kind, count in run.errors.items())
    limit = f", but at most {most_percent:g} % may fail (tikv.max_failed_percent)"
    raise TrialFailedError(
        Status.CRASHED,
        f"{run.failed_percent:.3g} % of the operations of go-ycsb failed: {counts}"
        f"{limit if most_percent else ''}",
    )


def _check_count(run: YcsbRun, asked: int) -> None:
    """A read-modify-write whose read failed counts as a failed read, and as one operation less."""
    begun = run.operations + run.failed
    if not asked - run.errors.get("READ", 0) <= begun <= asked:
        raise TrialFailedError(
            Status.UNREADABLE, f"go-ycsb ran {begun} operations instead of {asked}"
        )
