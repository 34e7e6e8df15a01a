"""`lsmtune export`: write the file to deploy, or the one to undo."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, OtherTrial, StudyName
from lsmtune.cli.output import say, say_written

_FORMATS = (
    "options or db_bench for rocksdb, my.cnf for myrocks, toml for embedded, tikv-toml for tikv, "
    "db_bench or options for simulated"
)


class Format(StrEnum):
    """Formats of exported files."""

    OPTIONS = "options"
    DB_BENCH = "db_bench"
    MY_CNF = "my.cnf"
    TIKV_TOML = "tikv-toml"
    TOML = "toml"


def export(
    study: StudyName,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format", help=f"Format of the file: {_FORMATS} [the first format of the engine]."
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            help="Your OPTIONS file, my.cnf or tikv.toml, in which only tuned keys change; with "
            "--back, the file that you deployed [the file of the study's baseline]."
        ),
    ] = None,
    trial: OtherTrial = None,
    back: Annotated[
        bool, typer.Option("--back", help="Export the values of the baseline, to undo the change.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write [standard output].")
    ] = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Write the winner's options as a file to deploy; only tuned keys change."""
    from lsmtune.api.study_result import stored_result

    found = stored_result(study, home, trial)
    file = found.exported(None if form is None else form.value, base, back=back)
    if output is None:
        say(file.text.removesuffix("\n"))
    else:
        say_written([file.write(output)])
