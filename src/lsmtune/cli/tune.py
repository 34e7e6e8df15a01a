"""`lsmtune tune`: from a workload to verified options."""

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
)
from lsmtune.study_keys import STUDY_KEYS, flag_help

StudyFile = Annotated[
    Path | None,
    typer.Argument(metavar="STUDY.toml", help="Study file; flags override its values."),
]
Base = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["base"]),
        metavar="FILE",
        rich_help_panel="Workload and baseline",
    ),
]
Family = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["family"], default="default"),
        metavar="NAME",
        rich_help_panel="Workload and baseline",
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["cache"]),
        metavar="SIZE",
        rich_help_panel="Workload and baseline",
    ),
]
Knobs = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["knobs"]),
        metavar="NAMES",
        rich_help_panel="Goal",
    ),
]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC",
        help=flag_help(STUDY_KEYS["objective"], "Repeat the flag for several metrics."),
        rich_help_panel="Goal",
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIMIT",
        help=flag_help(STUDY_KEYS["limits"], "Repeat the flag for several limits."),
        rich_help_panel="Goal",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["memory"]),
        metavar="SIZE",
        rich_help_panel="Goal",
    ),
]
DeployCores = Annotated[
    int | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["deploy_cores"]),
        metavar="N",
        rich_help_panel="Goal",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["trials"]),
        metavar="N",
        rich_help_panel="Search",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["budget"], default="none"),
        metavar="TIME",
        rich_help_panel="Search",
    ),
]
NewStudy = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["study"]),
        metavar="NAME",
        rich_help_panel="Search",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["seed"], default="1"),
        metavar="N",
        rich_help_panel="Search",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["until"], default="off"),
        metavar="stable|N",
        rich_help_panel="Search",
    ),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["pairs"], default="6"),
        metavar="N",
        rich_help_panel="Checks of the winner",
    ),
]

Simplify = Annotated[
    bool | None,
    typer.Option(
        "--simplify/--no-simplify",
        help=flag_help(STUDY_KEYS["simplify"], default="simplify"),
        rich_help_panel="Checks of the winner",
    ),
]
Optimizer = Annotated[
    str | None,
    typer.Option(
        help=flag_help(STUDY_KEYS["optimizer"]),
        metavar="NAME",
        rich_help_panel="Search",
    ),
]
AsPublished = Annotated[
    bool,
    typer.Option(
        "--as-published",
        help="Use the optimizer exactly as the published paper describes the algorithm.",
        rich_help_panel="Search",
    ),
]
WarmStart = Annotated[
    list[str] | None,
    typer.Option(
        metavar="STUDY",
        help=flag_help(STUDY_KEYS["warm_start"], "Repeat the flag for several studies."),
        rich_help_panel="Search",
    ),
]
Online = Annotated[
    bool,
    typer.Option(
        "--online",
        help=flag_help(STUDY_KEYS["online"]),
    ),
]
NewBaseline = Annotated[
    bool,
    typer.Option(
        "--new-baseline",
        help="After a change of engine or machine: start a new study that measures the baseline "
        "again and uses the earlier runs as a guide.",
        rich_help_panel="Search",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Print the plan and run no trial. The program of the engine starts only to report its "
        "version and options.",
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", help="List the options of the baseline file that lsmtune does not use."
    ),
]


def tune(
    study_file: StudyFile = None,
    engine: EngineFlag = None,
    base: Base = None,
    family: Family = None,
    cache: Cache = None,
    workload: Workload = None,
    num: Records = None,
    scale: Scale = None,
    knobs: Knobs = None,
    objective: Objectives = None,
    limit: Limits = None,
    memory: Memory = None,
    deploy_cores: DeployCores = None,
    optimizer: Optimizer = None,
    as_published: AsPublished = False,
    warm_start: WarmStart = None,
    trials: Trials = None,
    budget: Budget = None,
    until: Until = None,
    pairs: Pairs = None,
    simplify: Simplify = None,
    online: Online = False,
    study: NewStudy = None,
    seed: Seed = None,
    program: DbBench = None,
    rocksdb: RocksDBVersion = None,
    library: Library = None,
    home: Home = DEFAULT_HOME,
    dry_run: DryRun = False,
    accept_noise: AcceptNoise = False,
    new_baseline: NewBaseline = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Find better options for a workload, verify the winner, write the file to deploy.

    It runs RocksDB unless --engine or --workload name another. `--study NAME` continues a study.
    """
    from lsmtune.api.resolve import Request
    from lsmtune.cli import tuning

    keys: dict[str, Any] = {
        "engine": engine, "base": base, "family": family, "cache": cache, "study": study,
        "pairs": pairs, "memory": memory, "seed": seed, "library": library, "rocksdb": rocksdb,
        "until": until, "deploy_cores": deploy_cores, "simplify": simplify, "limits": limit or None,
        "budget": budget, "warm_start": warm_start or None, "trials": trials, "program": program,
        "scale": scale, "optimizer": optimizer, "objective": objective or None, "knobs": knobs,
    }  # fmt: skip
    request = Request(
        place="lsmtune tune", study_file=study_file, keys=keys, workload=workload, num=num,
        online=online, as_published=as_published, new_baseline=new_baseline, flags=True,
    )  # fmt: skip
    shown = {"verbose": verbose, "as_json": as_json}
    tuning.run(request, home, dry_run=dry_run, accept_noise=accept_noise, **shown)
