"""`lsmtune compare`: optimizers against each other at equal budgets."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lsmtune.cli.common import (
    DEFAULT_HOME,
    DbBench,
    Home,
    Json,
    Library,
    RocksDBVersion,
    ask,
    print_json,
    say_all,
    settings_of,
)
from lsmtune.cli.tune import Knobs, Limits, Objectives
from lsmtune.study_keys import STUDY_KEYS, WORKLOAD_KEYS, flag_help

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
Workload = Annotated[
    str | None,
    typer.Option(help=flag_help(STUDY_KEYS["workload"], "Only with --real.", "fillrandom")),
]
Records = Annotated[
    int | None,
    typer.Option(help=flag_help(WORKLOAD_KEYS["num"], "Only with --real.", "1000000")),
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
Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="HTML file to write [a file in --home].")
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
    trials: Annotated[
        int | None, typer.Option(help="Number of trials per search [100; with --real 24].")
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(help="Number of searches per optimizer [20; with --real 3].")
    ] = None,
    target: Target = None,
    reference: Reference = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the first search, >= 1 [1].")] = None,
    output: Output = None,
    program: DbBench = None,
    rocksdb: RocksDBVersion = None,
    library: Library = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Compare optimizers by their results after equal numbers of trials.

    After an interruption, the same command continues the comparison.
    """
    from lsmtune.api import compare as api
    from lsmtune.api.resolve import Request
    from lsmtune.api.resolve_experiment import resolve_comparison
    from lsmtune.cli.compared_optimizers import compared_lines
    from lsmtune.cli.progress import TerminalObserver

    keys: dict[str, Any] = {
        "knobs": knobs, "objective": objective or None, "limits": limit or None,
        "trials": trials or (24 if real else 100), "seed": seed,
        "program": program, "rocksdb": rocksdb, "library": library,
    }  # fmt: skip
    real_only = {"study-file": study_file, "workload": workload, "num": num, "knobs": knobs,
                 "db-bench": program, "rocksdb": rocksdb, "library": library}  # fmt: skip
    _check_model([] if real else [name for name, given in real_only.items() if given is not None])
    request = Request(
        place="lsmtune compare", study_file=study_file, keys=keys, workload=workload, num=num,
        flags=True,
    )  # fmt: skip
    observer = TerminalObserver()
    spec = settings_of(resolve_comparison(request, home, real=real, consent=ask, observer=observer))
    asked = api.Asked(
        tuple(optimizers), spec, repeats or (3 if real else 20), target, reference,
        real,
    )  # fmt: skip
    found = api.compare(asked, home, observer, output=output)
    if as_json:
        print_json(found.document())
        return
    say_all([*compared_lines(found.outcome, simulated=not real), f"page: {found.page}"])


def _check_model(flags: list[str]) -> None:
    """Raise UserError for flags that the model of measured runs does not use."""
    from lsmtune.errors import UserError

    if flags:
        raise UserError(
            f"--{flags[0]}: allowed only with --real; add --real, or leave out --{flags[0]}"
        )
