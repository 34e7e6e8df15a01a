"""RocksDB, driven by db_bench: what the field publishes with, in whatever version there is."""

from functools import cached_property
from pathlib import Path

from lsmtune.engines.attempt import attempted
from lsmtune.engines.base import (
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
)
from lsmtune.engines.read_back import linked_codecs, newest_options
from lsmtune.engines.rocksdb.client import Client, ClientFiles
from lsmtune.engines.rocksdb.command import banner_argv
from lsmtune.engines.rocksdb.options import (
    check_not_negative,
    merged_options,
    own_options,
    read_settings,
    version_notes,
)
from lsmtune.engines.rocksdb.trial import Trial
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.metrics.db_bench import parse_banner
from lsmtune.metrics.options_file import parse_options
from lsmtune.system.launch import NotStartedError, from_here
from lsmtune.trials import Base, TrialSpec

__all__ = ["INSTALL_DB_BENCH", "RocksDB"]

INSTALL_DB_BENCH = (
    "install db_bench (Debian: apt-get install rocksdb-tools), or name your db_bench with "
    "--db-bench"
)
"""What to do if db_bench cannot be started."""


class RocksDB:
    """The engine contract on a db_bench program; `program` is a path or a name on PATH."""

    name = "rocksdb"

    def __init__(self, program: str) -> None:
        self._program = from_here(program)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of RocksDB."""
        return load(self.name)

    def describe(self, workdir: Path) -> EngineFacts:
        """What db_bench tells of itself over one write; UserError when it is no db_bench."""
        database = workdir / "describe"
        files = ClientFiles.of(workdir, "describe")
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
            raise UserError(f"{error}; {INSTALL_DB_BENCH}") from error
        return EngineFacts(
            banner.rocksdb_version,
            self._program,
            bool(banner.assertions_enabled),
            own_options(options),
            linked_codecs(database),
        )

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """db_bench's defaults, or the user's options as this RocksDB runs them."""
        if own is None:
            settings = read_settings(self.catalogue, facts.options)
            return Base(options=facts.options, settings=settings, codecs=facts.codecs)
        try:
            given = parse_options(own.options)
            check_not_negative(given, own.family)
            merged, left_out = merged_options(facts.options, given, own.family)
        except ParseError as error:
            raise UserError(f"base: {error}") from error
        as_run = self._as_run(merged, workdir)
        settings = read_settings(self.catalogue, as_run)
        return Base(
            options=as_run,
            settings=settings,
            codecs=facts.codecs,
            given=own.options,
            notes=version_notes(given, facts.version),
            left_out=left_out,
        )

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Load, settle, probe; the files that db_bench and RocksDB wrote are the evidence."""
        trial = Trial(self._program, self.catalogue, spec, base, places)
        result = attempted(lambda: trial.measure(watch))
        return Outcome(result, trial.evidence())

    def _as_run(self, options: str, workdir: Path) -> str:
        """The options as RocksDB writes them down after it has opened a database with them."""
        database, file = workdir / "base", workdir / "base.ini"
        file.write_text(options)
        files = ClientFiles.of(workdir, "base")
        try:
            Client(banner_argv(self._program, database, file), database, files).run_banner()
        except TrialFailedError as failure:
            raise UserError(
                f"base: RocksDB does not run with the options of this file: {failure}"
            ) from failure
        return own_options(newest_options(database).read_text())
