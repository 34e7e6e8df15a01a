"""`lsmtune knobs`, `workloads` and `optimizers`: what can be chosen."""

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.cli.common import Json, print_json, say, say_all
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines

if TYPE_CHECKING:
    from lsmtune.knobs.catalogue import Catalogue
    from lsmtune.workloads import Preset


def knobs(
    engine: Annotated[
        str, typer.Argument(help="Engine: rocksdb, myrocks, embedded, tikv or simulated.")
    ] = "rocksdb",
    as_json: Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the reference page in Markdown.")
    ] = False,
) -> None:
    """List the knobs of an engine by area: range, default, how to change them, effect.

    Sizes are those of a full-size tree (scale 1). In the column "change", "scaled" marks sizes
    that --scale divides.
    """
    from lsmtune.knobs.catalogue import load
    from lsmtune.knobs.reference import page

    catalogue = load(engine)
    if as_json:
        print_json(
            [{**knob.model_dump(), "allowed": knob.allowed_text()} for knob in catalogue.knobs]
        )
    elif markdown:
        say(page(catalogue).removesuffix("\n"))
    else:
        say_all(_knob_lines(catalogue))


def _knob_lines(catalogue: "Catalogue") -> Iterator[str]:
    from lsmtune.cli.knob_values import readable_range, readable_value
    from lsmtune.knobs.reference import remarks

    columns = [
        Column("knob", at_least=30), Column("range", at_least=16), Column("default", at_least=8),
        Column("change", at_least=8), Column("effect", at_least=30),
    ]  # fmt: skip
    for area, of_area in groupby(catalogue.knobs, key=lambda knob: knob.area):
        yield f"{area}:"
        rows = [
            (
                knob.name, readable_range(knob), readable_value(knob, knob.default),
                knob.apply + (", scaled" if knob.scales else ""),
                "; ".join([knob.trade, *remarks(knob)]),
            )
            for knob in of_area
        ]  # fmt: skip
        yield from table_lines(columns, rows, indent=2)
        yield ""
    yield "presets of knobs (--knobs NAME):"
    presets = [(p.name, str(len(catalogue.select(p.name))), p.title) for p in catalogue.presets]
    heads = [Column("preset", at_least=12), Column("knobs", right=True), Column("contents")]
    yield from table_lines(heads, presets, indent=2)
    if catalogue.workload_parameters:
        yield ""
        yield "parameters of the workload, which are not knobs:"
        pairs = [(p.name, p.reason) for p in catalogue.workload_parameters]
        yield from facts_lines(pairs, indent=2)
    for note in catalogue.notes:
        yield from ["", *paragraph(f"note: {note}")]


def workloads(as_json: Json = False) -> None:
    """List the workloads: operations, engines, parameters, default objective and knobs."""
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
    columns = [
        Column("workload"), Column("engines", at_least=10), Column("operations", at_least=30),
        Column("own parameters", at_least=16), Column("objective", at_least=9),
        Column("knobs", at_least=5),
    ]  # fmt: skip
    rows = [
        (
            name, ", ".join(preset.engines), preset.what,
            _assignments({**preset.of_all, **preset.parameters}), preset.objective, preset.knobs,
        )
        for name, preset in PRESETS.items()
    ]  # fmt: skip
    say_all(table_lines(columns, rows))
    say("")
    heading = "Parameters of all workloads of rocksdb, with their defaults (in a study file):"
    say_all(paragraph(heading))
    say_all(paragraph(_assignments(common), indent=2))
    say_all(paragraph("If `operations` is not set, each client runs one operation per record. In a "
                      "workload that only reads, each client runs fewer operations."))  # fmt: skip


def _of_all(preset: "Preset", common: dict[str, Any]) -> dict[str, Any]:
    """The parameters of all workloads of RocksDB that this one has too."""
    return {name: value for name, value in common.items() if preset.has(name)} | preset.of_all


def _assignments(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{k} = {'not set' if v is None else v}" for k, v in parameters.items())


def optimizers(as_json: Json = False) -> None:
    """List the optimizers: the search algorithms that choose the next config."""
    from lsmtune.optimizers.registry import OPTIMIZERS

    made = [make() for make in OPTIMIZERS.values()]
    if as_json:
        print_json([{"name": optimizer.name, "summary": optimizer.summary} for optimizer in made])
        return
    columns = [Column("optimizer"), Column("method", at_least=30)]
    say_all(table_lines(columns, [(optimizer.name, optimizer.summary) for optimizer in made]))
