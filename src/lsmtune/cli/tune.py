"""`lsmtune tune`: the whole way from a load to verified options."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lsmtune.cli.common import DEFAULT_HOME, Home, Json, Program, note, print_json

StudyFile = Annotated[Path | None, typer.Argument(metavar="[STUDY.toml]", help="a study as a file")]
Base = Annotated[
    str | None,
    typer.Option(help="your own OPTIONS file, my.cnf or tikv.toml, to tune from [the defaults]"),
]
Cache = Annotated[
    str | None, typer.Option(help="your block cache, which no OPTIONS file tells, e.g. 4GiB")
]
Knobs = Annotated[
    str | None,
    typer.Option(
        help="a preset, knobs: a,b,c, or of a screening top:6 or lasso:6 [what suits the load]"
    ),
]
Objectives = Annotated[
    list[str] | None,
    typer.Option(
        help="balanced, jin2022, a metric, or several metrics, one an --objective "
        "[what suits the load]"
    ),
]
Limits = Annotated[
    list[str] | None, typer.Option(help='e.g. "live_sst_bytes <= 1.1 * base"; repeatable')
]
Memory = Annotated[str | None, typer.Option(help="most for memtables + caches [as the base]")]
Until = Annotated[
    str | None,
    typer.Option(help="stable, or how many trials in a row without a gain end the search"),
]
Pairs = Annotated[int | None, typer.Option(help="fewest pairs of runs to verify with, 0: none [6]")]

Optimizer = Annotated[
    str | None, typer.Option(help="see `lsmtune optimizers` [guided where simulated, else tpe]")
]
AsPublished = Annotated[
    bool, typer.Option("--as-published", help="the optimizer as its paper has it")
]
WarmStart = Annotated[
    list[str] | None,
    typer.Option(help="begin with what a study of this home found, or all; repeatable"),
]
Online = Annotated[
    bool, typer.Option("--online", help="change the options of a running engine; myrocks")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="print what would run, and run nothing")]


def tune(
    study_file: StudyFile = None,
    engine: Annotated[str | None, typer.Option(help="the system under test [rocksdb]")] = None,
    base: Base = None,
    cache: Cache = None,
    workload: Annotated[str | None, typer.Option(help="the load [fillrandom]")] = None,
    num: Annotated[int | None, typer.Option(help="records of the load [1000000]")] = None,
    scale: Annotated[str | None, typer.Option(help="size of the tree, e.g. 1/64 or 1")] = None,
    knobs: Knobs = None,
    objective: Objectives = None,
    limit: Limits = None,
    memory: Memory = None,
    optimizer: Optimizer = None,
    as_published: AsPublished = False,
    warm_start: WarmStart = None,
    trials: Annotated[int | None, typer.Option(help="trials to search with [16]")] = None,
    budget: Annotated[str | None, typer.Option(help="time to search for, e.g. 20m")] = None,
    until: Until = None,
    pairs: Pairs = None,
    online: Online = False,
    study: Annotated[str | None, typer.Option(help="name of the study")] = None,
    seed: Annotated[int | None, typer.Option(help="makes the search repeatable [1]")] = None,
    program: Program = None,
    home: Home = DEFAULT_HOME,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Tune an engine for a load, verify the winner, write page and options."""
    from lsmtune.cli import tuning
    from lsmtune.cli.usual_optimizer import with_usual_optimizer
    from lsmtune.optimizers.registry import published_name
    from lsmtune.spec import MANY_TRIALS, make_spec, read_study_file

    flags: dict[str, Any] = {
        "engine": engine, "base": base, "cache": cache, "scale": scale, "knobs": knobs,
        "objective": objective or None, "limits": limit or None, "memory": memory,
        "optimizer": optimizer, "trials": trials, "warm_start": warm_start or None,
        "budget": budget, "until": until, "pairs": pairs, "study": study, "seed": seed,
    }  # fmt: skip
    given = read_study_file(study_file) if study_file else {}
    given |= {key: value for key, value in flags.items() if value is not None}
    if workload is not None or num is not None:
        given["workload"] = tuning.merged_workload(given.get("workload"), workload, num)
    if online:
        given.setdefault("online", {})
    if as_published:
        given["optimizer"] = published_name(given.get("optimizer", "tpe"))
    tuning.name_program(given, program)
    tuning.name_ranked_knobs(given, home, note)
    if budget is not None and trials is None:
        given["trials"] = MANY_TRIALS
    spec = make_spec(given, str(study_file or "command line"))
    spec = spec if "optimizer" in given else with_usual_optimizer(spec, home)
    if dry_run:
        tuning.print_plan(spec, home, as_json=as_json)
        return
    run = tuning.run_study if spec.online is None else tuning.run_online
    document = run(spec, home, note)
    if as_json:
        print_json(document)
