"""MyRocks: RocksDB in a private MariaDB server, loaded by sysbench."""
# ruff: noqa: S608 - names of schema and tables are lsmtune's own

import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from importlib.util import find_spec
from itertools import count
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
from lsmtune.engines.libraries.steps import StepFailedError
from lsmtune.engines.myrocks.entry import MYROCKS
from lsmtune.engines.myrocks.options import (
    as_my_cnf,
    left_out,
    read_base,
    read_settings,
    with_filter,
)
from lsmtune.engines.myrocks.server import (
    DATABASE,
    PRIVATE_FLAGS,
    Server,
    ServerFiles,
    install,
    last_error,
    private_options,
    run_client,
    running,
)
from lsmtune.engines.myrocks.trial import Trial
from lsmtune.engines.read_back import linked_codecs, newest_options
from lsmtune.engines.rehearsing import Failure, failed_fields, rehearsed
from lsmtune.engines.rocksdb.options import own_options
from lsmtune.engines.templates import link_database
from lsmtune.errors import UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.metrics.options_file import version_of_options
from lsmtune.rehearsal import Rehearsal
from lsmtune.system.launch import from_here
from lsmtune.system.workdir import create_workdir, remove_workdir
from lsmtune.trials import Base, Status, TrialSpec

__all__ = ["MyRocks"]

_CLIENT, _INSTALL_CLIENT = "pymysql", "pip install 'lsmtune[myrocks]'"
"""The package that speaks to the server, and how to install it."""
_NEEDED = ("mariadb-install-db", "sysbench")

_OWN = f"{DATABASE}.lsmtune_rehearsal_"
_ROWS = 2000
_BULK = "SET STATEMENT rocksdb_bulk_load = 1 FOR "
_LEVELED = """SELECT CF_NAME FROM information_schema.ROCKSDB_CF_OPTIONS
WHERE OPTION_TYPE = 'COMPACTION_STYLE' AND VALUE = 'kCompactionStyleLevel'"""
_TABLES = f"""SELECT TABLE_NAME FROM information_schema.TABLES
WHERE TABLE_SCHEMA = '{DATABASE}' ORDER BY TABLE_NAME"""
_ERRORS = """SELECT VALUE FROM information_schema.ROCKSDB_DBSTATS
WHERE STAT_TYPE = 'DB_BACKGROUND_ERRORS'"""
_LEFT = ("LOG", "LOCK")
_PRIVATE = "the rehearsal ran a server without network, binary log and InnoDB"

_Digest = dict[str, tuple[int, int]]
"""Number of rows and checksum of each table."""

_OF_THE_STORE = ("rocksdb_datadir", "rocksdb_wal_dir", "rocksdb_log_dir")
"""Folders that are the one of RocksDB in the copy, where its files and its WAL are."""
_OUTSIDE = re.compile(r"""(?:^|[;:,"'])\s*[/~]|\.\.""")
"""A path that may lead out of the data directory; all others start there."""
_ONLY_READ = (
    "basedir", "plugin_dir", "lc_messages_dir", "character_sets_dir", "ft_stopword_file",
    "file_key_management_filename",
)  # fmt: skip
_SSL = "ssl_"
_OFF = ("log_bin", "port", "bind_address", "wsrep_on")
"""Options that a private server does not use, because it does not replicate or listen."""
NO_FOLDERS = (*_OFF, "user", "init_file", "innodb", "default_storage_engine",
              "default_tmp_storage_engine")  # fmt: skip
"""Replaced options that name no folder or file of a server."""
_FOLDERS = ("dir", "directory", "path", "priv")
"""How the names of options end whose value is a folder."""
_READ_S = 30.0


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


class Rehearsing:
    """The tries of one rehearsal, on copies of one server's data.

    Next to the tables of the workload, there is one table in each column family whose rows are
    written with each file.
    """

    def __init__(
        self, program: str, files: Deployed, data: ServerFiles, spec: TrialSpec, base: Base
    ) -> None:
        self._program = program
        self._files = files
        self._data = data
        data.workdir.chmod(0o700)  # the user's my.cnf may have passwords
        self._limit_s = spec.protocol.wall_limit_s
        self._version = version_of_options(base.options) or ""
        families = (DEFAULT_FAMILY, *spec.workload.column_families)
        self._tables = {name: f"{_OWN}{number}" for number, name in enumerate(families)}
        self._started = time.monotonic()
        self._numbers = count()
        self._replaced: dict[str, None] = {}
        self._digest: _Digest = {}

    def on_existing(self) -> Rehearsal:
        """Return what servers on copies of the data did with both files.

        TrialFailedError if a server with the undo file, which has the baseline, does not work.
        """
        return self._result(*rehearsed(self._files, self._prepare, self._tried))

    def on_new(self) -> Rehearsal:
        """Return whether a new server works with the exported file, and starts with it again."""
        steps = ("make", "write", "flush", "compact", "digest")
        try:
            [made] = self._use(self._data, self._files.exported, *steps)
            [self._digest] = self._use(self._data, self._files.exported, "digest")
            _check(made, self._digest)
        except StepFailedError as failure:
            return self._result(("exported", failure))
        return self._result()

    def _prepare(self) -> None:
        """Bring the data into the state that each try begins with."""
        steps = ("make", "write", "flush", "digest")
        [self._digest] = self._use(self._data, self._files.undo, *steps)

    def _tried(self, exported: str) -> Failure | None:
        """Use a copy with a file, then with the undo file; return what failed, or None."""
        steps = ("digest", "write", "digest", "flush", "compact", "digest")
        with self._copy() as files:
            try:
                found, written, compacted = self._use(files, exported, *steps)
                _check(self._digest, found)
                _check(written, compacted)
            except StepFailedError as failure:
                return "exported", failure
            try:
                [back] = self._use(files, self._files.undo, "digest", "write", "flush")
                _check(compacted, back)
            except StepFailedError as failure:
                return "undo", failure
        return None

    def _use(self, files: ServerFiles, text: str, *steps: str) -> list[_Digest]:
        """Start a server with a my.cnf, carry out steps, stop it; return the digests."""

        def text_of(files: ServerFiles, socket: Path, _: Mapping[str, str]) -> str:
            own, replaced = private_cnf(text, files, socket)
            self._replaced |= dict.fromkeys(replaced)
            return own

        step, digests = "open", []
        try:
            with running(self._program, files, {}, text_of) as server:
                server.answer_s = self._limit_s
                for step in steps:
                    if step == "digest":
                        digests.append(_digest(server))
                    else:
                        getattr(self, f"_{step}")(server)
                step = "close"
        except TrialFailedError as failure:
            if failure.status is Status.OUT_OF_SPACE:
                raise
            refused = failure.status is Status.REFUSED
            words = last_error(files) if refused else str(failure)
            raise StepFailedError(step, words.partition("[ERROR] ")[2] or words) from failure
        return digests

    def _make(self, server: Server) -> None:
        """Make and fill one table in each column family."""
        server.query(f"CREATE DATABASE IF NOT EXISTS {DATABASE}")
        rows = ",".join(f"({key}, REPEAT(SHA1({key}), 5))" for key in range(_ROWS))
        for family, table in self._tables.items():
            server.query(
                f"CREATE TABLE {table} (k INT, v VARBINARY(200), PRIMARY KEY (k) "
                f"COMMENT '{family}') ENGINE = RocksDB"
            )
        bulk = _bulk(server)
        for family, table in self._tables.items():
            server.query(f"{bulk.get(family, '')}INSERT INTO {table} VALUES {rows}")

    def _write(self, server: Server) -> None:
        """Change some rows in each column family, and add some."""
        bulk = _bulk(server)
        for family, table in self._tables.items():
            server.query(f"UPDATE {table} SET v = REPEAT(SHA1(v), 5) WHERE k % 7 = 0")
            server.query(
                f"{bulk.get(family, '')}INSERT INTO {table} "
                f"SELECT 1 + k + (SELECT MAX(k) FROM {table}), v FROM {table} "
                "WHERE k % 20 = 0 ORDER BY k"
            )

    def _flush(self, server: Server) -> None:
        server.query("SET GLOBAL rocksdb_force_flush_memtable_now = 1")
        self._check_errors(server)

    def _compact(self, server: Server) -> None:
        for family in self._tables:
            server.query(f"SET GLOBAL rocksdb_compact_cf = '{family}'")
        self._check_errors(server)

    def _check_errors(self, server: Server) -> None:
        if (found := server.query(_ERRORS)) != [(0,)]:
            reason = f"{found[0][0]} flushes or compactions failed"
            raise TrialFailedError(Status.CRASHED, reason)

    @contextmanager
    def _copy(self) -> Iterator[ServerFiles]:
        folder = create_workdir(self._data.workdir, f"try{next(self._numbers)}")
        files = ServerFiles(folder)
        link_database(self._data.data, files.data, _LEFT)
        yield files
        remove_workdir(folder)

    def _result(self, failed: Failure | None = None, causes: tuple[str, ...] = ()) -> Rehearsal:
        others = [name for name in self._replaced if name in NO_FOLDERS]
        remark = f"{_PRIVATE}, so these options of the file had no effect: {', '.join(others)}"
        return Rehearsal(
            version=self._version,
            new_store=self._files.new_store,
            families=tuple(self._tables),
            records=sum(rows for rows, _ in self._digest.values()),
            replaced=tuple(name for name in self._replaced if name not in NO_FOLDERS),
            seconds=time.monotonic() - self._started,
            remarks=(remark,) if others else (),
            **failed_fields(failed, causes),
        )


def _bulk(server: Server) -> Mapping[str, str]:
    """Return what makes an INSERT put its rows into the last level, for each family that needs it.

    A store in use has most of its data there. Bulk loading fails with universal compaction, which
    compacts into the last level anyway.
    """
    return {str(family): _BULK for (family,) in server.query(_LEVELED)}


def _digest(server: Server) -> _Digest:
    """Read all rows; return the digest. TrialFailedError if a table cannot be read."""
    tables = [f"{DATABASE}.{name}" for (name,) in server.query(_TABLES)]
    counts = " UNION ALL ".join(f"SELECT '{table}', COUNT(*) FROM {table}" for table in tables)
    rows, sums = server.query(counts), server.query(f"CHECKSUM TABLE {', '.join(tables)}")
    if unread := [table for table, checksum in sums if checksum is None]:
        raise TrialFailedError(Status.CRASHED, f"the server cannot read the table {unread[0]}")
    checksums = {str(table): int(str(checksum)) for table, checksum in sums}
    return {str(table): (int(str(number)), checksums[str(table)]) for table, number in rows}


def _check(before: _Digest, found: _Digest) -> None:
    """Raise StepFailedError if a table has other rows than before."""
    for table, (rows, _) in before.items():
        if found.get(table) != before[table]:
            now = found.get(table, (0, 0))[0]
            how = f"{now} rows, {rows} before" if now != rows else "other values than before"
            raise StepFailedError("keys", f"table {table}: {how}")


def private_cnf(text: str, files: ServerFiles, socket: Path) -> tuple[str, tuple[str, ...]]:
    """Return a my.cnf that includes this text, and the options of the text that it replaces.

    The text stays as it is, to the byte. Of an option that is set twice, the server uses the last
    value, but the first `user`. `my_print_defaults` reads the text as the server does, with the
    files that it includes. TrialFailedError if it is no my.cnf.
    """
    exported = files.workdir / "exported.cnf"
    exported.write_text(text, encoding="utf-8", errors="surrogateescape")
    argv = ["my_print_defaults", f"--defaults-file={exported}", "--mysqld"]
    _, printed = run_client(argv, files, "options", _READ_S)
    own = {n.replace("-", "_"): str(v) for n, v in private_options(files, socket).items()}
    # The statements of an init_file may name files to write.
    own |= {"init_file": "", "loose_wsrep_on": "OFF"}
    inside, replaced = {}, []
    for line in printed.splitlines():
        name, _, value = line.removeprefix("--").partition("=")
        plain = name.replace("-", "_").removeprefix("loose_")
        if plain in _OF_THE_STORE:
            inside[name] = str(files.store)
        elif plain not in own and _OUTSIDE.search(value) and not _is_only_read(plain):
            inside[name] = _inside(files.workdir / plain, value)
        elif plain not in _OFF and own.get(plain, value) == value:
            continue
        replaced.append(plain)
    first = [f"user={own['user']}"] if "user" in own else []
    lines = ["[mysqld]", *first, f"!include {exported}", "[mysqld]", *PRIVATE_FLAGS]
    # Without quotes, the folder #rocksdb would begin a comment.
    lines += [f'{name}="{value}"' for name, value in {**inside, **own}.items()]
    return "\n".join(lines) + "\n", tuple(dict.fromkeys(replaced))


def _is_only_read(name: str) -> bool:
    return name in _ONLY_READ or name.startswith(_SSL)


def _inside(folder: Path, value: str) -> str:
    """Make a folder of the copy, and return it or a file in it, as the option needs."""
    folder.mkdir(exist_ok=True)
    return str(folder if folder.name.endswith(_FOLDERS) else folder / Path(value).name)
