"""`lsmtune export`: write the file to deploy, or the one to undo."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.api.flags import export_formats
from lsmtune.cli.flags import DEFAULT_HOME, Home, OtherTrial, StudyName
from lsmtune.cli.output import say, say_written


def _completed(incomplete: str) -> list[str]:
    """Return the formats of all engines that begin like an incomplete one, for the shell."""
    return [name for name in export_formats() if name.startswith(incomplete)]


def export(
    study: StudyName,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="Format of the file. Each engine has its own formats; the message about another "
            "one lists them [the format to deploy].",
            autocompletion=_completed,
        ),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            help="Your own file of options, in which only tuned keys change; with --back, the "
            "file that you deployed [the file of the study's baseline]."
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
    file = found.exported(form, base, back=back)
    if output is None:
        say(file.text.removesuffix("\n"))
    else:
        say_written([file.write(output)])
