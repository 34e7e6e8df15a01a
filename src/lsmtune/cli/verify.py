"""`lsmtune verify`: pairs of runs, winner against baseline."""

from collections.abc import Mapping
from dataclasses import dataclass
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
        str | None, typer.Option(help="Scale of the tree, e.g. 1/8 or 1 [the scale of the study].")
    ] = None,
    num: Annotated[
        int | None, typer.Option(help="Number of records [those of the study, times the scale].")
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
    pairs: Annotated[
        int | None,
        typer.Option(
            min=6,
            help="Number of pairs of runs, at least 6 [as many as needed: at another scale fewer "
            "than 6 if they prove that there is no gain].",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the runs, their time and the disk space.")
    ] = False,
    accept_noise: AcceptNoise = False,
    home: HomePath = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Measure a study's winner against its baseline in new pairs of runs.

    A pair of runs is one run of the winner and one run of the baseline with the same seed. lsmtune
    claims a gain only if the 95 % interval of the ratio is below 1.

    With --scale, the workload grows with the tree: at 8 times the scale, it has 8 times the records
    and operations. The time grows in the same way. An interrupted verification continues with the
    same command.

    With --rocksdb, lsmtune runs winner and baseline on the study's version of RocksDB and on the
    named versions. The result shows whether an upgrade helps, and whether the winner is still
    better than the baseline.
    """
    if rocksdb:
        given = {"--scale": scale, "--num": num, "--pairs": pairs, "--dry-run": dry_run or None}
        _compare_versions(
            study, trial, rocksdb, given, home, accept_noise=accept_noise, as_json=as_json
        )
    else:
        asked = Asked(study, trial, scale, num, pairs, home, dry_run, accept_noise, as_json)
        _run_pairs(asked)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user asked for: the flags of the command."""

    study: str
    trial: int | None
    scale: str | None
    num: int | None
    pairs: int | None
    home: Path
    dry_run: bool
    accept_noise: bool
    as_json: bool


def _run_pairs(asked: Asked) -> None:
    """Run pairs of winner and baseline; print the verdict and write the results."""
    from lsmtune.analysis.read_study import check_searches, read_study
    from lsmtune.api.consent import ask_for_home
    from lsmtune.api.results import write_results
    from lsmtune.cli.progress import progress
    from lsmtune.cli.showing import show_document, summary_lines
    from lsmtune.cli.tuning import say_if_busy
    from lsmtune.cli.verifying import check_disk, plan_document, plan_text, workload_of
    from lsmtune.engines.registry import engine_of
    from lsmtune.store.home import Home
    from lsmtune.studies.larger import verification_plan
    from lsmtune.studies.study import open_study
    from lsmtune.studies.verify import chosen
    from lsmtune.studies.verify import verify as run_verification
    from lsmtune.units import parse_scale

    with Home(asked.home, create=False) as opened:
        stored = opened.study(asked.study)
        spec = stored.settings
        check_searches(spec)
        scale = str(parse_scale(asked.scale or spec.scale, "--scale"))
        workload = workload_of(stored, scale, asked.num)
        ask_for_home(opened.path, spec.model_dump())
        with (
            progress(spec) as listener,
            open_study(
                opened, spec, engine_of(spec), listener, accept_noise=asked.accept_noise
            ) as work,
        ):
            trial = chosen(work, asked.trial)
            plan = verification_plan(work, trial, scale, workload, asked.pairs)
            if asked.dry_run:
                if asked.as_json:
                    print_json(plan_document(plan, scale))
                else:
                    say(plan_text(plan, scale))
                return
            check_disk(plan, spec, opened)
            if scale != spec.scale:
                note(plan_text(plan, scale))
            say_if_busy(spec, accept_noise=asked.accept_noise)
            run_verification(work, scale, workload, asked.trial, asked.pairs)
        view = read_study(opened, asked.study, asked.trial)
        if asked.as_json:
            print_json(show_document(view))
        else:
            say_all(summary_lines(view))
        winner = view if asked.trial is None else read_study(opened, asked.study)
        write_results(opened, winner, note if asked.as_json else say)


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
    from lsmtune.api.consent import ask_for_home
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
