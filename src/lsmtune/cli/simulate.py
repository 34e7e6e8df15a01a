"""`lsmtune simulate`: the metrics of runs, predicted instead of measured."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsmtune.cli.flags import DEFAULT_HOME, Home
from lsmtune.cli.output import note, say, say_all
from lsmtune.cli.tables import Column, paragraph, table_lines

if TYPE_CHECKING:
    from lsmtune.api.simulate import Simulation

_LONG_LABEL = 12

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
    from lsmtune.api import simulate as api
    from lsmtune.cli.progress import TerminalObserver

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
        say_all(_lines(found))
    if page is not None:
        found.page(page)
        note(f"page: {page}")


def _lines(found: "Simulation") -> Iterator[str]:
    """Yield the predictions as a table: a row per metric, with its meaning."""
    from lsmtune.report.text.prediction_text import prediction_rows

    asked = found.asked
    load = asked.lines[0].workload
    scale = "" if asked.scale is None else f", scale {asked.scale}"
    yield from paragraph(
        f"predicted, not measured: workload {load.name}, {load.num:,} records{scale}"
    )
    labels = list(asked.labels)
    has_two = len(labels) > 1
    if has_two and len(labels[1]) > _LONG_LABEL:
        yield from paragraph(f"changed: {labels[1]}", hanging=2)
        yield ""
        labels[1] = "changed"
    columns = [Column("metric", at_least=16), *(Column(label, right=True) for label in labels)]
    columns += [Column("ratio", right=True, drop=1)] if has_two else []
    columns.append(Column("meaning", at_least=24, drop=2))
    yield from table_lines(columns, prediction_rows([one["metrics"] for one in found.answers]))
