"""Machines of other speeds, and what `lsmtune doctor --calibrate` would have kept of this one."""

import json
from pathlib import Path
from typing import Any

from lsmtune.simulator import Machine, Probe, Run, predict
from lsmtune.simulator.native import default_constants
from lsmtune.system.host import describe_host
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec

_NO_TIMES = {"cores", "device_bytes_per_s", "read_jitter", "pauses_per_s", "cpu_share"}


def keep_machine(path: Path, **changes: object) -> Path:
    """Write the machine with the usual constants, but for these changes."""
    host = describe_host()
    machine = Machine(
        cpu_model=host.cpu_model, logical_cpus=host.logical_cpus, calibrated_at="2026-01-01",
        rocksdb="11.8.1", constants=default_constants(),
    )  # fmt: skip
    path.write_text(json.dumps(machine.model_dump() | changes))
    return path


def planted(writer: float, background: float, zlib: float) -> dict[str, Any]:
    """A machine that differs from the usual one by these factors."""
    usual = default_constants()
    slow = {name: value * background for name, value in usual.items()
            if isinstance(value, float) and name not in _NO_TIMES}  # fmt: skip
    slow |= {n: usual[n] * writer for n in ("put_s", "memtable_s_per_doubling", "wal_s_per_byte")}
    codecs = {c: {k: v * background for k, v in s.items()} for c, s in usual["codecs"].items()}
    codecs["zlib"]["compress_s_per_byte"] = usual["codecs"]["zlib"]["compress_s_per_byte"] * zlib
    cores = float(describe_host().logical_cpus)
    return {**usual, **slow, "codecs": codecs, "cores": cores}


def on(constants: dict[str, Any]) -> ScriptedEngine:
    """An engine whose runs come to what they would on such a machine."""
    return ScriptedEngine(lambda spec: run_on(constants, spec))


def run_on(constants: dict[str, Any], spec: TrialSpec) -> TrialResult:
    """What a run would come to on such a machine."""
    probe = Probe(spec.protocol.probe_reads, spec.protocol.scan_length)
    (told,) = predict([Run(spec.workload, spec.settings, spec.seed, probe)], constants)
    return measured(**told.metrics)
