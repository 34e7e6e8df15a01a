"""`lsmtune knobs`, `workloads` and `optimizers`: what can be chosen."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.cli.common import Json, print_json, say, say_all
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines

if TYPE_CHECKING:
    from lsmtune.knobs.catalogue import Catalogue
    from lsmtune.knobs.types import Knob
    from lsmtune.workloads import Preset


def knobs(
    engine: Annotated[
        str,
        typer.Argument(
            metavar="[ENGINE|KNOB]",
            help="Engine (rocksdb, myrocks, embedded, tikv, simulated), or one knob of RocksDB.",
        ),
    ] = "rocksdb",
    area: Annotated[
        str | None, typer.Option(help="Only the knobs of this area, e.g. cache [all].")
    ] = None,
    as_json: Json = False,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Print the reference page in Markdown.")
    ] = False,
) -> None:
    """List the knobs of an engine by area: range, default, how to change them, effect.

    Sizes are those of a full-size tree (scale 1). In the column "change", "scaled" marks sizes
    that --scale divides.
    """
    from lsmtune.api.knobs import chosen_knobs
    from lsmtune.knobs.catalogue import load
    from lsmtune.knobs.reference import page, tables

    name, shown = chosen_knobs(engine, area)
    catalogue = load(name)
    if as_json:
        print_json([{**knob.model_dump(), "allowed": knob.allowed_text()} for knob in shown])
    elif markdown and len(shown) < len(catalogue.knobs):
        say_all(tables(shown))
    elif markdown:
        say(page(catalogue).removesuffix("\n"))
    elif len(shown) < len(catalogue.knobs):
        say_all(_knob_tables(shown))
    else:
        say_all(_knob_lines(catalogue))


def _knob_tables(knobs: "Sequence[Knob]") -> Iterator[str]:
    """Yield a table per area."""
    from lsmtune.knobs.knob_text import readable_range, readable_value
    from lsmtune.knobs.reference import remarks

    columns = [
        Column("knob", at_least=30), Column("range", at_least=16), Column("default", at_least=8),
        Column("change", at_least=8), Column("effect", at_least=30),
    ]  # fmt: skip
    for area, of_area in groupby(knobs, key=lambda knob: knob.area):
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


def _knob_lines(catalogue: "Catalogue") -> Iterator[str]:
    yield from _knob_tables(catalogue.knobs)
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


def workloads(
    name: Annotated[str | None, typer.Argument(help="Show all of one workload.")] = None,
    as_json: Json = False,
) -> None:
    """List the workloads; with a name, its parameters as a study file has them."""
    from lsmtune.errors import UserError, unknown_word
    from lsmtune.workloads import PRESETS, Workload

    if name is not None and name not in PRESETS:
        raise UserError(f"workloads: {unknown_word('workload', name, PRESETS)}")
    shown = {key: preset for key, preset in PRESETS.items() if name in (None, key)}
    if as_json:
        common = Workload().model_dump(exclude={"name"}, exclude_none=True)
        print_json(
            [
                {
                    "name": name, "what": preset.what, "kind": preset.kind,
                    "objective": preset.objective, "knobs": preset.knobs,
                    "engine": preset.engine, "engines": preset.engines,
                    "parameters": {**_of_all(preset, common), **preset.parameters},
                }
                for name, preset in shown.items()
            ]
        )  # fmt: skip
    elif name is None:
        columns = [
            Column("workload"), Column("operations", at_least=30),
            Column("engines", at_least=10, drop=1),
        ]  # fmt: skip
        rows = [(key, preset.what, ", ".join(preset.engines)) for key, preset in shown.items()]
        say_all(table_lines(columns, rows))
        say("")
        say_all(paragraph("`lsmtune workloads NAME` shows the parameters of a workload."))
    else:
        say_all(_workload_lines(name, shown[name]))


def _workload_lines(name: str, preset: "Preset") -> Iterator[str]:
    """Yield one workload: what it does, and its parameters as TOML."""
    from lsmtune.workloads import Workload

    yield from paragraph(preset.what)
    facts = (
        ("engines", ", ".join(preset.engines)), ("objective", preset.objective),
        ("knobs", preset.knobs),
    )  # fmt: skip
    yield from facts_lines([("default " + k if k != "engines" else k, v) for k, v in facts])
    yield from ["", "# in a study file, with the defaults:", "[workload]"]
    common = Workload().model_dump(exclude={"name"}, exclude_none=True)
    values = {"name": name, **_of_all(preset, common), **preset.parameters}
    yield from (f"{key} = {toml_value(v)}" for key, v in values.items() if v is not None)
    unset = [key for key, value in preset.parameters.items() if value is None]
    if unset:
        yield from ["", *paragraph(f"Not set by default: {', '.join(unset)}.")]
    yield from paragraph(
        "If `operations` is not set, each client runs one operation per record. In a workload that "
        "only reads, each client runs fewer operations."
    )


def toml_value(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{k} = {toml_value(v)}' for k, v in value.items())} }}"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def _of_all(preset: "Preset", common: dict[str, Any]) -> dict[str, Any]:
    """The parameters of all workloads of RocksDB that this one has too."""
    return {name: value for name, value in common.items() if preset.has(name)} | preset.of_all


def optimizers(as_json: Json = False) -> None:
    """List the optimizers: the search algorithms that choose the next config."""
    from lsmtune.api import knobs as api

    made = api.optimizers()
    if as_json:
        print_json([{"name": optimizer.name, "summary": optimizer.summary} for optimizer in made])
        return
    columns = [Column("optimizer"), Column("method", at_least=30)]
    say_all(table_lines(columns, [(optimizer.name, optimizer.summary) for optimizer in made]))
