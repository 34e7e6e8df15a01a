"""`lsmtune knobs`, `workloads` and `optimizers`: what there is to choose from."""

from typing import Annotated

import typer

from lsmtune.cli.common import Json, print_json, say


def knobs(
    engine: Annotated[str, typer.Argument(help="the engine")] = "rocksdb",
    as_json: Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="print the reference page in Markdown")
    ] = False,
) -> None:
    """List the knobs of an engine by area: range, default, what they trade."""
    from lsmtune.knobs.catalogue import load
    from lsmtune.knobs.reference import lines, page

    catalogue = load(engine)
    if as_json:
        print_json(
            [{**knob.model_dump(), "allowed": knob.allowed_text()} for knob in catalogue.knobs]
        )
    elif markdown:
        say(page(catalogue).removesuffix("\n"))
    else:
        for line in lines(catalogue):
            say(line)


def workloads(as_json: Json = False) -> None:
    """List the workloads with their default parameters."""
    from lsmtune.workloads import PRESETS, Workload

    if as_json:
        print_json(
            [{**Workload(name=name).model_dump(), "what": what} for name, what in PRESETS.items()]
        )
        return
    for name, what in PRESETS.items():
        say(f"{name}: {what}")
        for field, value in Workload(name=name).model_dump(exclude={"name"}).items():
            say(f"    {field} = {value}")


def optimizers(as_json: Json = False) -> None:
    """List the optimizers."""
    from lsmtune.optimizers.registry import OPTIMIZERS

    made = [make() for make in OPTIMIZERS.values()]
    if as_json:
        print_json([{"name": optimizer.name, "summary": optimizer.summary} for optimizer in made])
        return
    for optimizer in made:
        say(f"{optimizer.name}: {optimizer.summary}")
