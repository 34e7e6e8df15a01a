"""`lsmtune screen`: many configs over the whole knob space, to see which knobs matter."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lsmtune.api.flags import VERSION
from lsmtune.cli.flags import (
    DEFAULT_HOME,
    AcceptNoise,
    Base,
    Cache,
    Certificates,
    DbBench,
    EngineName,
    Home,
    Insecure,
    Json,
    Knobs,
    Library,
    Measure,
    Memory,
    NewStudy,
    OnHosts,
    Rate,
    Records,
    RocksDBVersion,
    Scale,
    Seed,
    StudyFile,
    Workload,
    key_flag,
)
from lsmtune.cli.output import ask, note, print_json, settings_of

Jobs = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Number of runs at the same time; lsmtune uses 1 if more runs would change the "
        "results [CPUs / 2].",
    ),
]
Design = Annotated[str | None, key_flag("screen.design", default="sobol")]
Replicated = Annotated[int | None, key_flag("screen.replicated", default="20")]
Runs = Annotated[int | None, key_flag("screen.runs", default="3")]
Batch = Annotated[str | None, key_flag("screen.batch")]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write the runs to this file as JSON lines [a file in --home]."
    ),
]


def screen(
    study_file: StudyFile = None,
    engine: EngineName = None,
    base: Base = None,
    cache: Cache = None,
    workload: Workload = None,
    num: Records = None,
    measure: Measure = None,
    rate: Rate = None,
    scale: Scale = None,
    knobs: Knobs = None,
    memory: Memory = None,
    design: Design = None,
    trials: Annotated[int | None, typer.Option(help="Number of configs [200].")] = None,
    replicated: Replicated = None,
    runs: Runs = None,
    batch: Batch = None,
    jobs: Jobs = None,
    output: Output = None,
    study: NewStudy = None,
    seed: Seed = None,
    program: DbBench = None,
    rocksdb: RocksDBVersion = None,
    library: Library = None,
    accept_noise: AcceptNoise = False,
    home: Home = DEFAULT_HOME,
    hosts: OnHosts = None,
    certificates: Certificates = None,
    insecure: Insecure = False,
    as_json: Json = False,
) -> None:
    """Measure many configs that cover the range of every knob, to find the knobs that matter.

    After `lsmtune screen`, the command `lsmtune importance STUDY` ranks the knobs. After an
    interruption, the same command continues the measurements.
    """
    from lsmtune.api import screen as api
    from lsmtune.api.on_hosts import on_hosts
    from lsmtune.api.resolve import Request
    from lsmtune.api.resolve_experiment import resolve_screening
    from lsmtune.cli.progress import TerminalObserver

    keys: dict[str, Any] = {
        "engine": engine, "base": base, "cache": cache, "scale": scale, "knobs": knobs,
        "measure": measure, "rate": rate,
        "memory": memory, "trials": trials, "study": study, "seed": seed,
        "program": program, VERSION: rocksdb, "library": library,
    }  # fmt: skip
    table = {"design": design, "replicated": replicated, "runs": runs, "batch": batch}
    request = Request(
        place="lsmtune screen", study_file=study_file, keys=keys, workload=workload, num=num,
        flags=True,
    )  # fmt: skip
    spec = settings_of(resolve_screening(request, table, home, consent=ask))
    found = api.screen(
        spec, home, TerminalObserver(), output=output, jobs=jobs, accept_noise=accept_noise,
        hosts=on_hosts(hosts, certificates, insecure),
    )  # fmt: skip
    note(f"runs: {found.output} ({found.runs} runs, {found.failed} failed)")
    for warning in found.warnings:
        note(warning)
    if as_json:
        print_json(found.document())
