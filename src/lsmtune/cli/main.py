"""The program `lsmtune`: its commands by topic, and the exit code of each kind of error."""

import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from lsmtune.cli import (
    compare,
    dashboard,
    doctor,
    engines,
    export,
    hosts,
    importance,
    inspect,
    lists,
    rehearse,
    report,
    reproduce,
    schema,
    screen,
    show,
    simplify,
    simulate,
    studies,
    sweep,
    trials,
    tune,
    verify,
    worker,
)
from lsmtune.cli.output import check_output, note, say_all
from lsmtune.cli.program import Command, Program, usage_message
from lsmtune.cli.tables import paragraph
from lsmtune.errors import LsmtuneError, Message, UserError

_DONE, _FAILED, _WRONG_USE = 0, 1, 2
_TYPER_INTERRUPTED = 130
"""The exit code that newer versions of Typer return for a KeyboardInterrupt."""
_HELP_WIDTH = 100

_COMMANDS: dict[str, tuple[tuple[Callable[..., None], str], ...]] = {
    "Tune": (
        (tune.tune, "Find better options, verify the gain, write the file to deploy."),
        (show.show, "Show the result of a study."),
        (trials.trials, "List the trials of a study."),
        (studies.studies, "List the studies of a home folder."),
        (studies.rename, "Rename a study."),
        (studies.delete, "Delete the runs of a study."),
        (verify.verify, "Measure the winner against the baseline in new runs."),
        (simplify.simplify, "Take back changes of the winner that do not matter."),
        (report.report, "Write an HTML page about one or several studies."),
        (export.export, "Write the file to deploy, or the file that undoes the change."),
        (rehearse.rehearse, "Try the file to deploy, and its undo, on a copy of your store."),
        (dashboard.dashboard, "Write a study for Optuna's dashboard."),
    ),
    "Understand a LOG": (
        (inspect.inspect, "Report what slows a store down, from its LOG."),
    ),
    "Study": (
        (screen.screen, "Measure many configs, to find the knobs that matter."),
        (importance.importance, "Rank the knobs by their effect on each metric."),
        (sweep.sweep, "Measure all combinations of knob values that you list."),
        (reproduce.reproduce, "Run a published study again and compare the numbers."),
    ),
    "Predict": (
        (simulate.simulate, "Predict runs with the simulator, without RocksDB."),
    ),
    "Compare": (
        (compare.compare, "Compare optimizers at equal budgets."),
    ),
    "Set up": (
        (doctor.doctor, "Check this machine, and print how to fix what is missing."),
        (engines.engines, "List the installed versions of RocksDB, or install one."),
        (lists.knobs, "List the knobs of an engine."),
        (lists.workloads, "List the workloads."),
        (lists.optimizers, "List the optimizers."),
        (hosts.hosts, "Set up many hosts: certificates, scheduler, list of hosts."),
        (worker.worker, "Run the trials that a scheduler gives to this host."),
        (schema.schema, "Print the JSON schema of study files, for editors."),
    ),
}  # fmt: skip
"""The commands by topic, in the order of the help, each with its short help."""

app = typer.Typer(
    cls=Program,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _HELP_WIDTH},
    epilog="`lsmtune COMMAND -h` explains a command. `lsmtune --install-completion` sets up "
    "completion with the Tab key in your shell (bash, zsh, fish).",
)
for _topic, _commands in _COMMANDS.items():
    for _function, _short in _commands:
        app.command(cls=Command, short_help=_short, rich_help_panel=_topic)(_function)


def _print_version(value: bool) -> None:
    """Print a line each for lsmtune, the simulator, the usual RocksDB and db_bench.

    The last line is left out if there is a RocksDB, but no db_bench.
    """
    if not value:
        return
    from lsmtune.api.version import versions

    found = versions()
    lines = [
        f"lsmtune    {found.lsmtune}",
        f"simulator  {found.simulator}",
        f"RocksDB    {found.rocksdb or 'not installed'}",
    ]
    if found.db_bench is not None or found.rocksdb is None:
        lines.append(f"db_bench   {found.db_bench or 'not found'}")
    say_all(part for line in lines for part in paragraph(line, hanging=2))
    raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the versions of lsmtune, the simulator, RocksDB and db_bench.",
        ),
    ] = False,
) -> None:
    """Find better options for an LSM store, prove the gain, get the file to deploy."""


def main() -> NoReturn:
    """Run the program; exit codes: 0 done, 1 failed, 2 wrong use or wrong input."""
    # A SIGTERM, or a closed terminal, cleans up like Ctrl-C.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, _interrupt)
    check_output()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; bugs keep their traceback."""
    try:
        code = app(arguments or ["--help"], prog_name="lsmtune", standalone_mode=False)
        if code == _TYPER_INTERRUPTED:
            raise KeyboardInterrupt
        sys.stdout.flush()
    except TyperException as error:
        note(f"lsmtune: {usage_message(error)}")
        return _WRONG_USE
    except UserError as error:
        note(Message("lsmtune: ", error.message))
        return _WRONG_USE
    except LsmtuneError as error:
        note(Message("lsmtune: ", error.message))
        return _FAILED
    except (KeyboardInterrupt, typer.Abort):
        note("lsmtune: interrupted; run the same command again to continue")
        return _FAILED
    except BrokenPipeError:
        sys.stderr.close()  # the reader of the pipe has ended
        return _FAILED
    return code if isinstance(code, int) else _DONE


def _interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
