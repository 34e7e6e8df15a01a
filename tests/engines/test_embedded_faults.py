"""What the engine of embedded stores makes of drivers that fail."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lsmtune.engines import embedded
from lsmtune.engines.base import Places, Watch
from lsmtune.engines.embedded import Embedded
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import load
from lsmtune.trials import Base, Protocol, Status, TrialResult, TrialSpec
from lsmtune.workloads import Workload

PARTS = """{"part": "open", "version": "1.0"}
{"part": "load", "operations": 1000, "seconds": 1.0, "p50": 1, "p75": 1, "p99": 1, "p999": 1, \
"p9999": 1}
"""
PERCENTILES = '"p50": 1, "p75": 1, "p99": 1, "p999": 1, "p9999": 1'
WHOLE = f"""{PARTS}{{"part": "loaded"}}
no words of the store
{{"part": "reopened"}}
{{"part": "settle", "seconds": 0.1, "cpu_s": 0.1, "disk_write_bytes": 1000}}
{{"part": "get", {PERCENTILES}}}
{{"part": "get_missing", {PERCENTILES}}}
{{"part": "scan", {PERCENTILES}}}
{{"part": "end"}}
"""


def run(
    folder: Path,
    script: str,
    phase: Callable[[str], None] = lambda phase: None,
    store: str = "rocksdb",
    **limits: float,
) -> TrialResult:
    program = folder / "driver"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    settings = load("embedded").defaults(1) | {"store": store}
    spec = TrialSpec(
        settings=settings, workload=Workload(num=1000), seed=1,
        protocol=Protocol(**limits),
    )  # fmt: skip
    work = folder / "work"
    work.mkdir()
    base = Base(options="", settings=settings)
    places = Places(work, folder / "templates")
    return Embedded(str(program)).run(spec, base, places, Watch(phase)).result


@pytest.mark.parametrize(
    ("script", "status", "word"),
    [
        ("exit 0", Status.UNREADABLE, "reopened"),
        (f"cat <<E\n{PARTS}E\n", Status.UNREADABLE, "settle"),
        ("echo '{\"part\": garbage'", Status.UNREADABLE, "garbage"),
        (f"cat <<E\n{PARTS}E\necho 'put: IO error' >&2; exit 1", Status.CRASHED, "IO error"),
        (f"cat <<E\n{PARTS}E\necho 'open: IO error' >&2; exit 1", Status.CRASHED, "IO error"),
        ("echo 'open: Invalid argument' >&2; exit 1", Status.REFUSED, "Invalid argument"),
        ("echo 'put: No space left on device' >&2; exit 1", Status.OUT_OF_SPACE, "put: No space"),
        (f"cat <<E\n{PARTS}E\nkill -ABRT $$", Status.CRASHED, "SIGABRT"),
        (f"cat <<E\n{PARTS}E\nexit 3", Status.CRASHED, "code 3"),
    ],
)
def test_each_failure_has_its_status(
    tmp_path: Path, script: str, status: Status, word: str
) -> None:
    result = run(tmp_path, script)
    assert result.status is status
    assert word in str(result.reason)


@pytest.mark.parametrize("limits", [{"wall_limit_s": 0.5}, {"silence_limit_s": 0.5}])
def test_a_driver_that_hangs_is_ended(tmp_path: Path, limits: dict[str, float]) -> None:
    assert run(tmp_path, "sleep 60", **limits).status is Status.TIMED_OUT


def test_a_driver_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="make stores"):
        Embedded("lsmtune-no-such-driver")
    with pytest.raises(UserError, match=r"/bin/false.*code 1"):
        Embedded("/bin/false").describe(tmp_path)


def test_the_cpu_that_lsmtune_itself_uses_is_not_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_s: list[float] = []

    class Recording:
        def stop(self) -> "Recording":
            return self

        def others_cpu_percent(self, own_cpu_s: float) -> float:
            own_s.append(own_cpu_s)
            return 0.0

    def busy(_: str) -> None:
        until = time.process_time() + 0.2
        while time.process_time() < until:
            pass

    monkeypatch.setattr(embedded, "CpuMeter", Recording)
    result = run(tmp_path, f"cat <<E\n{WHOLE}E\n", busy, store="lmdb")
    assert result.status is Status.COMPLETE
    assert own_s[0] >= 3 * 0.2  # loading, settling, probing
