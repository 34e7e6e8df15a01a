"""A web server that runs for the user of this machine until he ends it."""

import os
import socket
import webbrowser
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.system.process import ChildProcess, NoLine

LOCALHOST = "127.0.0.1"
_LOOK_S = 0.2


def check_port(port: int) -> None:
    """Raise UserError when a server cannot listen on that port of this machine."""
    with closing(socket.socket()) as listener:
        # As servers do: what is left of earlier connections does not count.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOCALHOST, port))
        except OSError as error:
            raise UserError(
                f"--port {port}: cannot use this port ({error.strerror}); choose another port"
            ) from error


def serve(argv: Sequence[str], port: int, workdir: Path, on_ready: Callable[[], None]) -> None:
    """Run the server `argv` in the work directory until it ends or an exception arrives.

    `on_ready` is called once it listens on the port. Nothing of it is left behind, whatever ends
    it. Raises LsmtuneError when it ends by itself, UserError when it cannot be started.
    """
    stderr = workdir / "stderr.txt"
    with ChildProcess(
        argv, cwd=workdir, stdout_path=workdir / "stdout.txt", stderr_path=stderr, env={}
    ) as process:
        told = False
        while process.read_line(_LOOK_S) is not NoLine.END:
            if not told and _listens(port):
                told = True
                on_ready()
    lines = stderr.read_text(errors="replace").split("\n")
    last = next(
        (line.strip() for line in reversed(lines) if line.strip()),
        "the program printed no error message",
    )
    raise LsmtuneError(f"{Path(argv[0]).name} ended unexpectedly: {last}")


def open_browser(url: str) -> None:
    """Show a page in the user's browser; nothing where there is no desktop to show it on."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)


def _listens(port: int) -> bool:
    with closing(socket.socket()) as client:
        client.settimeout(_LOOK_S)
        return client.connect_ex((LOCALHOST, port)) == 0
