"""Whatever db_bench does, a trial ends with the right status, a reason, its files, no process."""

import re
from pathlib import Path

import numpy as np
import pytest

from fakes.fake_db_bench import SETTLE_S, Mode, install
from fakes.outcomes import check_fault
from fakes.patience import PATIENCE_S
from fakes.rig import Rig
from fakes.traces import left_behind, started
from lsmtune.engines.base import Outcome, Watch
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.errors import UserError
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import parse_options
from lsmtune.system.cancelling import ProcessTimeout
from lsmtune.trials import Status
from lsmtune.workloads import Workload

LOAD_FILES = {"load-stdout.txt", "load-stderr.txt"}
DATABASE_FILES = {"LOG", "OPTIONS"}
PROBE_FILES = {"probe-stdout.txt", "probe-stderr.txt"}
ALL_FILES = LOAD_FILES | DATABASE_FILES | PROBE_FILES


def run(
    tmp_path: Path,
    program: Path | str,
    *,
    wall_s: float = PATIENCE_S,
    silence_s: float = PATIENCE_S,
    changes: Settings | None = None,
    watch: Watch | None = None,
) -> Outcome:
    rig = Rig(str(program), tmp_path)
    return rig.run(
        {**rig.base, **(changes or {})},
        Workload(num=5000),
        watch,
        seed=1,
        probe_reads=700,
        quiet_s=0.1,
        wall_limit_s=wall_s,
        silence_limit_s=silence_s,
    )


@pytest.mark.parametrize("mode", [Mode.WORKS, Mode.LEAVES_GRANDCHILD])
def test_what_goes_well_is_measured(tmp_path: Path, mode: Mode) -> None:
    program = install(tmp_path / "bin", mode)
    # The stand-in settles after lsmtune has read its result, however busy the machine is.
    (program.parent / "waits").touch()
    watch = Watch(lambda phase: (program.parent / phase).touch())
    outcome = run(tmp_path, program, watch=watch)
    assert outcome.result.status is Status.COMPLETE
    assert outcome.result.reason is None
    metrics = outcome.result.metrics
    assert metrics["write_amp"] == pytest.approx((1577490 + 1145159) / 3168000, rel=1e-3)
    assert metrics["live_sst_bytes"] == 5000 * 380
    assert SETTLE_S <= metrics["settle_s"] < PATIENCE_S
    assert metrics["peak_space_bytes"] > metrics["live_sst_bytes"]
    assert set(outcome.evidence) == ALL_FILES
    assert [what for _, what in started(program)] == ["describe", "load", "probe"]
    assert left_behind(program) == []


FAULTS = [
    (Mode.PRINTS_GARBAGE, Status.UNREADABLE, "result of the benchmark fillrandom", LOAD_FILES),
    (
        Mode.PRINTS_BAD_RESULT, Status.UNREADABLE, "result of the benchmark fillrandom",
        LOAD_FILES | DATABASE_FILES,
    ),
    (Mode.SAYS_NOTHING, Status.UNREADABLE, "result of the benchmark fillrandom", LOAD_FILES),
    (
        Mode.PRINTS_NO_STATISTICS, Status.UNREADABLE,
        "counter rocksdb.", ALL_FILES,
    ),
    (Mode.LOSES_DATABASE, Status.UNREADABLE, "LOG", LOAD_FILES),
    (
        Mode.KILLED, Status.CRASHED, "SIGKILL",
        LOAD_FILES | DATABASE_FILES,
    ),
    (
        Mode.SEGFAULTS, Status.CRASHED, "SIGSEGV",
        LOAD_FILES | DATABASE_FILES,
    ),
    (
        Mode.ABORTS_SETTLING, Status.CRASHED,
        "SIGABRT: db_bench: ./db/compaction/compaction_job.cc:1: Assertion",
        LOAD_FILES | DATABASE_FILES,
    ),
    (
        Mode.REFUSES, Status.REFUSED,
        "code 1: open error: Invalid argument: Enable cache_index_and_filter",
        LOAD_FILES,
    ),
    (
        Mode.DISK_FULL, Status.OUT_OF_SPACE, "put error: IO error: No space",
        LOAD_FILES | DATABASE_FILES,
    ),
    (
        Mode.ENDS_UNSETTLED, Status.UNREADABLE, "compaction",
        LOAD_FILES | DATABASE_FILES,
    ),
    (
        Mode.OTHER_OPTIONS, Status.MISMATCH, "num_levels is 5",
        LOAD_FILES | DATABASE_FILES,
    ),
    (
        Mode.OTHER_CACHE, Status.MISMATCH, "cache_size is 4096",
        LOAD_FILES | DATABASE_FILES,
    ),
    (
        Mode.PROBE_FAILS, Status.CRASHED,
        "code 1: open error: Corruption", ALL_FILES,
    ),
    (
        Mode.PROBE_MISSES, Status.UNREADABLE, "1 of 700", ALL_FILES,
    ),
    (Mode.PROBE_IS_SHORT, Status.UNREADABLE, "seekrandom", ALL_FILES),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "status", "reason", "files"), FAULTS, ids=[f[0] for f in FAULTS])
def test_a_fault_is_told_apart(
    tmp_path: Path, mode: Mode, status: Status, reason: str, files: set[str]
) -> None:
    program = install(tmp_path / "bin", mode)
    check(run(tmp_path, program), program, status, reason, files)


HANGS = [
    (Mode.HANGS, "during", DATABASE_FILES),
    (Mode.NEVER_SETTLES, "after", DATABASE_FILES),
    (Mode.GRANDCHILD_HOLDS_OUTPUT, "after", DATABASE_FILES),
    (Mode.IGNORES_SIGNALS, "during", DATABASE_FILES),
    (Mode.PROBE_HANGS, "reads after the load", DATABASE_FILES | PROBE_FILES),
]  # fmt: skip


@pytest.mark.parametrize(("mode", "when", "files"), HANGS, ids=[h[0] for h in HANGS])
def test_silence_ends_a_trial(tmp_path: Path, mode: Mode, when: str, files: set[str]) -> None:
    program = install(tmp_path / "bin", mode)
    outcome = run(tmp_path, program, silence_s=1)
    check(outcome, program, Status.TIMED_OUT, when, LOAD_FILES | files)
    assert str(ProcessTimeout("silence", 1)) in str(outcome.result.reason)


def test_work_without_end_is_ended(tmp_path: Path) -> None:
    program = install(tmp_path / "bin", Mode.SPINS)
    outcome = run(tmp_path, program, wall_s=1)
    check(outcome, program, Status.TIMED_OUT, str(ProcessTimeout("wall", 1)), LOAD_FILES)


def check(outcome: Outcome, program: Path, status: Status, reason: str, files: set[str]) -> None:
    check_fault(outcome, status, reason, files)
    assert all(path.is_file() for path in outcome.evidence.values())
    assert left_behind(program) == []


def test_options_that_rocksdb_refuses_are_refused(tmp_path: Path) -> None:
    changes: Settings = {"cache_index_and_filter_blocks": True, "cache_size": 0}
    result = run(tmp_path, install(tmp_path / "bin"), changes=changes).result
    assert result.status is Status.REFUSED
    assert "block cache is disabled" in (result.reason or "")


def a_file(path: Path) -> Path:
    path.write_text("this is no program\n")
    return path


def an_executable_text(path: Path) -> Path:
    path.write_text("this is no program\n")
    path.chmod(0o755)
    return path


def a_directory(path: Path) -> Path:
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path, "does not exist"),
        (a_file, "executable"),
        (an_executable_text, "not a program"),
        (a_directory, "executable"),
        (lambda path: Path("/bin/true"), "version"),
        (lambda path: Path("/bin/false"), "exit code 1"),
        (lambda path: Path("no-db_bench-on-the-path"), "does not exist"),
        (lambda path: install(path, Mode.WORKS) / "below-a-file", "does not exist"),
    ],
    ids=["missing", "text", "executable text", "directory", "true", "false", "name", "below"],
)
def test_no_db_bench_is_told_by_name(tmp_path: Path, make, why: str) -> None:
    program = make(tmp_path / "program")
    with pytest.raises(UserError) as raised:
        RocksDB(DbBench(str(program))).describe(tmp_path)
    assert str(program) in str(raised.value)
    assert why in str(raised.value)


def test_describe_tells_the_version(tmp_path: Path) -> None:
    program = install(tmp_path / "bin")
    facts = RocksDB(DbBench(str(program))).describe(tmp_path)
    assert (facts.version, facts.program, facts.assertions_enabled) == (
        "7.8.3", str(program), True,
    )  # fmt: skip
    assert left_behind(program) == []


def _digits_aside(options: dict[str, str]) -> dict[str, str | float]:
    """Numbers as numbers: RocksDB writes more digits down than it was given."""
    number = re.compile(r"\d+\.\d+")
    return {name: float(v) if number.fullmatch(v) else v for name, v in options.items()}


@pytest.mark.db_bench
@pytest.mark.parametrize("seed", [1, 2])
def test_the_stand_in_is_like_the_real_one(tmp_path: Path, seed: int) -> None:
    """Both run a random config; what lsmtune reads of it has the same names and options."""
    space = Rig("db_bench", tmp_path / "rig").space
    settings = space.settings(space.sample(np.random.default_rng(seed)))
    programs = {"real": "db_bench", "fake": str(install(tmp_path / "bin"))}
    outcomes = {}
    for name, program in programs.items():
        (tmp_path / name).mkdir()
        outcomes[name] = run(tmp_path / name, program, changes=settings)
        assert outcomes[name].result.status is Status.COMPLETE, outcomes[name].result.reason
    real, fake = (outcomes[name].result.measurement for name in programs)
    assert real is not None
    assert fake is not None
    optional = {"compaction_cpu_s", "cache_hit_data", "cache_hit_index", "cache_hit_filter"}
    assert set(real.metrics) - optional == set(fake.metrics) - optional
    texts = [parse_options(outcomes[name].evidence["OPTIONS"].read_text()) for name in programs]
    keys = {key for names in texts[0].sections.values() for key in names}
    assert keys == {key for names in texts[1].sections.values() for key in names}
    # What RocksDB computes itself and writes down the stand-in only repeats.
    computed = {"arena_block_size", "max_compaction_bytes"}
    as_run = [{k: v for k, v in m.as_run.items() if k not in computed} for m in (real, fake)]
    assert [_digits_aside(options) for options in as_run] == [_digits_aside(as_run[0])] * 2
