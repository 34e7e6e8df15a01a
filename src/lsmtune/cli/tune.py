"""`lsmtune tune`: from a workload to verified options."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lsmtune.api.flags import VERSION
from lsmtune.cli.flags import (
    DEFAULT_HOME,
    AcceptNoise,
    AsPublished,
    Base,
    Budget,
    Cache,
    Capacity,
    Certificates,
    DbBench,
    DeployCores,
    EngineName,
    Family,
    Home,
    Insecure,
    Json,
    Knobs,
    Library,
    Limits,
    Measure,
    Memory,
    NewBaseline,
    NewStore,
    NewStudy,
    Objectives,
    OneWay,
    OnHosts,
    Online,
    Optimizer,
    Pairs,
    Rate,
    Records,
    RocksDBVersion,
    Scale,
    Seed,
    Simplify,
    StudyFile,
    Trials,
    Until,
    WarmStart,
    Workload,
)
from lsmtune.cli.output import ask, print_json, say_all, settings_of
from lsmtune.errors import UserError

if TYPE_CHECKING:
    from lsmtune.api.resolve import Request

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
    engine: EngineName = None,
    base: Base = None,
    family: Family = None,
    cache: Cache = None,
    workload: Workload = None,
    num: Records = None,
    measure: Measure = None,
    rate: Rate = None,
    capacity: Capacity = None,
    scale: Scale = None,
    knobs: Knobs = None,
    objective: Objectives = None,
    limit: Limits = None,
    memory: Memory = None,
    deploy_cores: DeployCores = None,
    new_store: NewStore = False,
    one_way: OneWay = False,
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
    hosts: OnHosts = None,
    certificates: Certificates = None,
    insecure: Insecure = False,
    as_json: Json = False,
) -> None:
    """Find better options for a workload, verify the winner, write the file to deploy.

    By default, it runs overwrite on RocksDB. `--study NAME` continues a study.
    """
    from lsmtune.api.resolve import Request

    keys: dict[str, Any] = {
        "engine": engine, "base": base, "family": family, "cache": cache, "study": study,
        "pairs": pairs, "memory": memory, "seed": seed, "library": library, VERSION: rocksdb,
        "until": until, "deploy_cores": deploy_cores, "simplify": simplify, "limits": limit or None,
        "budget": budget, "warm_start": warm_start or None, "trials": trials, "program": program,
        "scale": scale, "optimizer": optimizer, "objective": objective or None, "knobs": knobs,
        "measure": measure, "rate": rate, "capacity": capacity,
        "new_store": new_store or None, "one_way": one_way or None,
    }  # fmt: skip
    request = Request(
        place="lsmtune tune", study_file=study_file, keys=keys, workload=workload, num=num,
        online=online, as_published=as_published, new_baseline=new_baseline, flags=True,
    )  # fmt: skip
    shown = {"verbose": verbose, "as_json": as_json}
    if dry_run:
        _print_plan(request, home, **shown)
    else:
        _run(request, home, (hosts, certificates, insecure), accept_noise=accept_noise, **shown)


def _print_plan(request: "Request", home: Path, *, verbose: bool, as_json: bool) -> None:
    from lsmtune.api import plan as api
    from lsmtune.api.resolve import resolve
    from lsmtune.cli.plan_lines import plan_lines
    from lsmtune.cli.progress import TerminalObserver

    observer = TerminalObserver()
    resolved = resolve(request, home, consent=ask, observer=observer)
    settings_of(resolved)
    found = api.plan(resolved, home, observer)
    if as_json:
        print_json(api.plan_document(found))
    else:
        say_all(plan_lines(found, verbose=verbose))


def _run(
    request: "Request",
    home: Path,
    places: tuple[str | None, Path | None, bool],
    *,
    accept_noise: bool,
    verbose: bool,
    as_json: bool,
) -> None:
    """Tune between runs or online; print the result."""
    from lsmtune.api import online
    from lsmtune.api import tune as api
    from lsmtune.api.on_hosts import check_offline, on_hosts
    from lsmtune.api.resolve import resolve
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.cli.result_lines import say_result

    observer = TerminalObserver()
    hosts = on_hosts(*places)
    resolved = resolve(request, home, consent=ask, observer=observer)
    if settings_of(resolved).online is None:
        done = api.tune(
            resolved, home, observer, accept_noise=accept_noise, verbose=verbose, hosts=hosts
        )
        say_result(done.result, done.files, as_json=as_json)
        if as_json:
            print_json(done.result.document())
        return
    if hosts is not None:
        check_offline(hosts)
    if accept_noise:
        raise UserError(
            "--accept-noise: not allowed with [online], which repeats no run; remove the flag"
        )
    tuned = online.run_online(resolved, home, observer, verbose=verbose)
    say_result(tuned.result, tuned.files, as_json=as_json)
    if tuned.problem is not None:
        raise tuned.problem
    if as_json:
        print_json(tuned.document())
