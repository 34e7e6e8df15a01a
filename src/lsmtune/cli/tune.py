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

StudyFile = Annotated[
    Path | None,
    typer.Argument(metavar="STUDY.toml", help="Study file; flags override its values."),
]
Base = Annotated[
    str | None,
    typer.Option(
        help="Baseline: your OPTIONS file, options string, my.cnf or tikv.toml [the defaults of "
        "the engine].",
        metavar="FILE",
        rich_help_panel="Workload and baseline",
    ),
]
Family = Annotated[
    str | None,
    typer.Option(
        help="Column family of your OPTIONS file to tune [default].",
        metavar="NAME",
        rich_help_panel="Workload and baseline",
    ),
]
Cache = Annotated[
    str | None,
    typer.Option(
        help="Size of your block cache at full size, e.g. 4GiB; --scale divides it too. OPTIONS "
        "files do not contain this size.",
        metavar="SIZE",
        rich_help_panel="Workload and baseline",
    ),
]
Knobs = Annotated[
    str | None,
    typer.Option(
        help="Knobs to tune: a preset, names as a,b,c, or top:N for the N knobs that matter most "
        "in measured runs. lasso:N ranks the knobs with a linear model [a preset that suits "
        "the workload].",
        metavar="NAMES",
        rich_help_panel="Goal",
    ),
]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC",
        help="What to improve: balanced, jin2022 or a metric; repeat the flag for several metrics "
        "[the objective that suits the workload].",
        rich_help_panel="Goal",
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        metavar="LIMIT",
        help='Limit that the winner must keep, e.g. "live_sst_bytes <= 1.1 * base". '
        "The word `base` is the value of the baseline. Repeat the flag for several limits.",
        rich_help_panel="Goal",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        help="Memory that the full-size store may need: memtables, caches, and index and filter "
        "blocks outside the block cache, e.g. 4GiB [the memory of the baseline].",
        metavar="SIZE",
        rich_help_panel="Goal",
    ),
]
DeployCores = Annotated[
    int | None,
    typer.Option(
        help="CPU cores of the machine that you deploy to; they limit the numbers of threads that "
        "are searched [the usable cores of this machine].",
        metavar="N",
        rich_help_panel="Goal",
    ),
]
Trials = Annotated[
    int | None,
    typer.Option(
        help="Maximum number of trials [16; no maximum with --budget].",
        metavar="N",
        rich_help_panel="Search",
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        help="Maximum search time, e.g. 90s, 20m or 1.5h [none].",
        metavar="TIME",
        rich_help_panel="Search",
    ),
]
NewStudy = Annotated[
    str | None,
    typer.Option(
        help="Name of the study [a name from the settings].",
        metavar="NAME",
        rich_help_panel="Search",
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        help="Seed of the search and of the workload, >= 1 [1].",
        metavar="N",
        rich_help_panel="Search",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        help="End the search early: `stable` when lsmtune expects no further gain, or N after N "
        "trials in a row without a gain [off].",
        metavar="stable|N",
        rich_help_panel="Search",
    ),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        help="Minimum number of pairs of runs that verify the winner: 0 for no verification, else "
        "at least 6 [6].",
        metavar="N",
        rich_help_panel="Checks of the winner",
    ),
]

Simplify = Annotated[
    bool | None,
    typer.Option(
        "--simplify/--no-simplify",
        help="Take back changes of the winner that do not matter, or keep all [simplify].",
        rich_help_panel="Checks of the winner",
    ),
]
Optimizer = Annotated[
    str | None,
    typer.Option(
        help="Search algorithm, see `lsmtune optimizers` [guided if the simulator supports the "
        "workload, else tpe].",
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
        help="Earlier study in --home that the search starts from, or `all`; repeat the flag for "
        "several studies.",
        rich_help_panel="Search",
    ),
]
Online = Annotated[
    bool,
    typer.Option(
        "--online",
        help="Change the options of a running engine; only for the engines rocksdb (not db_bench) "
        "and myrocks.",
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
