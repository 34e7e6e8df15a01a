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
    note,
    print_json,
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
    batch: Annotated[
        str | None,
        typer.Option(help=flag_help(SCREEN_KEYS["batch"])),
    ] = None,
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
    from lsmtune.cli import choosing, screening, tuning
    from lsmtune.spec import make_spec

    flags: dict[str, Any] = {
        "engine": engine, "base": base, "cache": cache, "scale": scale, "knobs": knobs,
        "memory": memory, "trials": trials, "study": study, "seed": seed,
        "program": program, "rocksdb": rocksdb, "library": library,
    }  # fmt: skip
    table = {"design": design, "replicated": replicated, "runs": runs, "batch": batch}
    given = tuning.given_settings(study_file, flags, workload, num)
    settings = screening.with_screen(given, {k: v for k, v in table.items() if v is not None})
    choosing.name_rocksdb(settings, flags, home, note)
    names = tuning.flag_names(flags, workload, num)
    names |= {f"screen.{k}": f"--{k}" for k, value in table.items() if value is not None}
    spec = make_spec(settings, str(study_file or "lsmtune screen"), names)
    document = screening.run_screening(spec, home, output, jobs, note, accept_noise=accept_noise)
    if as_json:
        print_json(document)
