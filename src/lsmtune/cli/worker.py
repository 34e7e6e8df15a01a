"""`lsmtune worker`: a host that runs trials."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.flags import Certificates, Insecure
from lsmtune.cli.output import note


def worker(
    address: Annotated[
        str, typer.Argument(metavar="ADDRESS", help="Address of the scheduler, tls://IP:8786.")
    ],
    certificates: Certificates = None,
    home: Annotated[
        Path,
        typer.Option(
            envvar="LSMTUNE_WORKER_HOME",
            help="Folder for trials and for results that are not stored yet.",
        ),
    ] = Path("lsmtune-worker"),
    orphan: Annotated[
        str,
        typer.Option(
            metavar="DURATION",
            help="End the trial if no command of its study runs for this time, at least 60s.",
        ),
    ] = "10m",
    insecure: Insecure = False,
) -> None:
    """Run the trials that a scheduler gives to this host, one at a time, until you end it.

    The worker connects again whenever its connection breaks. Results stay in --home until they
    are stored. Ctrl-C ends the running trial and removes its folder.
    """
    from lsmtune.api.hosts import run_host_worker

    run_host_worker(address, certificates, home, orphan, note, insecure=insecure)
