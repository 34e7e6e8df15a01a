"""RocksDB, driven by db_bench: what the field publishes with, in whatever version there is."""

import re
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
    MergedOptions,
    ignored,
    merged_options,
    own_options,
    read_own,
    read_settings,
    with_filter_bits,
)
from lsmtune.engines.rocksdb.trial import Trial
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.knobs.option_text import Place
from lsmtune.metrics.db_bench import parse_banner
from lsmtune.metrics.options_file import OptionsFile
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
        given, notes = read_own(own, facts.version)
        try:
            merged, as_run = self._merged(facts.options, given, own.family, workdir)
        except ParseError as error:
            raise UserError(f"base: {error}") from error
        settings = read_settings(self.catalogue, as_run)
        return Base(
            options=as_run,
            settings=settings,
            codecs=facts.codecs,
            given=own.options,
            notes=notes,
            left_out=(*merged.left_out, *ignored(merged, as_run)),
        )

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Load, settle, probe; the files that db_bench and RocksDB wrote are the evidence."""
        trial = Trial(self._program, self.catalogue, spec, base, places)
        result = attempted(lambda: trial.measure(watch))
        return Outcome(result, trial.evidence())

    def _merged(
        self, own: str, given: OptionsFile, family: str, workdir: Path
    ) -> tuple[MergedOptions, str]:
        """Return the options of the user's family, and how RocksDB writes them down.

        RocksDB names the first option that it does not have, so such options leave one by one.
        """
        unknown: set[Place] = set()
        while True:
            merged = merged_options(own, given, family, unknown)
            try:
                return merged, self._as_run(merged.text, workdir)
            except TrialFailedError as failure:
                refused = next((p for p in merged.unprinted if _names(failure, p[1])), None)
                if refused is None:
                    reason = f"base: RocksDB does not run with the options of this file: {failure}"
                    raise UserError(reason) from failure
                unknown.add(refused)

    def _as_run(self, options: str, workdir: Path) -> str:
        """Return the options as RocksDB writes them down after it has opened a database."""
        database, file = workdir / "base", workdir / "base.ini"
        file.write_text(options)
        files = ClientFiles.of(workdir, "base")
        Client(banner_argv(self._program, database, file), database, files).run_banner()
        written = own_options(newest_options(database).read_text())
        return with_filter_bits(written, options)


def _names(failure: TrialFailedError, key: str) -> bool:
    return re.search(rf"option\b.*\b{key}\b", str(failure)) is not None
