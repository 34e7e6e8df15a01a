"""`lsmtune inspect`: what a LOG of RocksDB says."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import Json, print_json, say


def inspect(
    logs: Annotated[
        list[Path],
        typer.Argument(
            metavar="LOG [LOG ...]",
            help="a LOG of RocksDB (plain or gzip), a folder with LOGs, or an output of db_bench",
        ),
    ],
    page: Annotated[
        Path | None, typer.Option(help="write one self-contained HTML page there")
    ] = None,
    to_study: Annotated[
        Path | None,
        typer.Option(help="write a study with a like load there, and beside it the LOG's options"),
    ] = None,
    as_json: Json = False,
) -> None:
    """Say what a LOG tells: load, levels, stalls, what is wrong and which option to look at."""
    from lsmtune.analysis.inspect.document import inspection_document
    from lsmtune.cli import inspecting

    found = inspecting.read(logs)
    if page is not None:
        inspecting.write_page(page, found)
    if to_study is not None:
        inspecting.write_study(to_study, found)
    if as_json:
        documents = [inspection_document(log) for log in found]
        print_json(documents[0] if len(documents) == 1 else {"logs": documents})
        return
    for line in inspecting.lines(found):
        say(line)
    for written in (page, to_study):
        if written is not None:
            say(f"written: {written}")
