"""`lsmtune compare`: optimizers against each other at equal budgets."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, Json, Program, note, print_json, say
from lsmtune.cli.tune import Knobs, Limits, Objectives

Optimizers = Annotated[
    list[str], typer.Argument(help="optimizers, e.g. gp-ucb tpe random; see `lsmtune optimizers`")
]
Real = Annotated[
    bool, typer.Option("--real", help="on the engine instead of the model of screened runs")
]


def compare(
    optimizers: Optimizers,
    real: Real = False,
    study_file: Annotated[
        Path | None, typer.Option("--study-file", help="--real: the study that each has to do")
    ] = None,
    workload: Annotated[str | None, typer.Option(help="--real: the load [fillrandom]")] = None,
    num: Annotated[int | None, typer.Option(help="--real: records of the load")] = None,
    knobs: Knobs = None,
    objective: Objectives = None,
    limit: Limits = None,
    trials: Annotated[int | None, typer.Option(help="trials of each search [100; 24]")] = None,
    repeats: Annotated[int | None, typer.Option(help="searches of each [20; 3]")] = None,
    target: Annotated[
        float | None, typer.Option(help="cost to be reached [that of --reference]")
    ] = None,
    reference: Annotated[
        str | None, typer.Option(help="its median at the end is the target [of the worst]")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="of the first search [1]")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="the HTML file to write [in --home]")
    ] = None,
    program: Program = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Let optimizers search at equal budgets; the same command goes on after an interruption."""
    from lsmtune.cli import comparing, tuning
    from lsmtune.spec import make_spec, read_study_file

    flags: dict[str, Any] = {
        "knobs": knobs, "objective": objective or None, "limits": limit or None,
        "trials": trials or (24 if real else 100), "seed": seed,
    }  # fmt: skip
    given = read_study_file(study_file) if study_file else {}
    given |= {key: value for key, value in flags.items() if value is not None}
    if workload is not None or num is not None:
        given["workload"] = tuning.merged_workload(given.get("workload"), workload, num)
    if real:
        tuning.name_program(given, program)
        tuning.name_ranked_knobs(given, home, note)
    else:
        told = {"study-file": study_file, "workload": workload, "num": num, "knobs": knobs,
                "db-bench": program}  # fmt: skip
        comparing.check_on_model([name for name, value in told.items() if value is not None])
    spec = make_spec(given, str(study_file or "command line"))
    asked = comparing.Asked(
        tuple(optimizers), spec, repeats or (3 if real else 20), target, reference, real
    )
    page, found = comparing.run(asked, home, output, note)
    if as_json:
        print_json(comparing.outcome_document(found))
        return
    for line in comparing.outcome_lines(found, simulated=not real):
        say(line)
    say(f"page: {page}")
