"""`lsmtune simulate`: the metrics of runs, predicted instead of measured."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, note, say, say_all

Records = Annotated[
    int, typer.Option(help="Number of records in the workload; not used with STUDY or --batch.")
]
Scale = Annotated[
    str, typer.Option(help="Scale of the tree, e.g. 1/64 or 1; not used with STUDY or --batch.")
]


def simulate(
    study: Annotated[
        str | None,
        typer.Argument(metavar="STUDY", help="Predict the baseline and winner of this study."),
    ] = None,
    batch: Annotated[
        Path | None,
        typer.Option(help="File of JSON lines with the runs to predict, as from `lsmtune screen`."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KNOB=VALUE",
            help="Option to change, e.g. write_buffer_size=64MiB or compaction_style=universal; "
            "repeat the flag for several options. The value is not divided by --scale.",
        ),
    ] = None,
    num: Records = 1_000_000,
    scale: Scale = "1/64",
    page: Annotated[
        Path | None,
        typer.Option(
            help="HTML file to write: an animation of the tree in the first run and the second run."
        ),
    ] = None,
    home: Home = DEFAULT_HOME,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print one JSON line per run; --batch always prints JSON."),
    ] = False,
) -> None:
    """Predict the metrics of RocksDB runs with the simulator, without running RocksDB.

    Without STUDY and --batch, the command predicts the workload fillrandom on RocksDB 7.8.3 with
    db_bench's defaults. With --set, the command predicts a second run with the changed options.
    """
    import json

    from lsmtune.api import simulate as api
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.cli.simulating import table
    from lsmtune.system.write import write_file

    found = api.simulate(
        home, study=study, batch=batch, num=num, scale=scale, changes=set_ or (),
        observer=TerminalObserver(),
    )  # fmt: skip
    for remark in found.remarks:
        note(f"lsmtune: {remark}")
    if as_json or batch is not None:
        for answer in found.answers:
            say(json.dumps(answer))
    else:
        say_all(table(found.answers, found.asked))
    if page is not None:
        write_file(page, found.page(), "page")
        note(f"page: {page}")
