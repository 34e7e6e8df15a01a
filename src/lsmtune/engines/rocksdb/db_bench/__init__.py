"""RocksDB's own program db_bench runs the workload."""

from collections.abc import Mapping
from pathlib import Path

from lsmtune.engines.base import EngineFacts, TrialFailedError, Watch
from lsmtune.engines.read_back import linked_codecs, newest_options
from lsmtune.engines.rocksdb.bench import Files, LoadOutput, Part, ProbeOutput, StoreOpener
from lsmtune.engines.rocksdb.best_case import BestCase
from lsmtune.engines.rocksdb.db_bench.client import Client
from lsmtune.engines.rocksdb.db_bench.command import (
    Command,
    Phase,
    banner_argv,
    build_phase,
    flags_of,
    load_phase,
    one_read,
)
from lsmtune.engines.rocksdb.db_bench.opener import BenchOpener
from lsmtune.engines.rocksdb.db_bench.output import load_output, probe_output
from lsmtune.engines.rocksdb.opener import Opener
from lsmtune.engines.rocksdb.options import own_options
from lsmtune.engines.rocksdb.watching import settled_log
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.catalogue import rocksdb_catalogue
from lsmtune.knobs.types import Settings
from lsmtune.metrics.db_bench import parse_banner
from lsmtune.system.launch import NotStartedError, from_here, linked_library
from lsmtune.trials import Protocol
from lsmtune.workloads import Workload

__all__ = ["INSTALL_DB_BENCH", "DbBench"]

_LIBRARY = "librocksdb"
INSTALL_DB_BENCH = (
    "install db_bench (Debian: apt-get install rocksdb-tools), or name your db_bench with "
    "--db-bench"
)
"""What to do if db_bench cannot be started."""


class DbBench:
    """A db_bench; `program` is a path or a name on PATH."""

    cannot_set: frozenset[str] = frozenset()

    def __init__(self, program: str) -> None:
        self._program = from_here(program)

    @property
    def library(self) -> Path:
        """The library of RocksDB that the system loads for this program.

        UserError if RocksDB is linked into the program itself.
        """
        found = linked_library(self._program, _LIBRARY)
        if found is None:
            raise UserError(
                f"program {self._program}: RocksDB is a part of this program, so lsmtune cannot "
                "open your store with it; ",
                Argument("library", flag="--library"),
                " names a library that can",
            )
        return found

    def opener(self, folder: Path, limit_s: float, load: Workload) -> StoreOpener:
        """Return what opens stores: the library of this program, else the program itself."""
        found = linked_library(self._program, _LIBRARY)
        if found is None:
            return BenchOpener(self._program, folder, limit_s, load)
        return Opener(found, folder, limit_s)

    @property
    def identity(self) -> Mapping[str, str]:
        """The program."""
        return {"program": self._program}

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the facts from a run that writes one record; UserError if it is no db_bench."""
        database = workdir / "describe"
        files = Files.of(workdir, "describe")
        try:
            Client(banner_argv(self._program, database, None), database, files).run_banner()
            banner = parse_banner(files.stdout_text(), files.stderr_text())
            if banner.rocksdb_version is None:
                reason = "this program is not db_bench, because it prints no RocksDB version"
                raise UserError(f"program {self._program}: {reason}")
            options = newest_options(database).read_text()
        except TrialFailedError as failure:
            reason = (
                f"program {self._program}: lsmtune cannot run this program as db_bench: {failure}"
            )
            raise UserError(reason) from failure
        except NotStartedError as error:
            raise UserError(error.message, f"; {INSTALL_DB_BENCH}") from error
        return EngineFacts(
            banner.rocksdb_version,
            self._program,
            bool(banner.assertions_enabled),
            own_options(options),
            linked_codecs(database),
        )

    def notes(self, settings: Settings) -> tuple[str, ...]:
        """Return no remarks, because the db_bench belongs to the user."""
        return ()

    def as_run(self, options: str, workdir: Path) -> str:
        """Return the options as RocksDB writes them after it has opened a new database."""
        database, file = workdir / "base", workdir / "base.ini"
        file.write_text(options)
        files = Files.of(workdir, "base")
        Client(banner_argv(self._program, database, file), database, files).run_banner()
        return own_options(newest_options(database).read_text())

    def load(self, part: Part, limits: Protocol, watch: Watch) -> LoadOutput:
        """Run the benchmark of the part, pause db_bench until the tree has settled."""
        phase, operations = _phase(part)
        command = Command(self._program, part.workload, part.seed, part.database)
        argv = command.held(phase, *_options(part))
        client = Client(argv, part.database, part.files)
        run = client.run_held(phase.benchmark, limits, watch, BestCase(part.workload))
        return load_output(run, phase, operations, part, settled_log(part))

    def probe(self, part: Part, limits: Protocol) -> ProbeOutput:
        """Run the benchmarks of the read probe."""
        command = Command(self._program, part.workload, part.seed, part.database)
        argv = command.probe(limits, *_options(part))
        status = Client(argv, part.database, part.files).run_to_end(
            "lsmtune stopped db_bench during the reads after the load",
            limits.wall_limit_s,
            limits.silence_limit_s,
        )
        return probe_output(status, part.files)


def _phase(part: Part) -> tuple[Phase, int | None]:
    """Return the benchmark of a part, and its operations of all clients if they are known."""
    load = part.workload
    if part.name == "build":
        return build_phase(load), load.build_writes
    if part.name == "debt":
        return one_read(), 1
    each = load.client_operations
    return load_phase(load), None if each is None else each * load.threads


def _options(part: Part) -> tuple[Path, list[str]]:
    """Write the options into a file; return the file, and the flags for the other options."""
    file = part.workdir / f"{part.name}.ini"
    file.write_text(part.options)
    return file, flags_of(rocksdb_catalogue(), part.settings)
