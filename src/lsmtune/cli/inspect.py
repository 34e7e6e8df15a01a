"""`lsmtune inspect`: findings in a LOG of RocksDB."""

from pathlib import Path
from typing import Annotated

import typer

from lsmtune.cli.flags import Json, Page
from lsmtune.cli.output import note, print_json, say, say_all, say_written
from lsmtune.errors import UserError

Logs = Annotated[
    list[Path],
    typer.Argument(
        metavar="LOG [LOG ...]",
        help="LOG of RocksDB (plain, gzip, or inside another program's log), folder with LOGs, "
        "statistics dump, output of db_bench, report.tsv of benchmark.sh, or file of options; - "
        "for standard input.",
    ),
]
Csv = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="Folder to write the tables to as CSV: findings, levels, jobs (flushes and "
        "compactions), stalls, options that differ from the defaults.",
    ),
]
ToStudy = Annotated[
    Path | None,
    typer.Option(
        help="Study file to write, with a workload similar to the workload in the LOG; a "
        "second file next to the study file gets the options in the LOG."
    ),
]
Compare = Annotated[
    bool,
    typer.Option(
        "--compare",
        help="Answer whether a change helped: the first file is from before the change, the "
        "second file from after the change. The files are LOGs, statistics dumps, results of "
        "db_bench, report.tsv of benchmark.sh, or files of options.",
    ),
]
After = Annotated[
    list[Path] | None,
    typer.Option(
        "--after",
        metavar="FILE",
        help="A file from after the change; repeatable. All other files are from before the "
        "change. Implies --compare.",
    ),
]
Rolled = Annotated[
    bool, typer.Option("--rolled", help="The files are parts of one LOG, in any order.")
]
Family = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Show only this column family; --to-study writes its options [all families; "
        "--to-study: the family with most bytes].",
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Report findings even if lsmtune cannot read many lines of a LOG."
    ),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose",
        help="List all data that rules lack, also data that a text of this kind never contains; "
        "with --compare, list all options that differ.",
    ),
]


def inspect(
    logs: Logs,
    page: Page = None,
    csv: Csv = None,
    to_study: ToStudy = None,
    compare: Compare = False,
    after: After = None,
    rolled: Rolled = False,
    family: Family = None,
    verbose: Verbose = False,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Read a store's LOG; report what slows the store down and which options to check first.

    The command needs no RocksDB and does not open the database. With several LOGs, the command
    compares the LOGs in columns.
    """
    from lsmtune.api import inspect as api
    from lsmtune.cli.inspect_lines import inspect_lines
    from lsmtune.cli.slow_work import TerminalProgress

    watch = TerminalProgress()
    found, later = api.read_sides(logs, after or [], rolled=rolled, family=family, force=force,
                                   observer=watch)  # fmt: skip
    if compare or after:
        from lsmtune.api import inspect_compared
        from lsmtune.cli.before_after_lines import MOST_OPTION_ROWS, compared_lines

        _check_only_compared(csv, to_study)
        compared = inspect_compared.compared(found, later)
        if page is not None:
            inspect_compared.write_compared_page(page, compared, [*found, *later], watch)
        if as_json:
            print_json(inspect_compared.compared_document(compared))
            return
        say_all(compared_lines(compared, None if verbose else MOST_OPTION_ROWS))
        if page is not None:
            say(f"written: {page}")
        return
    if page is not None:
        from lsmtune.api.inspect_files import write_page

        write_page(page, found, watch)
    if csv is not None:
        from lsmtune.api.inspect_files import write_tables

        say_written(write_tables(csv, found))
    if to_study is not None:
        from lsmtune.api.inspect_study import study_of

        made = study_of(to_study, found)
        say_written(made.write(to_study))
        for remark in made.remarks:
            note(remark)
    if as_json:
        print_json(api.document(found))
    else:
        written = [f"written: {path}" for path in (page, to_study) if path is not None]
        say_all([*inspect_lines(found, verbose=verbose), *written])
    if any(log.is_refused for log in found):
        raise typer.Exit(1)


def _check_only_compared(csv: Path | None, study: Path | None) -> None:
    """Raise UserError for a file that a comparison cannot write."""
    for flag, value in (("--csv", csv), ("--to-study", study)):
        if value is not None:
            raise UserError(f"{flag} {value}: not allowed together with --compare")
