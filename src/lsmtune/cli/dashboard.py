"""`lsmtune dashboard`: a study in Optuna's dashboard."""

import sys
from pathlib import Path
from shlex import join
from shutil import which
from typing import Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, StudyName
from lsmtune.cli.output import note, print_json, say_all

_PACKAGE = "optuna-dashboard"
"""Name of the package and of its program."""


def dashboard(
    study: StudyName,
    storage: Annotated[
        Path | None,
        typer.Option(help="SQLite file to write [HOME/results/STUDY/optuna.sqlite3]."),
    ] = None,
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Port of the dashboard in the printed command.")
    ] = 8080,
    no_browser: Annotated[
        bool,
        typer.Option(
            "--no-browser",
            help="Without effect: lsmtune no longer opens a browser. Older scripts use the flag.",
        ),
    ] = False,
    export_only: Annotated[
        bool,
        typer.Option("--export-only", help="Write the SQLite file, but print no command."),
    ] = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Write a study as an Optuna storage and print the command that opens it in optuna-dashboard.

    The new storage file replaces an earlier storage file. Notes that you made in the dashboard
    are lost.
    """
    from lsmtune.api.dashboard import write_storage

    found = write_storage(study, home, storage)
    program = _program()
    command = join([program or _PACKAGE, found.url, "--port", str(port)])
    if as_json:
        shown = (None, None) if export_only else (f"http://127.0.0.1:{port}/", command)
        names = zip(("dashboard", "command"), shown, strict=True)
        print_json({"storage": str(found.file), "trials": found.trials, **dict(names)})
    else:
        opening = [] if export_only else ["To open the study, run:", f"  {command}"]
        say_all([f"{found.trials} trials in {found.file}", *opening])
    if program is None and not export_only:
        note(
            f"{_PACKAGE} is not installed; to install it, run `{sys.executable} -m pip install "
            f"{_PACKAGE}`"
        )


def _program() -> str | None:
    """Return the program to run: a name on PATH, or a path next to Python; None without one."""
    beside = Path(sys.executable).with_name(_PACKAGE)
    if which(_PACKAGE) is not None:
        return _PACKAGE
    return str(beside) if beside.exists() else None
