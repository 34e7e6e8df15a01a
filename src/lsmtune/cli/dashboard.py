"""`lsmtune dashboard`: a study in Optuna's dashboard."""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, StudyName, note, print_json, say
from lsmtune.cli.common import Home as HomePath

_PACKAGE, _MODULE = "optuna-dashboard", "optuna_dashboard"


def dashboard(
    study: StudyName,
    storage: Annotated[
        Path | None,
        typer.Option(help="SQLite file to write [HOME/results/STUDY/optuna.sqlite3]."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port of the dashboard on 127.0.0.1.")
    ] = 8080,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser.")
    ] = False,
    export_only: Annotated[
        bool,
        typer.Option(
            "--export-only", help="Write the SQLite file, but do not start the dashboard."
        ),
    ] = False,
    home: HomePath = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Write a study as an Optuna storage and open the storage in optuna-dashboard.

    The new storage file replaces an earlier storage file. Notes that you made in the dashboard
    are lost. Ctrl-C ends the dashboard.
    """
    from lsmtune.report.optuna_storage import export_study, storage_url
    from lsmtune.store.home import Home
    from lsmtune.system.server import check_port

    start = not export_only and _is_installed()
    if start:
        check_port(port)
    with Home(home, create=False) as opened:
        file = (storage or opened.path / "results" / study / "optuna.sqlite3").absolute()
        trials = export_study(opened, study, file)

    def tell(url: str | None) -> None:
        if as_json:
            print_json({"storage": str(file), "trials": trials, "dashboard": url})
        else:
            say(
                f"{trials} trials in {file}"
                + (f"; the dashboard runs at {url}, and Ctrl-C ends the dashboard" if url else "")
            )
        sys.stdout.flush()  # the server runs on

    if start:
        _serve(storage_url(file), port, tell, browse=not no_browser)
        return
    tell(None)
    if not export_only:
        note(
            f"{_PACKAGE} is not installed; to open the study, run "
            f"`{sys.executable} -m pip install {_PACKAGE}`, then run the same command again"
        )


def _is_installed() -> bool:
    """Return whether this Python, whose Optuna writes the file, has the dashboard."""
    return find_spec(_MODULE) is not None


def _serve(storage: str, port: int, tell: Callable[[str], None], *, browse: bool) -> None:
    from lsmtune.system.server import LOCALHOST, open_browser, serve

    url = f"http://{LOCALHOST}:{port}/"
    app = import_module(_MODULE).wsgi(storage)

    def ready() -> None:
        tell(url)
        if browse:
            open_browser(url)

    with suppress(KeyboardInterrupt):  # Ctrl-C ends it
        serve(app, port, ready)
