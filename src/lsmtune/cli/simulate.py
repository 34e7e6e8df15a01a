"""`lsmtune simulate`: what runs would come to, without running them."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, note, say


def simulate(
    study: Annotated[
        str | None, typer.Argument(metavar="STUDY", help="a study: its base and its best config")
    ] = None,
    batch: Annotated[
        Path | None, typer.Option(help="runs as JSON lines, as `lsmtune screen` writes and reads")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KNOB=VALUE", help="compare the defaults with this changed"),
    ] = None,
    num: Annotated[int, typer.Option(help="records, without STUDY and --batch")] = 1_000_000,
    scale: Annotated[str, typer.Option(help="size of the tree there, e.g. 1/64 or 1")] = "1/64",
    page: Annotated[
        Path | None, typer.Option(help="write a page there that plays the first two runs")
    ] = None,
    home: Home = DEFAULT_HOME,
) -> None:
    """Predict runs of the rocksdb engine by the simulator of its tree, one JSON line for each."""
    import json

    from lsmtune.cli.simulating import (
        asked_lines,
        defaults,
        foretold,
        machine_of,
        of_study,
        write_page,
    )
    from lsmtune.errors import UserError

    given = [name for name, told in (("STUDY", study), ("--batch", batch)) if told is not None]
    if len(given) > 1 or (given and set_):
        raise UserError(f"simulate: {' and '.join([*given, *(['--set'] if set_ else [])])} exclude "
                        "each other")  # fmt: skip
    if batch is not None:
        lines = asked_lines(batch)
    elif study is not None:
        lines = of_study(study, home)
    else:
        lines = defaults(num, scale, set_ or ())
    machine = machine_of(home)
    told = "this machine" if machine else "a machine of two cores as it is guessed, not of this one"
    note(f"lsmtune: times are those of {told}")
    constants = machine.constants if machine else None
    for line in foretold(lines, constants, note):
        if batch is None and "error" in line:
            raise UserError(f"simulate: {line['id']}: {line['error']}")
        say(json.dumps(line))
    if page is not None:
        write_page(page, lines, constants)
        note(f"page: {page}")
