"""MyRocks: RocksDB in a private MariaDB server, loaded by sysbench."""

import shutil
from contextlib import AbstractContextManager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from lsmtune.engines.base import (
    Deployed,
    EngineFacts,
    Live,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
    attempted,
)
from lsmtune.engines.myrocks.entry import MYROCKS
from lsmtune.engines.myrocks.options import (
    as_my_cnf,
    left_out,
    read_base,
    read_settings,
    with_filter,
)
from lsmtune.engines.myrocks.rehearsal import Rehearsing
from lsmtune.engines.myrocks.server import ServerFiles, install, running
from lsmtune.engines.myrocks.trial import Trial
from lsmtune.engines.read_back import linked_codecs, newest_options
from lsmtune.engines.rocksdb.options import own_options
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.rehearsal import Rehearsal
from lsmtune.system.launch import from_here
from lsmtune.trials import Base, TrialSpec

__all__ = ["MyRocks"]

_CLIENT, _INSTALL_CLIENT = "pymysql", "pip install 'lsmtune[myrocks]'"
"""The package that speaks to the server, and how to install it."""
_NEEDED = ("mariadb-install-db", "sysbench")


class MyRocks:
    """The engine contract on a MariaDB server; `program` is a path of it or a name on PATH."""

    name = "myrocks"
    times_matter = True

    def __init__(self, program: str) -> None:
        self._program = from_here(program)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of MyRocks, of the default column family."""
        return MYROCKS.catalogue()

    def describe(self, workdir: Path) -> EngineFacts:
        """What a new server tells of itself; UserError when it cannot be used."""
        if find_spec(_CLIENT) is None:
            raise UserError(f"package {_CLIENT}: not installed; run `{_INSTALL_CLIENT}`")
        for program in _NEEDED:
            if shutil.which(program) is None:
                raise UserError(
                    f"program {program}: not found; run `make myrocks` to install MyRocks"
                )
        files = _folder(workdir, "describe")
        try:
            install(files)
            with running(self._program, files, {}) as server:
                [(version,)] = server.query("SELECT VERSION()")
        except TrialFailedError as failure:
            reason = (
                f"program {self._program}: lsmtune cannot run this program as a MyRocks server: "
                f"{failure}"
            )
            raise UserError(reason) from failure
        return EngineFacts(
            str(version),
            self._program,
            assertions_enabled=False,
            options=own_options(newest_options(files.store).read_text()),
            codecs=linked_codecs(files.store),
        )

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """The server's defaults, or RocksDB's variables of the user's my.cnf as it runs them."""
        files = _folder(workdir, "base")
        given = {} if own is None else read_base(own.options)
        try:
            install(files)
            variables = {f"rocksdb_{name}": value for name, value in given.items()}
            with running(self._program, files, variables) as server:
                told = server.variables()
                options = own_options(newest_options(files.store).read_text())
        except TrialFailedError as failure:
            if own is None:
                reason = f"the MyRocks server does not run with its default options: {failure}"
            else:
                reason = f"the MyRocks server does not run with the options of this file: {failure}"
            raise UserError(f"base: {reason}") from failure
        options = with_filter(options, given)
        return Base(
            options=options,
            settings=read_settings(self.catalogue, options, told),
            codecs=facts.codecs,
            # Nothing else of the user's file is kept: it may hold passwords.
            given=None if own is None else as_my_cnf(given),
            left_out=() if own is None else left_out(own.options),
        )

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Restore, load, settle, check; what server and sysbench wrote is the evidence."""
        trial = Trial(self._program, self.catalogue, spec, base, places)
        result = attempted(lambda: trial.measure(watch))
        return Outcome(result, trial.evidence())

    def rehearse(
        self, spec: TrialSpec, base: Base, files: Deployed, places: Places, watch: Watch
    ) -> Rehearsal:
        """Run the baseline, then start servers on copies of its data with both files."""
        own = ServerFiles(places.workdir)
        if files.new_store:
            install(own)
        else:
            Trial(self._program, self.catalogue, spec, base, places).leave_store(watch)
        watch.phase("open")
        rehearsing = Rehearsing(self._program, files, own, spec, base)
        return rehearsing.on_new() if files.new_store else rehearsing.on_existing()

    def serve(
        self, spec: TrialSpec, base: Base, places: Places, watch: Watch
    ) -> AbstractContextManager[Live]:
        """A private server under a load without end."""
        return Trial(self._program, self.catalogue, spec, base, places).serve(watch)


def _folder(workdir: Path, name: str) -> ServerFiles:
    folder = workdir / name
    folder.mkdir()
    return ServerFiles(folder)
