"""`lsmtune sweep`: a controlled experiment."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import (
    DEFAULT_HOME,
    AcceptNoise,
    DbBench,
    Home,
    Json,
    Library,
    Page,
    RocksDBVersion,
    note,
    print_json,
    say_all,
)
from lsmtune.system.write import write_file


def sweep(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT.toml",
            help="Study file with a table [sweep], which lists the knob values.",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and run nothing.")
    ] = False,
    csv: Annotated[Path | None, typer.Option(help="Write the table to this file as CSV.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the table to this file as Markdown.")
    ] = None,
    page: Page = None,
    program: DbBench = None,
    rocksdb: RocksDBVersion = None,
    library: Library = None,
    accept_noise: AcceptNoise = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Measure every combination of the listed knob values; report the effects with p-values.

    After an interruption, the same command continues the experiment.
    """
    from lsmtune.analysis.swept_words import swept_document
    from lsmtune.cli import sweeping
    from lsmtune.engines.registry import engine_of

    system = {"program": program, "rocksdb": rocksdb, "library": library}
    spec = sweeping.read_experiment(experiment, system, home, note)
    if dry_run:
        engine_of(spec)  # refuses versions that are not installed
        say_all(sweeping.planned(spec))
        return
    found, view = sweeping.run_sweep(spec, home, accept_noise=accept_noise)
    for path, text, what in sweeping.files(found, view, csv, markdown, page):
        write_file(path, text, what)
        note(f"{what}: {path}")
    if as_json:
        print_json(swept_document(found))
        return
    say_all(sweeping.lines(found, view))
