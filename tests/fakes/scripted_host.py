"""A scheduler or a worker as a process of its own; the engine of the worker is scripted.

The settings of a trial say what it gives: `value` is its write_amp, `seconds` how long it runs.
Trials of a study have the knobs of RocksDB instead: see `study_value`.
"""

import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

import lsmtune
from lsmtune.engines.base import Engine, Outcome, Places, Watch
from lsmtune.hosts import this_host
from lsmtune.hosts.address import Address, check_safe, parse_address
from lsmtune.hosts.certificates import security
from lsmtune.hosts.extra import silence_dask
from lsmtune.hosts.scheduler import run_scheduler
from lsmtune.hosts.task import HostResult
from lsmtune.hosts.this_host import Outbox
from lsmtune.hosts.worker import run_worker
from lsmtune.system.cancelling import check_cancelled
from lsmtune.system.host import describe_host
from lsmtune.system.write import write_whole
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, Origin, TrialResult, TrialSpec

RAN = "ran.txt"
"""File in the home of a worker: one line for each trial that began, one for each that ended."""
KEPT = "kept.txt"
"""File in the home of a worker: a line for each attempt whose result is in the outbox."""


def _engine(home: Path) -> Engine:
    def script(spec: TrialSpec) -> TrialResult:
        _note(home / RAN, f"began {spec.seed}")
        seconds = spec.settings.get("seconds", os.environ.get("TEST_SECONDS", "0"))
        end_s = time.monotonic() + float(seconds)
        while time.monotonic() < end_s:
            check_cancelled()
            time.sleep(0.01)
        _note(home / RAN, f"ended {spec.seed}")
        value = float(spec.settings.get("value", study_value(spec)))
        others = float(os.environ.get("TEST_OTHERS_PERCENT", "0"))
        result = measured(write_amp=value * _level(home), total_s=1.0, others_cpu_percent=others)
        version = os.environ.get("TEST_ENGINE", "0.0.0")
        assert result.measurement is not None
        other = result.measurement.model_copy(update={"engine_version": version})
        return result.model_copy(update={"measurement": other})

    engine = _Engine(script)
    engine.times_matter = False
    return engine


def _level(home: Path) -> float:
    """How this host differs from others, perhaps only after so many runs."""
    began = sum(line.startswith("began") for line in (home / RAN).read_text().splitlines())
    is_so = began > int(os.environ.get("TEST_LEVEL_AFTER", "0"))
    return float(os.environ.get("TEST_LEVEL", "1")) if is_so else 1.0


def study_value(spec: TrialSpec) -> float:
    """What a trial of a study gives: larger blocks are better."""
    return 1e4 / float(spec.settings.get("block_size", 1))


class _Engine(ScriptedEngine):
    """It also keeps random bytes as evidence, if the settings say how many."""

    @property
    def library(self) -> Origin:
        return Origin(source="test", sha256=os.environ.get("TEST_LIBRARY", "0" * 64))

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        outcome = super().run(spec, base, places, watch)
        if float(spec.settings.get("block_size", 0)) > float(os.environ.get("TEST_LARGEST", "inf")):
            crash = {"status": "crashed", "reason": "its blocks are too large"}
            return Outcome(TrialResult.model_validate(crash), outcome.evidence)
        if number := int(spec.settings.get("evidence_bytes", 0)):
            large = places.workdir / "large.bin"
            large.write_bytes(os.urandom(number))
            outcome.evidence["large.bin"] = large
        return outcome


class _Outbox(Outbox):
    """It also notes which results it keeps."""

    def put(self, result: HostResult, files: dict[str, Path]) -> None:
        super().put(result, files)
        _note(self._folder.parent / KEPT, result.attempt)


def _note(path: Path, line: str) -> None:
    with path.open("a") as file:
        file.write(f"{line}\n")


def main(role: str, address: str, folder: str, certificates: str) -> None:
    """Run the process; a worker reads its other settings from the environment."""
    home, keys = Path(folder), Path(certificates) if certificates else None
    if os.environ.get("DASK_LOGGING__DISTRIBUTED") is None:
        silence_dask()
    place = parse_address(address)
    check_safe(place, has_certificates=keys is not None)
    if role == "scheduler":
        ttl_s = float(os.environ.get("TEST_TTL_S", "3"))

        def ready(found: Address, _: str) -> None:
            write_whole(home / "address", found.text)

        run_scheduler(place, keys and security(keys, "scheduler"), ready, worker_ttl_s=ttl_s)
    else:
        this_host.Outbox = _Outbox  # type: ignore[misc]
        this_host.__version__ = os.environ.get("TEST_VERSION", lsmtune.__version__)
        if "TEST_KERNEL" in os.environ:
            facts = replace(describe_host(), kernel=os.environ["TEST_KERNEL"])
            this_host.describe_host = lambda: facts
        if "TEST_CLOCK_S" in os.environ:
            own_clock, ahead_s = time.time, float(os.environ["TEST_CLOCK_S"])
            time.time = lambda: own_clock() + ahead_s
        if "TEST_FILE_BYTES" in os.environ:
            # As on a full disk: a file cannot become larger.
            most = int(os.environ["TEST_FILE_BYTES"])
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        orphan_s = float(os.environ.get("TEST_ORPHAN_S", "60"))

        def say(text: str) -> None:
            print(text, flush=True)

        run_worker(
            place,
            home,
            keys and security(keys, "worker"),
            say,
            orphan_s=orphan_s,
            make_engine=lambda _: _engine(home),
        )


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except lsmtune.UserError as error:
        sys.exit(f"lsmtune: {error}")
