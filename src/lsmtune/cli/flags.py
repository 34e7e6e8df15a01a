"""The flags that several commands share, and all flags that set a key of a study file."""

from pathlib import Path
from typing import Annotated, Any

import typer

from lsmtune.api.flags import DB_BENCH_VARIABLE, DEFAULT_HOME, key_help

__all__ = ["DEFAULT_HOME", "key_flag"]

_ENGINE, _WORKLOAD, _GOAL = "Engine", "Workload and baseline", "Goal"
_SEARCH, _CHECKS = "Search", "Checks of the winner"


def key_flag(
    key: str,
    *names: str,
    metavar: str | None = None,
    panel: str | None = None,
    more: str = "",
    default: str = "",
) -> Any:
    """Return the flag that sets a key of a study file; the help is the description of the key.

    Without names, the flag has the name of the parameter. `panel` is its group in the help. `more`
    and `default`: see `key_help`.
    """
    help_text = key_help(key, more, default)
    return typer.Option(*names, help=help_text, metavar=metavar, rich_help_panel=panel)


StudyName = Annotated[str, typer.Argument(metavar="STUDY", help="Name of the study.")]
StudyFile = Annotated[
    Path | None,
    typer.Argument(metavar="STUDY.toml", help="Study file; flags override its values."),
]
Home = Annotated[
    Path,
    typer.Option(
        "--home",
        envvar="LSMTUNE_HOME",
        help="Folder that contains the studies and the files of the studies.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Page = Annotated[Path | None, typer.Option(help="Write an HTML page to this file.")]
OtherTrial = Annotated[
    int | None,
    typer.Option("--trial", help="Number of a trial to use instead of the winner [the winner]."),
]
AcceptNoise = Annotated[
    bool,
    typer.Option(
        "--accept-noise",
        help="Keep and mark runs that other programs disturb; do not run them again.",
    ),
]
Program = Annotated[
    str | None,
    typer.Option(
        "--db-bench",
        envvar=DB_BENCH_VARIABLE,
        help="Path of the program db_bench, or its name on PATH [db_bench].",
    ),
]

Certificates = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR", help="Folder with the certificates of `lsmtune hosts init` [none]."
    ),
]
Insecure = Annotated[
    bool,
    typer.Option(
        "--insecure",
        help="Allow plain tcp in a private network. Whoever can connect can run programs.",
    ),
]
OnHosts = Annotated[
    str | None,
    typer.Option(
        "--hosts",
        metavar="ADDRESS|N",
        help="Run on the hosts of a scheduler, tls://IP:8786, or in N processes on this machine if "
        "the engine measures no times [none].",
    ),
]

EngineName = Annotated[str | None, key_flag("engine", "--engine", metavar="NAME", panel=_ENGINE)]
DbBench = Annotated[
    str | None,
    typer.Option(
        "--db-bench",
        envvar=DB_BENCH_VARIABLE,
        # Not the description of `program`, which names the programs of all engines.
        help="Run this db_bench: a path, or a name on PATH [none].",
        rich_help_panel=_ENGINE,
    ),
]
RocksDBVersion = Annotated[
    str | None, key_flag("rocksdb", "--rocksdb", metavar="VERSION", panel=_ENGINE)
]
Library = Annotated[
    str | None, key_flag("library", "--library", metavar="FILE", panel=_ENGINE, default="none")
]

Base = Annotated[str | None, key_flag("base", metavar="FILE", panel=_WORKLOAD)]
Family = Annotated[
    str | None, key_flag("family", metavar="NAME", panel=_WORKLOAD, default="default")
]
Cache = Annotated[str | None, key_flag("cache", metavar="SIZE", panel=_WORKLOAD)]
Workload = Annotated[
    str | None, key_flag("workload", metavar="NAME", panel=_WORKLOAD, default="that of the engine")
]
Records = Annotated[
    int | None, key_flag("workload.num", metavar="N", panel=_WORKLOAD, default="1000000")
]
Measure = Annotated[str | None, key_flag("measure", metavar="running|filled", panel=_WORKLOAD)]
Rate = Annotated[str | None, key_flag("rate", metavar="RATE", panel=_WORKLOAD)]
Capacity = Annotated[str | None, key_flag("capacity", metavar="LIMIT", panel=_WORKLOAD)]
Scale = Annotated[str | None, key_flag("scale", metavar="FRACTION", panel=_WORKLOAD)]

Knobs = Annotated[str | None, key_flag("knobs", metavar="NAMES", panel=_GOAL)]
Objectives = Annotated[
    list[str] | None,
    key_flag(
        "objective", metavar="METRIC", panel=_GOAL, more="Repeat the flag for several metrics."
    ),
]
Limits = Annotated[
    list[str] | None,
    key_flag("limits", metavar="LIMIT", panel=_GOAL, more="Repeat the flag for several limits."),
]
Memory = Annotated[str | None, key_flag("memory", metavar="SIZE", panel=_GOAL)]
DeployCores = Annotated[int | None, key_flag("deploy_cores", metavar="N", panel=_GOAL)]

Optimizer = Annotated[str | None, key_flag("optimizer", metavar="NAME", panel=_SEARCH)]
AsPublished = Annotated[
    bool,
    typer.Option(
        "--as-published",
        help="Use the optimizer exactly as the published paper describes the algorithm.",
        rich_help_panel=_SEARCH,
    ),
]
WarmStart = Annotated[
    list[str] | None,
    key_flag(
        "warm_start", metavar="STUDY", panel=_SEARCH, more="Repeat the flag for several studies."
    ),
]
Trials = Annotated[int | None, key_flag("trials", metavar="N", panel=_SEARCH)]
Budget = Annotated[str | None, key_flag("budget", metavar="TIME", panel=_SEARCH, default="none")]
Until = Annotated[str | None, key_flag("until", metavar="stable|N", panel=_SEARCH, default="off")]
NewStudy = Annotated[str | None, key_flag("study", metavar="NAME", panel=_SEARCH)]
Seed = Annotated[int | None, key_flag("seed", metavar="N", panel=_SEARCH, default="1")]
NewBaseline = Annotated[
    bool,
    typer.Option(
        "--new-baseline",
        help="After a change of engine or machine: start a new study that measures the baseline "
        "again and uses the earlier runs as a guide.",
        rich_help_panel=_SEARCH,
    ),
]

Pairs = Annotated[int | None, key_flag("pairs", metavar="N", panel=_CHECKS, default="6")]
Simplify = Annotated[
    bool | None,
    key_flag("simplify", "--simplify/--no-simplify", panel=_CHECKS, default="simplify"),
]

NewStore = Annotated[bool, key_flag("new_store", "--new-store", panel=_GOAL)]
OneWay = Annotated[bool, key_flag("one_way", "--one-way", panel=_GOAL)]

Online = Annotated[bool, key_flag("online", "--online")]
