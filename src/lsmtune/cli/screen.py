"""`lsmtune screen`: many configs over the whole knob space, to see which knobs matter."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lsmtune.cli.common import (
    DEFAULT_HOME,
    AcceptNoise,
    DbBench,
    EngineFlag,
    Home,
    Json,
    Library,
    Records,
    RocksDBVersion,
    Scale,
    Workload,
    ask,
    note,
    print_json,
    settings_of,
)
from lsmtune.cli.tune import Base, Cache, Knobs, Memory, NewStudy, Seed, StudyFile
from lsmtune.study_keys import SCREEN_KEYS, flag_help

Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of runs at the same time; lsmtune uses 1 if more runs would change the "
        "results "
        "[CPUs / 2].",
    ),
]
Design = Annotated[
    str | None,
    typer.Option(help=flag_help(SCREEN_KEYS["design"], default="sobol")),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write the runs to this file as JSON lines [a file in --home]."
    ),
]


def screen(
    study_file: StudyFile = None,
    engine: EngineFlag = None,
    base: Base = None,
    cache: Cache = None,
    workload: Workload = None,
    num: Records = None,
    scale: Scale = None,
    knobs: Knobs = None,
    memory: Memory = None,
    design: Design = None,
    trials: Annotated[int | None, typer.Option(help="Number of configs [200].")] = None,
    replicated: Annotated[
        int | None,
        typer.Option(help=flag_help(SCREEN_KEYS["replicated"], default="20")),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help=flag_help(SCREEN_KEYS["runs"], default="3"))
    ] = None,
    batch: Annotated[str | None, typer.Option(help=flag_help(SCREEN_KEYS["batch"]))] = None,
    jobs: Jobs = None,
    output: Output = None,
    study: NewStudy = None,
    seed: Seed = None,
    program: DbBench = None,
    rocksdb: RocksDBVersion = None,
    library: Library = None,
    accept_noise: AcceptNoise = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Measure many configs that cover the range of every knob, to find the knobs that matter.

    After `lsmtune screen`, the command `lsmtune importance STUDY` ranks the knobs. After an
    interruption, the same command continues the measurements.
    """
    from lsmtune.api import screen as api
    from lsmtune.api.resolve import Request
    from lsmtune.api.resolve_experiment import resolve_screening
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.cli.screened import screened_lines

    keys: dict[str, Any] = {
        "engine": engine, "base": base, "cache": cache, "scale": scale, "knobs": knobs,
        "memory": memory, "trials": trials, "study": study, "seed": seed,
        "program": program, "rocksdb": rocksdb, "library": library,
    }  # fmt: skip
    table = {"design": design, "replicated": replicated, "runs": runs, "batch": batch}
    request = Request(
        place="lsmtune screen", study_file=study_file, keys=keys, workload=workload, num=num,
        flags=True,
    )  # fmt: skip
    spec = settings_of(resolve_screening(request, table, home, consent=ask))
    watch = TerminalObserver()
    found = api.screen(spec, home, watch, output=output, jobs=jobs, accept_noise=accept_noise)
    for line in screened_lines(found):
        note(line)
    if as_json:
        print_json(found.document())
