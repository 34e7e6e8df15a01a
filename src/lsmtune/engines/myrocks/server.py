"""A private MariaDB server with RocksDB: its data, its socket, its end; never the system's own."""

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.base import TrialFailedError, disk_full, is_disk_full, last_words
from lsmtune.system.cancelling import ProcessTimeout
from lsmtune.system.process import ChildProcess, ExitStatus
from lsmtune.system.workdir import directory_bytes, scratch
from lsmtune.trials import Protocol, Status

DATABASE = "lsmtune"
"""The schema that the loads have their tables in."""
STORE = "#rocksdb"
"""The folder of RocksDB in a server's data."""
PRIVATE_FLAGS = (
    "skip-log-bin", "skip-name-resolve", "skip-networking", "plugin-load-add=ha_rocksdb.so",
)  # fmt: skip
"""Lines of my.cnf of each private server."""

_START_S, _STOP_S, _INSTALL_S = 60.0, 300.0, 60.0
_POLL_S = 0.02
_LOST = 2013
"""pymysql's number of an answer that did not come."""
_LOOK_S = 0.1
_ERRORS = ("[ERROR]", "[Warning] RocksDB", "unknown variable", "unknown option")

_RUN_TOGETHER = re.compile(r"(?<=\d)\.?(?=rocksdb\.)")
"""MyRocks forgets the line end behind its own histogram of commits, and may cut off its last number
behind the point."""

Row = tuple[object, ...]
_TICK_S = 0.05
_SPACE_TICK_S = 0.1
_PENDING_TIMES_QUIET = 4
_WORKING = re.compile(r"operation_type: \w")
_PENDING = """SELECT COUNT(*) FROM information_schema.ROCKSDB_CFSTATS WHERE VALUE > 0 AND STAT_TYPE
IN ('NUM_IMMUTABLE_MEM_TABLE', 'MEM_TABLE_FLUSH_PENDING', 'COMPACTION_PENDING')"""


@dataclass(frozen=True, slots=True)
class ServerFiles:
    """Where a server has what: all in one work directory, but for its socket."""

    workdir: Path
    name: str = "data"

    @property
    def data(self) -> Path:
        """Its data directory."""
        return self.workdir / self.name

    @property
    def store(self) -> Path:
        """RocksDB's directory in it."""
        return self.data / STORE

    @property
    def config(self) -> Path:
        """Its configuration file."""
        return self.workdir / "my.cnf"

    @property
    def error_log(self) -> Path:
        """What it says."""
        return self.workdir / "error.log"


def private_options(files: ServerFiles, socket: Path) -> dict[str, object]:
    """Return the options of a private server: its folders, and RocksDB as its only engine."""
    return {
        **dict.fromkeys(("user",) if os.geteuid() == 0 else (), "root"),
        "datadir": files.data,
        "socket": socket,
        "pid-file": files.workdir / "mysqld.pid",
        "log-error": files.error_log,
        "tmpdir": files.workdir,
        "default-storage-engine": "RocksDB",
        "default-tmp-storage-engine": "Aria",
        "innodb": "OFF",
    }


def configuration(files: ServerFiles, socket: Path, variables: Mapping[str, str]) -> str:
    """The text of my.cnf: a private server, and RocksDB's variables.

    It listens on no port at all: clients come by the socket. A stall of writes is no deadlock:
    locks are waited for longer than MyRocks does by itself.
    """
    own: dict[str, object] = {
        **private_options(files, socket),
        "character-set-server": "latin1",
        "collation-server": "latin1_bin",
        "transaction-isolation": "READ-COMMITTED",
        "performance_schema": "OFF",
        "rocksdb_lock_wait_timeout": 50,
        "rocksdb_deadlock_detect": "ON",
    }
    lines = ["[mysqld]", *PRIVATE_FLAGS]
    lines += [f"{name}={value}" for name, value in {**own, **variables}.items()]
    return "\n".join(lines) + "\n"


def install(files: ServerFiles) -> None:
    """Make the data directory of a new server; TrialFailedError where that fails.

    With --rpm the script leaves a folder of the system's server alone that it would give to the
    user who installs.
    """
    run_client(
        [
            "mariadb-install-db", "--no-defaults", "--rpm", f"--datadir={files.data}",
            "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb=OFF",
            "--default-storage-engine=Aria", *(["--user=root"] if os.geteuid() == 0 else []),
        ],
        files, "install", _INSTALL_S,
    )  # fmt: skip


def run_client(
    argv: Sequence[str],
    files: ServerFiles,
    part: str,
    wall_s: float,
    look: Callable[[], None] = lambda: None,
) -> tuple[ExitStatus, str]:
    """Run a program beside the server to its end: how it ended, and what it printed.

    `look` is called now and then meanwhile. TrialFailedError when it fails; its last words are
    the reason.
    """
    stdout, stderr = (files.workdir / f"{part}-{name}.txt" for name in ("stdout", "stderr"))
    with ChildProcess(
        argv, cwd=files.workdir, stdout_path=stdout, stderr_path=stderr, env={}
    ) as process:
        limit = time.monotonic() + wall_s
        while process.running and time.monotonic() < limit:
            process.read_line(_LOOK_S)
            look()
        if process.running:
            raise TrialFailedError(
                Status.TIMED_OUT,
                f"lsmtune stopped {argv[0]}: time limit of {wall_s:.0f} s exceeded",
            )
        while isinstance(process.read_line(0.0), str):
            pass
        status = process.wait(_STOP_S)
    told = stdout.read_text(errors="replace")
    # sysbench ends well although a statement failed: what it calls fatal counts.
    if status.returncode != 0 or "FATAL" in told:
        words = _last_words(told + stderr.read_text(errors="replace"), ("FATAL", "rror"))
        raise _failed(f"{Path(argv[0]).name} failed: {words}", files)
    return status, told


def _failed(reason: str, files: ServerFiles) -> TrialFailedError:
    """Why something failed; a full disk has many faces."""
    if is_disk_full(reason, files.workdir):
        return disk_full(reason)
    return TrialFailedError(Status.CRASHED, reason)


class Server:
    """A running server; `query` asks it, and waits `answer_s` for what it says."""

    answer_s = 3600.0

    def __init__(self, process: ChildProcess, files: ServerFiles, socket: Path) -> None:
        self.process = process
        self.files = files
        self.socket = socket

    def query(self, statement: str) -> list[Row]:
        """The rows of a statement; TrialFailedError where the server refuses it."""
        import pymysql  # noqa: PLC0415 - only the extra `myrocks` brings it

        try:
            connection = pymysql.connect(
                unix_socket=str(self.socket), user="root", read_timeout=self.answer_s
            )
            try:
                with connection.cursor() as cursor:
                    cursor.execute(statement)
                    return [tuple(row) for row in cursor.fetchall()]
            finally:
                with suppress(pymysql.MySQLError):
                    connection.close()
        except pymysql.MySQLError as error:
            if self.process.running and error.args[:1] == (_LOST,):
                reason = (
                    f"the MyRocks server did not answer within {self.answer_s:g} s to the "
                    "statement: "
                    f"{statement}"
                )
                raise TrialFailedError(Status.TIMED_OUT, reason) from error
            reason = f"the MyRocks server refused the statement {statement}: {error}"
            raise _failed(reason, self.files) from error

    def status(self) -> str:
        """RocksDB's statistics and tables since the server has started, as text."""
        rows = self.query("SHOW ENGINE ROCKSDB STATUS")
        text = "\n".join("\t".join(str(cell) for cell in row) for row in rows) + "\n"
        return _RUN_TOGETHER.sub("\n", text)

    def variables(self) -> dict[str, str]:
        """RocksDB's variables, by their names without prefix."""
        rows = self.query("SHOW GLOBAL VARIABLES LIKE 'rocksdb%'")
        return {str(name).removeprefix("rocksdb_"): str(value) for name, value in rows}


@contextmanager
def running(
    program: str,
    files: ServerFiles,
    variables: Mapping[str, str],
    text_of: Callable[[ServerFiles, Path, Mapping[str, str]], str] = configuration,
) -> Iterator[Server]:
    """A server that runs in the block and has been stopped behind it.

    `text_of` makes the text of its my.cnf. TrialFailedError with the reason of its error log where
    it does not start, or does not stop.
    """
    # The path of a socket may have no more than 107 bytes; that of a work directory has any length.
    with scratch() as folder:
        socket = folder / "mysql.sock"
        files.config.write_text(text_of(files, socket, variables))
        files.error_log.write_text("")  # of this start alone
        with ChildProcess(
            [program, f"--defaults-file={files.config}"],
            cwd=files.workdir,
            stdout_path=files.workdir / "server-stdout.txt",
            stderr_path=files.workdir / "server-stderr.txt",
            env={},
        ) as process:
            yield from _used(Server(process, files, socket))


def _used(server: Server) -> Iterator[Server]:
    _await_start(server)
    yield server
    _stop(server)


def _await_start(server: Server) -> None:
    limit = time.monotonic() + _START_S
    while time.monotonic() < limit:
        if not server.process.running:
            status = server.process.wait(_STOP_S)
            reason = last_error(server.files)
            raise TrialFailedError(
                Status.REFUSED,
                f"the MyRocks server did not start (exit code {status.returncode}): {reason}",
            )
        if server.socket.exists():
            with suppress(TrialFailedError):
                server.query("SELECT 1")
                return
        time.sleep(_POLL_S)
    reason = f"the MyRocks server did not start within {_START_S:.0f} s"
    raise TrialFailedError(Status.TIMED_OUT, reason)


def _stop(server: Server) -> None:
    """Stop it cleanly; a server that has died meanwhile is a failed trial."""
    if server.process.running:
        server.query("SHUTDOWN")
    try:
        status = server.process.wait(_STOP_S)
    except ProcessTimeout as timeout:
        reason = f"the MyRocks server did not stop: {timeout}"
        raise TrialFailedError(Status.TIMED_OUT, reason) from timeout
    if status.returncode != 0:
        how = status.signal_name or f"code {status.returncode}"
        words = last_error(server.files)
        raise _failed(f"the MyRocks server ended with {how}: {words}", server.files)


def last_error(files: ServerFiles) -> str:
    """Return the server's own sentence about what went wrong."""
    return _last_words(_said(files), _ERRORS)


def _said(files: ServerFiles) -> str:
    stderr = files.workdir / "server-stderr.txt"
    texts = (
        path.read_text(errors="replace") for path in (stderr, files.error_log) if path.exists()
    )
    return "".join(texts)


def _last_words(text: str, telling: Sequence[str]) -> str:
    """The last line that tells what went wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if any(word in line for word in telling)]
    # The server closes with lines of its own about plugins that it could not start.
    first = [line for line in told if "RocksDB:" in line or "unknown" in line]
    return last_words(lines, told, first)


class SpaceMeter:
    """Notes the largest size of a store; `look` is called now and then."""

    def __init__(self, server: Server) -> None:
        self._store = server.files.store
        self._measured = 0.0
        self.peak_bytes = 0

    def look(self) -> None:
        """Look at the size, at most every tenth of a second."""
        now = time.monotonic()
        if now - self._measured >= _SPACE_TICK_S:
            self._measured = now
            self.peak_bytes = max(self.peak_bytes, directory_bytes(self._store))


def settle(server: Server, protocol: Protocol, meter: SpaceMeter) -> None:
    """Flush all memtables, wait until no flush or compaction has run for the protocol's quiet time.

    RocksDB's log cannot tell it: its last lines are written out only when more follow. What is
    said to be pending is waited for four times as long: under universal compaction that may be
    said for ever. TrialFailedError when the tree does not settle within the protocol's limit.
    """
    server.query("SET GLOBAL rocksdb_force_flush_memtable_now = 1")
    started = quiet_since = time.monotonic()
    pending = True
    while time.monotonic() - quiet_since < protocol.quiet_s * (
        _PENDING_TIMES_QUIET if pending else 1
    ):
        time.sleep(_TICK_S)
        meter.look()
        if _WORKING.search(server.status()):
            quiet_since = time.monotonic()
        pending = server.query(_PENDING) != [(0,)]
        if time.monotonic() - started > protocol.wall_limit_s:
            reason = (
                "MyRocks did not finish its flushes and compactions within "
                f"{protocol.wall_limit_s:g} s"
            )
            raise TrialFailedError(Status.TIMED_OUT, reason)
