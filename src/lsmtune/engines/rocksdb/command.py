"""The command lines of db_bench: one for the load, one for the probe of reads."""

from pathlib import Path

from lsmtune.knobs.types import Settings, Value
from lsmtune.trials import TrialSpec

_HOLDS = 6
"""How often the load's statistics are printed behind it. They are far more text than a pipe
holds, so that db_bench waits at the gate (see lsmtune.system.process) until they are read."""


def load_argv(program: str, spec: TrialSpec, database: Path) -> list[str]:
    """Load, flush, be held while the tree settles, print the table and the statistics."""
    benchmarks = [spec.workload.name, "flush", *["stats"] * _HOLDS]
    return [
        program,
        f"--benchmarks={','.join(benchmarks)}",
        "--use_existing_db=0",
        f"--threads={spec.workload.threads}",
        *_common_flags(spec, database),
    ]


def probe_argv(program: str, spec: TrialSpec, database: Path) -> list[str]:
    """Gets that hit, gets that miss, short scans, on the tree that the load left.

    db_bench seeds the first thread of a process alike in both runs (ThreadState in
    tools/db_bench_tool.cc), so with the load's seed the gets ask for keys that it wrote. More
    reads than it wrote keys would run into others.
    """
    reads = min(spec.protocol.probe_reads, spec.workload.num)
    return [
        program,
        "--benchmarks=readrandom,readmissing,seekrandom",
        "--use_existing_db=1",
        "--threads=1",
        "--disable_auto_compactions=1",
        f"--reads={reads}",
        f"--seek_nexts={spec.protocol.scan_length}",
        *_common_flags(spec, database),
    ]


def banner_argv(program: str, database: Path) -> list[str]:
    """One write: the shortest run that makes db_bench print its version and its build."""
    return [program, "--benchmarks=fillseq", "--num=1", f"--db={database}"]


def _common_flags(spec: TrialSpec, database: Path) -> list[str]:
    load = spec.workload
    return [
        f"--db={database}",
        f"--num={load.num}",
        f"--key_size={load.key_size}",
        f"--value_size={load.value_size}",
        f"--compression_ratio={load.compression_ratio}",
        f"--seed={spec.seed}",
        "--statistics=1",
        "--histogram=1",
        *knob_flags(spec.settings),
    ]


def knob_flags(settings: Settings) -> list[str]:
    """The knobs as db_bench spells them."""
    return [f"--{name}={_flag_text(value)}" for name, value in sorted(settings.items())]


def _flag_text(value: Value) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
