"""`lsmtune knobs`, `workloads` and `optimizers`: what can be chosen."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.api.flags import DEFAULT_ENGINE
from lsmtune.cli.flags import Json
from lsmtune.cli.output import print_json, say, say_all
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines

if TYPE_CHECKING:
    from lsmtune.api.knobs import Catalogue, Knob
    from lsmtune.api.workloads import WorkloadFacts


def knobs(
    engine: Annotated[
        str,
        typer.Argument(
            metavar="[ENGINE|KNOB]",
            help="Engine (rocksdb, myrocks, embedded, tikv, simulated), or one knob of RocksDB.",
        ),
    ] = DEFAULT_ENGINE,
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

    found = chosen_knobs(engine, area)
    if as_json:
        print_json(found.document())
    elif markdown:
        say(found.markdown().removesuffix("\n"))
    elif found.is_whole:
        say_all(_knob_lines(found.catalogue))
    else:
        say_all(_knob_tables(found.catalogue, found.knobs))


def _knob_tables(catalogue: "Catalogue", knobs: "Sequence[Knob]") -> Iterator[str]:
    """Yield a table per area."""
    from lsmtune.report.text.knob_rows import knob_row

    columns = [
        Column("knob", at_least=30), Column("range", at_least=16), Column("default", at_least=8),
        Column("change", at_least=8), Column("effect", at_least=30),
    ]  # fmt: skip
    for area, of_area in groupby(knobs, key=lambda knob: knob.area):
        yield f"{area}:"
        yield from table_lines(columns, (knob_row(catalogue, k) for k in of_area), 2)
        yield ""


def _knob_lines(catalogue: "Catalogue") -> Iterator[str]:
    from lsmtune.report.text.knob_rows import preset_rows

    yield from _knob_tables(catalogue, catalogue.knobs)
    yield "presets of knobs (--knobs NAME):"
    heads = [Column("preset", at_least=12), Column("knobs", right=True), Column("contents")]
    yield from table_lines(heads, preset_rows(catalogue), indent=2)
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
    from lsmtune.api import workloads as api

    found = api.workloads(name)
    if as_json:
        print_json([workload.document() for workload in found])
    elif name is None:
        columns = [
            Column("workload"), Column("operations", at_least=30),
            Column("engines", at_least=10, drop=1),
        ]  # fmt: skip
        rows = [(one.name, one.definition.what, ", ".join(one.engines)) for one in found]
        say_all(table_lines(columns, rows))
        say("")
        say_all(paragraph("`lsmtune workloads NAME` shows the parameters of a workload."))
    else:
        say_all(_workload_lines(found[0]))


def _workload_lines(found: "WorkloadFacts") -> Iterator[str]:
    """Yield one workload: what it does, and its parameters as TOML."""
    yield from paragraph(found.definition.what)
    facts = [
        ("engines", ", ".join(found.engines)), ("default objective", found.objective),
        ("default knobs", found.knobs),
    ]  # fmt: skip
    yield from facts_lines(facts)
    yield from ["", "# in a study file, with the defaults:", "[workload]"]
    values = {"name": found.name, **found.parameters}
    yield from (f"{key} = {_toml_value(v)}" for key, v in values.items() if v is not None)
    unset = [key for key, value in found.parameters.items() if value is None]
    if unset:
        yield from ["", *paragraph(f"Not set by default: {', '.join(unset)}.")]
    if "operations" not in found.parameters:
        return
    yield from paragraph(
        "If `operations` is not set, each client runs one operation per record. In a workload that "
        "only reads, each client runs fewer operations."
    )


def _toml_value(value: Any) -> str:
    """Return a value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{k} = {_toml_value(v)}' for k, v in value.items())} }}"
    return f'"{value}"' if isinstance(value, str) else f"{value}"


def optimizers(as_json: Json = False) -> None:
    """List the optimizers: the search algorithms that choose the next config."""
    from lsmtune.api import knobs as api

    made = api.optimizers()
    if as_json:
        print_json([{"name": optimizer.name, "summary": optimizer.summary} for optimizer in made])
        return
    columns = [Column("optimizer"), Column("method", at_least=30)]
    say_all(table_lines(columns, [(optimizer.name, optimizer.summary) for optimizer in made]))
