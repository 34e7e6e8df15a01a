"""`lsmtune dashboard`: a study in Optuna's dashboard."""

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Json, StudyName, note, print_json, say
from lsmtune.cli.common import Home as HomePath

_PROGRAM = "optuna-dashboard"


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

    program = None if export_only else _program()
    if program:
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

    if program:
        _serve(program, storage_url(file), port, tell, browse=not no_browser)
        return
    tell(None)
    if not export_only:
        note(
            f"{_PROGRAM} is not installed; to open the study, run `pip install {_PROGRAM}`, then "
            f"`{_PROGRAM} {storage_url(file)}`"
        )


def _program() -> str | None:
    """The dashboard's program, first next to this Python: its Optuna wrote the file."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
    return shutil.which(_PROGRAM, path=os.pathsep.join(places))


def _serve(
    program: str, storage: str, port: int, tell: Callable[[str], None], *, browse: bool
) -> None:
    from tempfile import gettempdir

    from lsmtune.system.server import LOCALHOST, open_browser, serve
    from lsmtune.system.workdir import workdir

    url = f"http://{LOCALHOST}:{port}/"
    argv = [program, storage, "--host", LOCALHOST, "--port", str(port), "--server", "wsgiref"]

    def ready() -> None:
        tell(url)
        if browse:
            open_browser(url)

    with (
        suppress(KeyboardInterrupt),  # Ctrl-C ends it
        workdir(Path(gettempdir()), f"lsmtune-dashboard-{os.getpid()}") as directory,
    ):
        serve(argv, port, directory, ready)
