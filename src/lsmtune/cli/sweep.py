"""`lsmtune sweep`: a controlled experiment."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.api.flags import VERSION
from lsmtune.cli.flags import (
    DEFAULT_HOME,
    AcceptNoise,
    Certificates,
    DbBench,
    Home,
    Insecure,
    Json,
    Library,
    OnHosts,
    Page,
    RocksDBVersion,
)
from lsmtune.cli.output import ask, note, print_json, say_all, settings_of


def sweep(
    experiment: Annotated[
        Path,
        typer.Argument(
            metavar="EXPERIMENT.toml",
            help="Study file with a table [sweep], which lists the knob values.",
        ),
    ],
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and run nothing.")
    ] = False,
    csv: Annotated[Path | None, typer.Option(help="Write the table to this file as CSV.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the table to this file as Markdown.")
    ] = None,
    page: Page = None,
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
    """Measure every combination of the listed knob values; report the effects with p-values.

    After an interruption, the same command continues the experiment.
    """
    from lsmtune.api import sweep as api
    from lsmtune.api.on_hosts import on_hosts
    from lsmtune.api.resolve import Request
    from lsmtune.api.resolve_experiment import resolve_sweep
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.cli.sweep_lines import plan_lines, swept_lines

    system = {"program": program, VERSION: rocksdb, "library": library}
    request = Request(place="lsmtune sweep", study_file=experiment, keys=system, flags=True)
    spec = settings_of(resolve_sweep(request, home, consent=ask))
    if dry_run:
        say_all(plan_lines(api.plan(spec)))
        return
    used = on_hosts(hosts, certificates, insecure)
    found = api.sweep(spec, home, TerminalObserver(), accept_noise=accept_noise, hosts=used)
    for what, path in api.write_files(found, csv=csv, markdown=markdown, page=page):
        note(f"{what}: {path}")
    if as_json:
        print_json(found.document())
        return
    say_all(swept_lines(found.swept, found.view))
