"""The text of `lsmtune tune`; a module of its own so that `--help` is quick."""

from pathlib import Path

from lsmtune.api import online, plan, resolve, results, study_result, tune
from lsmtune.cli.common import ask, note, print_json, say, say_all, settings_of
from lsmtune.cli.plan_lines import plan_lines
from lsmtune.cli.progress import TerminalObserver
from lsmtune.cli.result_lines import summary_lines
from lsmtune.errors import UserError


def run(
    request: resolve.Request,
    home: Path,
    *,
    verbose: bool,
    accept_noise: bool,
    as_json: bool,
    dry_run: bool = False,
) -> None:
    """Tune, between runs or online; print the result, or the JSON document if requested.

    With `dry_run`, only print the plan. The result is on standard output, remarks are on standard
    error.
    """
    observer = TerminalObserver()
    resolved = resolve.resolve(request, home, consent=ask, observer=observer)
    settings = settings_of(resolved)
    if dry_run:
        found = plan.plan(resolved, home, observer)
        if as_json:
            print_json(plan.plan_document(found))
        else:
            say_all(plan_lines(found, verbose=verbose))
    elif settings.online is not None:
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
    else:
        done = tune.tune(resolved, home, observer, accept_noise=accept_noise, verbose=verbose)
        print_result(done.result, done.files, as_json=as_json)


def print_result(result: study_result.Result, files: results.ResultFiles, *, as_json: bool) -> None:
    """Print a result: text with the paths of its files, or one JSON document."""
    say_result(result, files, as_json=as_json)
    if as_json:
        print_json(result.document())


def say_result(result: study_result.Result, files: results.ResultFiles, *, as_json: bool) -> None:
    """Print a result and the paths of its files; on standard error if a document follows."""
    tell = note if as_json else say
    for line in summary_lines(result.view, result.claim):
        tell(line)
    say_files(files, as_json=as_json)


def say_files(files: results.ResultFiles, *, as_json: bool) -> None:
    """Print the paths of the files of a result."""
    tell = note if as_json else say
    tell(f"page:            {files.page}")
    if files.deploy is not None:
        tell(f"file to deploy:  {files.deploy}{f' ({files.remark})' if files.remark else ''}")
        tell(f"file to undo:    {files.undo}")


def print_verified(found: results.Finished, *, as_json: bool) -> None:
    """Print a result, or its JSON document, and the paths of its files."""
    if as_json:
        print_json(found.result.document())
    else:
        say_all(summary_lines(found.result.view, found.result.claim))
    say_files(found.files, as_json=as_json)
