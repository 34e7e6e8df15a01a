"""`lsmtune verify`: pairs of runs, winner against baseline."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lsmtune.cli.flags import (
    DEFAULT_HOME,
    AcceptNoise,
    Certificates,
    Home,
    Insecure,
    Json,
    OnHosts,
    OtherTrial,
    StudyName,
)
from lsmtune.cli.output import ask, note, print_json, say, say_all
from lsmtune.cli.tables import paragraph
from lsmtune.errors import UserError

if TYPE_CHECKING:
    from lsmtune.api.verify import Verification


Versions = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VERSION",
        help="Compare winner and baseline on this installed version of RocksDB too; repeat the "
        "flag for several versions [none].",
    ),
]
Pairs = Annotated[
    int | None,
    typer.Option(
        min=6,
        help="Number of pairs of runs, at least 6 [as many as needed: at another scale fewer "
        "than 6 if they prove that there is no gain].",
    ),
]


def verify(
    study: StudyName,
    scale: Annotated[
        str | None, typer.Option(help="Scale of the tree, e.g. 1/8 or 1 [the scale of the study].")
    ] = None,
    num: Annotated[
        int | None, typer.Option(help="Number of records [those of the study, times the scale].")
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(help="Rate of a running store in operations per second [that of the study]."),
    ] = None,
    trial: OtherTrial = None,
    rocksdb: Versions = None,
    pairs: Pairs = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the runs, their time and the disk space.")
    ] = False,
    accept_noise: AcceptNoise = False,
    hosts: OnHosts = None,
    certificates: Certificates = None,
    insecure: Insecure = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Measure a study's winner against its baseline in new pairs of runs.

    A pair of runs is one run of the winner and one run of the baseline with the same seed. lsmtune
    claims a gain only if the 95 % interval of the ratio is below 1.

    With --scale, the workload grows with the tree: at 8 times the scale, it has 8 times the records
    and operations. The time grows in the same way. An interrupted verification continues with the
    same command.

    With --rate, lsmtune measures at another rate, such as that of your own store. With --scale, the
    rate in operations per second stays.

    With --rocksdb, lsmtune runs winner and baseline on the study's version of RocksDB and on the
    named versions. The result shows whether an upgrade helps, and whether the winner is still
    better than the baseline.
    """
    if rocksdb:
        given = {
            "--scale": scale, "--num": num, "--pairs": pairs, "--dry-run": dry_run or None,
            "--hosts": hosts, "--rate": rate,
        }  # fmt: skip
        _compare_versions(
            study, trial, rocksdb, given, home, accept_noise=accept_noise, as_json=as_json
        )
        return
    from lsmtune.api.verify import Verification

    asked = Verification(study=study, trial=trial, scale=scale, num=num, pairs=pairs, rate=rate)
    if dry_run:
        _print_plan(asked, home, as_json=as_json)
        return
    _run_pairs(
        asked, home, (hosts, certificates, insecure), accept_noise=accept_noise, as_json=as_json
    )


def _print_plan(asked: "Verification", home: Path, *, as_json: bool) -> None:
    from lsmtune.api.verify import plan_document, plan_text, plan_verification
    from lsmtune.cli.progress import TerminalObserver

    plan, scale = plan_verification(asked, home, TerminalObserver(), consent=ask)
    if as_json:
        print_json(plan_document(plan, scale))
    else:
        say(plan_text(plan, scale))


def _run_pairs(
    asked: "Verification",
    home: Path,
    places: tuple[str | None, Path | None, bool],
    *,
    accept_noise: bool,
    as_json: bool,
) -> None:
    from lsmtune.api.on_hosts import on_hosts
    from lsmtune.api.verify import verify as run
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.cli.result_lines import print_verified

    found = run(
        asked, home, TerminalObserver(), consent=ask, accept_noise=accept_noise,
        hosts=on_hosts(*places),
    )  # fmt: skip
    print_verified(found, as_json=as_json)


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
    from lsmtune.api.versions import compare_winner
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.cli.sweep_lines import swept_lines
    from lsmtune.report.text.swept_words import upgrade_answers

    for flag, value in given.items():
        if value is not None:
            raise UserError(f"{flag}: not allowed with --rocksdb; remove one of them")
    found = compare_winner(
        home, study, versions, TerminalObserver(), trial=trial, consent=ask,
        accept_noise=accept_noise,
    )  # fmt: skip
    (note if as_json else say)(f"page:            {found.page}")
    if as_json:
        print_json(found.document())
    else:
        for metric in found.upgrade.metrics:
            for sentence in upgrade_answers(found.upgrade, metric):
                say_all(paragraph(sentence, hanging=2))
        say("")
        say_all(swept_lines(found.swept, found.view))
