"""The commands `lsmtune reproduce` and `lsmtune compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.api.flags import VERSION
from lsmtune.cli.flags import (
    DEFAULT_HOME,
    Certificates,
    DbBench,
    Home,
    Insecure,
    Json,
    Knobs,
    Library,
    Limits,
    Objectives,
    OnHosts,
    Program,
    RocksDBVersion,
    key_flag,
)
from lsmtune.cli.output import ask, print_json, say, say_all, settings_of
from lsmtune.cli.tables import Column, paragraph, table_lines
from lsmtune.errors import UserError

if TYPE_CHECKING:
    from lsmtune_reproductions.comparison.compare import ComparedOptimizers

PageInHome = Annotated[
    Path | None, typer.Option("--output", "-o", help="HTML file to write [a file in --home].")
]


def reproduce(
    recipe: Annotated[
        str,
        typer.Argument(
            metavar="RECIPE",
            help="Recipe: jin2022, sst-size, compaction-style, db-bench-study or autotikv.",
        ),
    ],
    num: Annotated[
        int | None,
        typer.Option(min=1000, help="Number of records in the workload [set by the recipe]."),
    ] = None,
    configs: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Only for jin2022: number of configs to measure with the fixed workload and again "
            "with the varied workload; 0 uses the measurements shipped with lsmtune [150].",
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, max=100, help="Only for jin2022: number of genetic searches, one seed each [1]."
        ),
    ] = None,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=2, max=100, help="Number of runs per config; not for jin2022 [3 to 5, by recipe]."
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="Only for sst-size: run as long as published, an hour per run."
        ),
    ] = False,
    output: PageInHome = None,
    program: Program = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Run a published study again and compare the new with the published numbers.

    After an interruption, the same command continues the work.
    """
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune_reproductions.recipes.base import Asked
    from lsmtune_reproductions.recipes.reproduce import reproduce as run

    asked = Asked(program or "db_bench", num, configs, seeds, repeats, full)
    page, found = run(recipe, asked, home, TerminalObserver(), output=output)
    if as_json:
        print_json(found.document)
        return
    say_all(text for line in found.lines for text in paragraph(line, hanging=2))
    say(f"page: {page}")


Optimizers = Annotated[
    list[str],
    typer.Argument(
        metavar="OPTIMIZER", help="Optimizers, e.g. gp-ucb tpe random; see `lsmtune optimizers`."
    ),
]
Real = Annotated[
    bool,
    typer.Option(
        "--real", help="Run the trials on the engine; without --real, a model predicts the trials."
    ),
]

StudyFile = Annotated[
    Path | None,
    typer.Option("--study-file", help="With --real: study file that all searches use."),
]
_ONLY_REAL = "Only with --real."
Workload = Annotated[str | None, key_flag("workload", more=_ONLY_REAL, default="fillrandom")]
Records = Annotated[int | None, key_flag("workload.num", more=_ONLY_REAL, default="1000000")]
Trials = Annotated[
    int | None, typer.Option(help="Number of trials per search [100; with --real 24].")
]
Repeats = Annotated[
    int | None, typer.Option(help="Number of searches per optimizer [20; with --real 3].")
]
Target = Annotated[
    float | None,
    typer.Option(
        help="Ratio of the objective to the baseline that a search must reach, e.g. 0.8 [the "
        "median final ratio of --reference]."
    ),
]
Reference = Annotated[
    str | None,
    typer.Option(
        help="Optimizer whose median final ratio is the default of --target [the optimizer with "
        "the worst final ratio]."
    ),
]


def compare(
    optimizers: Optimizers,
    real: Real = False,
    study_file: StudyFile = None,
    workload: Workload = None,
    num: Records = None,
    knobs: Knobs = None,
    objective: Objectives = None,
    limit: Limits = None,
    trials: Trials = None,
    repeats: Repeats = None,
    target: Target = None,
    reference: Reference = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the first search, >= 1 [1].")] = None,
    output: PageInHome = None,
    program: DbBench = None,
    rocksdb: RocksDBVersion = None,
    library: Library = None,
    hosts: OnHosts = None,
    certificates: Certificates = None,
    insecure: Insecure = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Compare optimizers by their results after equal numbers of trials.

    After an interruption, the same command continues the comparison.
    """
    from lsmtune.api.on_hosts import on_hosts
    from lsmtune.api.resolve import Request
    from lsmtune.api.resolve_experiment import resolve_comparison
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune_reproductions.comparison.compare import Asked
    from lsmtune_reproductions.comparison.compare import compare as run

    keys: dict[str, Any] = {
        "knobs": knobs, "objective": objective or None, "limits": limit or None,
        "trials": trials or (24 if real else 100), "seed": seed,
        "program": program, VERSION: rocksdb, "library": library,
    }  # fmt: skip
    real_only = {"study-file": study_file, "workload": workload, "num": num, "knobs": knobs,
                 "db-bench": program, VERSION: rocksdb, "library": library,
                 "hosts": hosts}  # fmt: skip
    _check_model([] if real else [name for name, given in real_only.items() if given is not None])
    request = Request(
        place="lsmtune compare", study_file=study_file, keys=keys, workload=workload, num=num,
        flags=True,
    )  # fmt: skip
    observer = TerminalObserver()
    spec = settings_of(resolve_comparison(request, home, real=real, consent=ask, observer=observer))
    repeats = repeats or (3 if real else 20)
    asked = Asked(tuple(optimizers), spec, repeats, target, reference, real)
    found = run(asked, home, observer, output=output, hosts=on_hosts(hosts, certificates, insecure))
    if as_json:
        print_json(found.document())
        return
    say_all([*_lines(found), f"page: {found.page}"])


def _check_model(flags: list[str]) -> None:
    """Raise UserError for flags that the model of measured runs does not use."""
    if flags:
        raise UserError(
            f"--{flags[0]}: allowed only with --real; add --real, or leave out --{flags[0]}"
        )


def _lines(compared: "ComparedOptimizers") -> list[str]:
    """Return the outcome for people: a table, the best optimizer first."""
    found, version = compared.outcome, compared.predicted_from
    first = found.standings[0]
    marks = [*first.best_at]
    heading = (
        "Objective of the best config after N trials, as a ratio to the baseline. A ratio below 1 "
        f"is a gain. Each ratio is the median of {first.repeats} searches with its 95 % interval. "
        f'"trials to target" is the number of trials until the ratio is at most {found.target:.3f}.'
    )
    if version is not None:
        heading += (
            f" A model that was fitted to measured runs of RocksDB {version} predicted the trials."
        )
    columns = [Column("optimizer", at_least=9)]
    columns += [
        Column(f"{mark} trials", at_least=13, drop=0 if mark == marks[-1] else len(marks) - at)
        for at, mark in enumerate(marks)
    ]
    columns.append(Column("trials to target", at_least=11))
    rows = []
    for s in found.standings:
        cells = [f"{i.median:.3f} ({i.low:.3f} to {i.high:.3f})" for i in s.best_at.values()]
        median = s.trials_to_target[0]
        rows.append([s.optimizer, *cells, "not reached" if median is None else str(median)])
    return [*paragraph(heading), "", *table_lines(columns, rows)]
