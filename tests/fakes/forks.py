"""lsmtune as processes of their own, forked from one that has imported it and drawn a chart.

A start of the real program takes a second of CPU time, most of it imports. What these processes do
once they run is what the real program does.

A helper process waits for orders on a socket: the arguments, the folder, the environment, and three
open files. It forks a watcher, which forks the program and sends its process id and, in the end,
its status. The helper itself has no threads, so it can fork safely.
"""

import gc
import json
import os
import pkgutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from typing import IO, NoReturn

from fakes.jars import fetch_as_told
from fakes.patience import PATIENCE_S
from lsmtune import cli
from lsmtune.cli.progress import TerminalObserver
from lsmtune.engines.libraries import maven
from lsmtune.report.canvas import Chart
from lsmtune.report.page import packed_plotly
from lsmtune.study import calibration, host_checks, runner

_TESTS = Path(__file__).parents[1]
_NUMBER = struct.Struct("i")


class Fork:
    """A process that a helper has forked, with the part of `subprocess.Popen` that tests need.

    `helper` is the module that the helper runs. `files` are the process's output and errors.
    """

    def __init__(
        self,
        helper: str,
        arguments: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
        files: tuple[int, int],
    ) -> None:
        self._status, theirs = socket.socketpair()
        order = json.dumps([list(arguments), str(folder), dict(environment)]).encode()
        control = _started(helper)
        socket.send_fds(control, [_NUMBER.pack(len(order))], [theirs.fileno(), *files])
        control.sendall(order)
        theirs.close()
        self.pid = _received(self._status)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return the exit code (negative: the signal), or None while it runs."""
        if self.returncode is None:
            self._status.setblocking(False)
            try:
                self.returncode = os.waitstatus_to_exitcode(_received(self._status))
            except BlockingIOError:
                return None
            finally:
                self._status.setblocking(True)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = PATIENCE_S) -> int:
        """Wait for the end and return the exit code; TimeoutError after so many seconds."""
        if self.returncode is None:
            self._status.settimeout(timeout)
            self.returncode = os.waitstatus_to_exitcode(_received(self._status))
        return self.returncode


class Program(Fork):
    """A run of lsmtune, with its output."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str]
    ) -> None:
        (out, to_out), (err, to_err) = os.pipe(), os.pipe()
        super().__init__("fakes.forks", arguments, folder, environment, (to_out, to_err))
        for end in (to_out, to_err):
            os.close(end)
        self._texts = [os.fdopen(start, encoding="utf-8") for start in (out, err)]

    def communicate(self, timeout: float = PATIENCE_S) -> tuple[str, str]:
        """Read output and errors to their ends and wait; TimeoutExpired after so many seconds."""
        told = ["", ""]

        def read(place: int, text: IO[str]) -> None:
            with text:
                told[place] = text.read()

        readers = [threading.Thread(target=read, args=each) for each in enumerate(self._texts)]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join(timeout)
        if any(reader.is_alive() for reader in readers):
            raise subprocess.TimeoutExpired("lsmtune", timeout)
        self.wait(timeout)
        return told[0], told[1]


@cache
def _started(helper: str) -> socket.socket:
    """Start a helper; it ends when its socket is closed."""
    ours, theirs = socket.socketpair()
    threads = {"OMP_NUM_THREADS": "1"}  # a process with threads cannot fork safely
    with subprocess.Popen(
        [sys.executable, "-m", helper, str(theirs.fileno())],
        cwd=_TESTS, env=os.environ | threads, pass_fds=[theirs.fileno()],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,  # a pipe, as the program's will be
    ):  # fmt: skip
        theirs.close()
    return ours


def _received(connection: socket.socket) -> int:
    data = connection.recv(_NUMBER.size, socket.MSG_WAITALL)
    if len(data) < _NUMBER.size:
        raise EOFError("the other process has ended")
    return int(_NUMBER.unpack(data)[0])


Run = Callable[[list[str]], None]
"""Does what the program does with these arguments."""
Order = tuple[list[str], str, dict[str, str]]
"""Arguments, folder and environment."""


def serve(run: Run) -> None:
    """Be the helper: carry out orders on the socket of the command line until it is closed."""
    if os.fork() != 0:
        return  # the helper is no child of the tests, some of which look for children
    control = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks for what became of the watchers
    while True:
        length, files, _, _ = socket.recv_fds(control, _NUMBER.size, 3)
        if not length:
            return
        order = control.recv(_NUMBER.unpack(length)[0], socket.MSG_WAITALL)
        if os.fork() == 0:
            control.close()
            _watch(run, json.loads(order), files)
        for file in files:
            os.close(file)


def _watch(run: Run, order: Order, files: list[int]) -> NoReturn:
    """Run the program and tell of it."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status, out, err = files
    child = os.fork()
    if child == 0:
        os.close(status)
        _be_the_program(run, order, out, err)
    os.close(out)
    os.close(err)
    os.write(status, _NUMBER.pack(child))
    os.write(status, _NUMBER.pack(os.waitpid(child, 0)[1]))
    os._exit(0)


def _be_the_program(run: Run, order: Order, out: int, err: int) -> NoReturn:
    arguments, folder, environment = order
    code: object = 70
    try:
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.close(out)
        os.close(err)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        run(arguments)
        code = 0
    except SystemExit as ended:
        code = ended.code
        if isinstance(code, str):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # as Python would print it
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 0)


@cache
def warm_up() -> None:
    """Do once what would take long in every fork: imports, and what a page needs."""
    for module in pkgutil.iter_modules(cli.__path__):
        import_module(f"{cli.__name__}.{module.name}")
    Chart(100)
    packed_plotly()
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the memory of all of it


def be_quick() -> None:
    """Do without what takes long beside other tests, or happens only because of them.

    No trial is repeated because of them, no command says what it is doing because it is slow, no
    command looks at other programs for a second, a calibration needs shorter runs, and nothing is
    downloaded: jars come from the test.
    """
    unwrap(TerminalObserver.working).__defaults__ = (3600.0,)
    runner.DISTURBED_PERCENT = 100.0
    host_checks._QUIET_S = 0.01
    calibration._RECORDS = 10_000
    maven.fetch_jar = fetch_as_told


def _be_lsmtune(arguments: list[str]) -> None:
    from lsmtune.cli.main import main  # noqa: PLC0415 - the helper imports it

    sys.argv = ["lsmtune", *arguments]
    main()


if __name__ == "__main__":
    warm_up()
    be_quick()
    serve(_be_lsmtune)
