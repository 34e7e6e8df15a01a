"""RocksDB, driven by db_bench: what the field publishes with, in whatever version there is."""

import errno
import os
import time
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from lsmtune.engines.base import EngineFacts, Outcome, Progress, TrialFailedError
from lsmtune.engines.rocksdb.client import ClientFiles, run_banner, run_load, run_probe
from lsmtune.engines.rocksdb.command import banner_argv, load_argv, probe_argv
from lsmtune.engines.rocksdb.measure import LoadOutput, ProbeOutput, measure
from lsmtune.engines.rocksdb.read_back import newest_options, read_back
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.knobs.types import Settings
from lsmtune.metrics.db_bench import parse_banner
from lsmtune.metrics.measurement import Measurement
from lsmtune.metrics.rocksdb_log import summarise_log
from lsmtune.system.host import CpuMeter
from lsmtune.trials import Status, TrialResult, TrialSpec

__all__ = ["RocksDB"]


class RocksDB:
    """The engine contract on a db_bench program; `program` is a path or a name on PATH."""

    name = "rocksdb"

    def __init__(self, program: str) -> None:
        # It runs in the work directory: a path is one from here, only a plain name is on PATH.
        self._program = str(Path(program).absolute()) if os.sep in program else program

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of RocksDB."""
        return load(self.name)

    def base_settings(self, scale: Fraction) -> Settings:
        """db_bench's defaults of every knob, the sizes of the tree at the scale."""
        return self.catalogue.defaults(float(scale))

    def describe(self, workdir: Path) -> EngineFacts:
        """What db_bench prints of itself over one write; UserError when it is no db_bench."""
        files = _client_files(workdir, "describe")
        database = workdir / "describe"
        try:
            run_banner(banner_argv(self._program, database), database, files)
        except TrialFailedError as failure:
            raise UserError(f"{self._program} does not work as db_bench: {failure}") from failure
        banner = parse_banner(files.stdout_text(), files.stderr_text())
        if banner.rocksdb_version is None:
            raise UserError(f"{self._program} is no db_bench: it prints no RocksDB version")
        return EngineFacts(banner.rocksdb_version, self._program, bool(banner.assertions_enabled))

    def run(self, spec: TrialSpec, workdir: Path, progress: Progress) -> Outcome:
        """Load, settle, probe; the files that db_bench and RocksDB wrote are the evidence."""
        run = _Run(self._program, self.catalogue, spec, workdir)
        try:
            result = TrialResult(status=Status.COMPLETE, measurement=run.measure(progress))
        except TrialFailedError as failure:
            result = TrialResult(status=failure.status, reason=str(failure))
        except ParseError as error:
            result = TrialResult(status=Status.UNREADABLE, reason=str(error))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            result = TrialResult(status=Status.OUT_OF_SPACE, reason=f"the disk is full: {error}")
        return Outcome(result, run.evidence())


class _Run:
    """One trial in its work directory."""

    def __init__(self, program: str, catalogue: Catalogue, spec: TrialSpec, workdir: Path) -> None:
        self._program = program
        self._catalogue = catalogue
        self._spec = spec
        self._workdir = workdir
        self._database = workdir / "db"
        self._load_files = _client_files(workdir, "load")
        self._probe_files = _client_files(workdir, "probe")

    def measure(self, progress: Progress) -> Measurement:
        meter, own_cpu_s = CpuMeter(), time.process_time()
        load = self._load(progress)
        as_run = read_back(
            self._catalogue,
            self._spec.settings,
            newest_options(self._database).read_text(),
            load.log,
        )
        probe = self._probe(progress)
        own_cpu_s = time.process_time() - own_cpu_s + load.run.exit.cpu_s + probe.exit.cpu_s
        others = meter.stop().others_cpu_percent(own_cpu_s)
        measurement = measure(self._spec, load, probe, as_run)
        return measurement.model_copy(
            update={"metrics": {**measurement.metrics, "others_cpu_percent": others}}
        )

    def evidence(self) -> dict[str, Path]:
        """The files that exist, by the name under which they are kept."""
        named = {
            "load-stdout.txt": self._load_files.stdout,
            "load-stderr.txt": self._load_files.stderr,
            "probe-stdout.txt": self._probe_files.stdout,
            "probe-stderr.txt": self._probe_files.stderr,
            "LOG": self._log(),
        }
        # The first one is the load's; the probe's open wrote another.
        for path in sorted(self._database.glob("OPTIONS-*"))[:1]:
            named["OPTIONS"] = path
        return {name: path for name, path in named.items() if path.is_file()}

    def _load(self, progress: Progress) -> LoadOutput:
        argv = load_argv(self._program, self._spec, self._database)
        run = run_load(argv, self._spec, self._database, self._load_files, progress)
        if not self._log().is_file():
            raise TrialFailedError(Status.UNREADABLE, "RocksDB wrote no LOG")
        return LoadOutput(
            run,
            self._load_files.stdout_text(),
            self._load_files.stderr_text(),
            summarise_log(self._log().read_text(errors="replace")),
            self._database,
        )

    def _probe(self, progress: Progress) -> ProbeOutput:
        argv = probe_argv(self._program, self._spec, self._database)
        status = run_probe(argv, self._spec, self._database, self._probe_files, progress)
        return ProbeOutput(status, self._probe_files.stdout_text())

    def _log(self) -> Path:
        # The probe's open has moved the load's log aside.
        old = sorted(self._database.glob("LOG.old.*"))
        return old[0] if old else self._database / "LOG"


def _client_files(workdir: Path, name: str) -> ClientFiles:
    return ClientFiles(workdir / f"{name}-stdout.txt", workdir / f"{name}-stderr.txt")
