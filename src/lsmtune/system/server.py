"""A web server that runs for the user of this machine until he ends it."""

import os
import socket
import webbrowser
from collections.abc import Callable, Iterable
from contextlib import closing
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from lsmtune.errors import UserError

LOCALHOST = "127.0.0.1"
_NAMES = (LOCALHOST, "localhost")

App = Callable[[dict[str, Any], Any], Iterable[bytes]]
"""A web application in the form of WSGI."""


def check_port(port: int) -> None:
    """Raise UserError when a server cannot listen on that port of this machine."""
    with closing(socket.socket()) as listener:
        # As servers do: what is left of earlier connections does not count.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((LOCALHOST, port))
        except OSError as error:
            raise _unusable(port, error) from error


def serve(app: App, port: int, on_ready: Callable[[], None]) -> None:
    """Serve the application on that port of this machine until an exception arrives.

    `on_ready` is called once it listens. Only requests to 127.0.0.1 or localhost are answered: a
    web page of somebody else could otherwise give its own host name the address of this machine,
    and read the answers. Raises UserError when the port cannot be used.
    """
    try:
        server = make_server(LOCALHOST, port, _local(app, port), _Server, _Quiet)
    except OSError as error:
        raise _unusable(port, error) from error
    with server:
        on_ready()
        server.serve_forever()


def open_browser(url: str) -> None:
    """Show a page in the user's browser; nothing where there is no desktop to show it on."""
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(url)


class _Server(ThreadingMixIn, WSGIServer):
    """Answers side by side; an answer that takes long does not keep the program alive."""

    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is given
        """Print no line for each request."""


def _local(app: App, port: int) -> App:
    """Return the application with a refusal of requests to other host names."""
    hosts = {*_NAMES, *(f"{name}:{port}" for name in _NAMES)}

    def answer(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ.get("HTTP_HOST", "").lower() in hosts:
            return app(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
        return [f"Only requests to {' or '.join(_NAMES)} are answered.\n".encode()]

    return answer


def _unusable(port: int, error: OSError) -> UserError:
    return UserError(f"--port {port}: cannot use this port ({error.strerror}); choose another port")
