"""`lsmtune screen`: many configs spread over the whole space, for seeing which knobs matter."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, Json, Program, note, print_json
from lsmtune.cli.tune import Base, Cache, Knobs, Memory, StudyFile


def screen(
    study_file: StudyFile = None,
    engine: Annotated[str | None, typer.Option(help="the system under test [rocksdb]")] = None,
    base: Base = None,
    cache: Cache = None,
    workload: Annotated[str | None, typer.Option(help="the load [fillrandom]")] = None,
    num: Annotated[int | None, typer.Option(help="records of the load [1000000]")] = None,
    scale: Annotated[str | None, typer.Option(help="size of the tree, e.g. 1/64 or 1")] = None,
    knobs: Knobs = None,
    memory: Memory = None,
    design: Annotated[
        str | None, typer.Option(help="random, latin or sobol: how configs are spread [sobol]")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="configs of the design [200]")] = None,
    replicated: Annotated[
        int | None, typer.Option(help="configs that run more than once, for the noise [20]")
    ] = None,
    runs: Annotated[int | None, typer.Option(help="runs of each of those [3]")] = None,
    batch: Annotated[
        str | None, typer.Option(help="configs from a file of JSON lines instead of a design")
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="runs side by side, if that changes nothing [1 for 2 CPUs]"),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="write the runs there as JSON lines")
    ] = None,
    study: Annotated[str | None, typer.Option(help="name of the study")] = None,
    seed: Annotated[int | None, typer.Option(help="makes the design repeatable [1]")] = None,
    program: Program = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Measure many configs of a space; the same command goes on after any interruption."""
    from lsmtune.cli import screening, tuning
    from lsmtune.spec import make_spec, read_study_file

    flags: dict[str, Any] = {
        "engine": engine, "base": base, "cache": cache, "scale": scale, "knobs": knobs,
        "memory": memory, "trials": trials, "study": study, "seed": seed,
    }  # fmt: skip
    table = {"design": design, "replicated": replicated, "runs": runs, "batch": batch}
    given = read_study_file(study_file) if study_file else {}
    given |= {key: value for key, value in flags.items() if value is not None}
    if workload is not None or num is not None:
        given["workload"] = tuning.merged_workload(given.get("workload"), workload, num)
    settings = screening.with_screen(given, {k: v for k, v in table.items() if v is not None})
    tuning.name_program(settings, program)
    spec = make_spec(settings, str(study_file or "command line"))
    document = screening.run_screening(spec, home, output, jobs, note)
    if as_json:
        print_json(document)
