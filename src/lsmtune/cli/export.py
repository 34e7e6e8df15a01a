"""`lsmtune export`: the file to deploy, or the one to go back."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, StudyName, say, write_file
from lsmtune.cli.common import Home as HomePath


class Format(StrEnum):
    """The forms in which options are exported."""

    OPTIONS = "options"
    DB_BENCH = "db_bench"
    MY_CNF = "my.cnf"
    TIKV_TOML = "tikv-toml"
    TOML = "toml"


def export(
    study: StudyName,
    form: Annotated[Format, typer.Option("--format", help="form of the file")],
    base: Annotated[
        Path | None,
        typer.Option(help="your own OPTIONS file, my.cnf or tikv.toml; only its tuned keys change"),
    ] = None,
    trial: Annotated[
        int | None, typer.Option(help="another trial than the winner, by its number")
    ] = None,
    back: Annotated[bool, typer.Option("--back", help="the base's values: the way back")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="file to write [standard output]")
    ] = None,
    home: HomePath = DEFAULT_HOME,
) -> None:
    """Export the winner's options; only the tuned keys of the base file change."""
    from lsmtune.analysis.read_study import read_study
    from lsmtune.cli.exporting import exported
    from lsmtune.store.home import Home

    with Home(home, create=False) as opened:
        text = exported(opened, read_study(opened, study, trial), form.value, base, back=back)
    if output is None:
        say(text.removesuffix("\n"))
    else:
        write_file(output, text, "options")
