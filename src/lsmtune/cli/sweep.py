"""`lsmtune sweep`: a controlled experiment."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, Json, Program, note, print_json, say, write_file


def sweep(
    experiment: Annotated[Path, typer.Argument(metavar="EXPERIMENT.toml", help="what to vary")],
    dry_run: Annotated[bool, typer.Option(help="say what would run, and run nothing")] = False,
    csv: Annotated[Path | None, typer.Option(help="write the table there as CSV")] = None,
    markdown: Annotated[Path | None, typer.Option(help="write the table as Markdown")] = None,
    page: Annotated[
        Path | None, typer.Option(help="write one self-contained HTML page there")
    ] = None,
    program: Program = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Run every combination of the factors in blocks, and say which moved what, how sure."""
    from lsmtune.analysis.swept_words import swept_document
    from lsmtune.cli import sweeping

    spec = sweeping.read_experiment(experiment, program)
    if dry_run:
        for line in sweeping.planned(spec):
            say(line)
        return
    found = sweeping.run_sweep(spec, home)
    for path, text, what in sweeping.files(found, csv, markdown, page):
        write_file(path, text, what)
        note(f"{what}: {path}")
    if as_json:
        print_json(swept_document(found))
        return
    for line in sweeping.lines(found):
        say(line)
