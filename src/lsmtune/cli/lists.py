"""`lsmtune knobs`, `workloads` and `optimizers`: what there is to choose from."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.cli.common import Json, print_json, say

if TYPE_CHECKING:
    from lsmtune.workloads import Preset


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
    """List the workloads: what each does, its parameters, what is asked for under it."""
    from lsmtune.workloads import PRESETS, Workload

    common = Workload().model_dump(exclude={"name"}, exclude_none=True)
    if as_json:
        print_json(
            [
                {
                    "name": name, "what": preset.what, "kind": preset.kind,
                    "objective": preset.objective, "knobs": preset.knobs,
                    "engine": preset.engine, "engines": preset.engines,
                    "parameters": {**_of_all(preset, common), **preset.parameters},
                }
                for name, preset in PRESETS.items()
            ]
        )  # fmt: skip
        return
    say("of every load of RocksDB: " + _assignments(common))
    say("operations (of each client), where not set: one a record, fewer of slow reads")
    for name, preset in PRESETS.items():
        engines = "" if preset.engines == ("rocksdb",) else f" ({', '.join(preset.engines)})"
        say(f"{name}{engines}: {preset.what}")
        if own := {**preset.of_all, **preset.parameters}:
            say(f"    {_assignments(own)}")
        say(f"    objective {preset.objective}, knobs {preset.knobs}")


def _of_all(preset: "Preset", common: dict[str, Any]) -> dict[str, Any]:
    """The parameters of RocksDB's own loads that this one has as well."""
    return {name: value for name, value in common.items() if preset.has(name)} | preset.of_all


def _assignments(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{k} = {'not set' if v is None else v}" for k, v in parameters.items())


def optimizers(as_json: Json = False) -> None:
    """List the optimizers."""
    from lsmtune.optimizers.registry import OPTIMIZERS

    made = [make() for make in OPTIMIZERS.values()]
    if as_json:
        print_json([{"name": optimizer.name, "summary": optimizer.summary} for optimizer in made])
        return
    for optimizer in made:
        say(f"{optimizer.name}: {optimizer.summary}")
