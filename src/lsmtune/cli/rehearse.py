"""`lsmtune rehearse`: the exported file and the undo file on a copy of a user's store."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, OtherTrial, StudyName
from lsmtune.cli.output import ask, print_json, say_all
from lsmtune.cli.tables import paragraph

_FAILED = 1


def rehearse(
    study: StudyName,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder of a store that no program uses.")
    ],
    trial: OtherTrial = None,
    rocksdb: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION", help="Installed version of RocksDB to use [that of the study]."
        ),
    ] = None,
    library: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Library of RocksDB to use [that of the study]."),
    ] = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Open a copy of your store with the exported file of a study, then with the undo file.

    The store must be closed. lsmtune opens no file of it for writing. Tables and blob files become
    hard links in the copy, all other files are copied. The copy is next to FOLDER, or inside it if
    FOLDER is a mount point, and lsmtune deletes it at the end.

    RocksDB reads keys of each table, then writes to new column families with the options of the
    tuned ones. Automatic compactions are off in the copy.

    The exit code is 1 if a file did not open the copy, and 2 if lsmtune cannot use the store.
    """
    from lsmtune.api.rehearse import rehearse as run
    from lsmtune.cli.progress import TerminalObserver

    found = run(
        study, folder, home, TerminalObserver(), trial=trial, rocksdb=rocksdb, library=library,
        consent=ask,
    )  # fmt: skip
    if as_json:
        print_json(found.document())
    else:
        say_all(part for line in found.lines() for part in paragraph(line, hanging=2))
    if not found.passed:
        raise typer.Exit(_FAILED)
