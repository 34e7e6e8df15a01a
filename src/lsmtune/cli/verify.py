"""`lsmtune verify`: pairs of runs, winner against baseline."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.common import (
    DEFAULT_HOME,
    AcceptNoise,
    Json,
    OtherTrial,
    StudyName,
    note,
    print_json,
    say,
    say_all,
)
from lsmtune.cli.common import Home as HomePath


def verify(
    study: StudyName,
    scale: Annotated[
        str | None, typer.Option(help="Scale of the tree, e.g. 1/64 or 1 [the scale of the study].")
    ] = None,
    num: Annotated[
        int | None, typer.Option(help="Number of records in the workload [as in the study].")
    ] = None,
    trial: OtherTrial = None,
    rocksdb: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VERSION",
            help="Compare winner and baseline on this installed version of RocksDB too; repeat the "
            "flag for several versions [none].",
        ),
    ] = None,
    accept_noise: AcceptNoise = False,
    home: HomePath = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Measure a study's winner against its baseline in new pairs of runs.

    A pair of runs is one run of the winner and one run of the baseline with the same seed. lsmtune
    claims a gain only if the 95 % interval of the ratio is below 1.

    With --rocksdb, lsmtune runs winner and baseline on the study's version of RocksDB and on the
    named versions. The result shows whether an upgrade helps, and whether the winner is still
    better than the baseline.
    """
    if rocksdb:
        given = {"--scale": scale, "--num": num}
        _compare_versions(
            study, trial, rocksdb, given, home, accept_noise=accept_noise, as_json=as_json
        )
    else:
        _run_pairs(study, trial, scale, num, home, accept_noise=accept_noise, as_json=as_json)


def _run_pairs(
    study: str,
    trial: int | None,
    scale: str | None,
    num: int | None,
    home: Path,
    *,
    accept_noise: bool,
    as_json: bool,
) -> None:
    """Run pairs of winner and baseline; print the verdict and write the results."""
    from lsmtune.analysis.read_study import check_searches, read_study
    from lsmtune.cli.consent import ask_for_home
    from lsmtune.cli.progress import progress
    from lsmtune.cli.results import write_results
    from lsmtune.cli.showing import show_document, summary_lines
    from lsmtune.cli.tuning import check_space, say_if_busy
    from lsmtune.engines.registry import engine_of
    from lsmtune.spec import make_spec
    from lsmtune.store.home import Home
    from lsmtune.studies.study import open_study
    from lsmtune.studies.verify import verify as run_verification
    from lsmtune.units import parse_scale

    with Home(home, create=False) as opened:
        spec = opened.study(study).settings
        check_searches(spec)
        wanted_scale = str(parse_scale(scale or spec.scale, "--scale"))
        load = spec.workload.model_dump() | ({"num": num} if num is not None else {})
        asked = {**opened.study(study).spec, "workload": load, "scale": wanted_scale}
        workload = make_spec(asked, "lsmtune verify", {"workload.num": "--num"}).workload
        check_space(spec.model_copy(update={"workload": workload}), opened)
        ask_for_home(opened.path, spec.model_dump())
        engine = engine_of(spec)
        with (
            progress(spec) as listener,
            open_study(opened, spec, engine, listener, accept_noise=accept_noise) as work,
        ):
            say_if_busy(spec, accept_noise=accept_noise)
            run_verification(work, wanted_scale, workload, trial)
        view = read_study(opened, study, trial)
        if as_json:
            print_json(show_document(view))
        else:
            say_all(summary_lines(view))
        winner = view if trial is None else read_study(opened, study)
        write_results(opened, winner, note if as_json else say)


def _compare_versions(
    study: str,
    trial: int | None,
    versions: list[str],
    given: Mapping[str, object],
    home: Path,
    *,
    accept_noise: bool,
    as_json: bool,
) -> None:
    """Run winner and baseline on several versions of RocksDB; print the result."""
    from lsmtune.cli.consent import ask_for_home
    from lsmtune.cli.upgrading import run_upgrade
    from lsmtune.errors import UserError
    from lsmtune.store.home import Home

    for flag, value in given.items():
        if value is not None:
            raise UserError(f"{flag}: not allowed with --rocksdb; remove one of them")
    with Home(home, create=False) as opened:
        ask_for_home(opened.path, opened.study(study).settings.model_dump())
        tell = note if as_json else say
        found = run_upgrade(opened, study, trial, versions, tell, accept_noise=accept_noise)
    if as_json:
        print_json(found.document())
    else:
        say_all(found.lines())
