"""The program `lsmtune`: its commands, and how each kind of error ends it."""

import signal
import sys
from types import FrameType
from typing import NoReturn

import typer
from typer.exceptions import TyperException

from lsmtune.cli import (
    compare,
    dashboard,
    doctor,
    export,
    importance,
    inspect,
    lists,
    report,
    reproduce,
    schema,
    screen,
    show,
    simulate,
    sweep,
    trials,
    tune,
    verify,
)
from lsmtune.cli.common import note
from lsmtune.errors import LsmtuneError, UserError

_DONE, _FAILED, _WRONG_USE = 0, 1, 2
_TYPER_INTERRUPTED = 130
"""What newer versions of Typer make of a KeyboardInterrupt."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Find better options for an LSM store, prove the gain, get the file to deploy.",
)
for _command in (
    tune.tune,
    show.show,
    trials.trials,
    verify.verify,
    report.report,
    reproduce.reproduce,
    compare.compare,
    export.export,
    importance.importance,
    inspect.inspect,
    dashboard.dashboard,
    lists.knobs,
    lists.workloads,
    lists.optimizers,
    screen.screen,
    simulate.simulate,
    sweep.sweep,
    schema.schema,
    doctor.doctor,
):
    app.command()(_command)


def main() -> NoReturn:
    """Run the program; exit codes: 0 done, 1 failed, 2 wrong use or wrong input."""
    # So that a polite kill, or a terminal that is closed, cleans up as Ctrl-C does.
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # as nohup wants it
            signal.signal(number, _interrupt)
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code; bugs keep their traceback."""
    try:
        code = app(arguments, prog_name="lsmtune", standalone_mode=False)
        if code == _TYPER_INTERRUPTED:
            raise KeyboardInterrupt
    except TyperException as error:
        note(f"lsmtune: {_in_one_line(error)}")
        return _WRONG_USE
    except UserError as error:
        note(f"lsmtune: {error}")
        return _WRONG_USE
    except LsmtuneError as error:
        note(f"lsmtune: {error}")
        return _FAILED
    except (KeyboardInterrupt, typer.Abort):
        note("lsmtune: interrupted; the same command goes on from what was kept")
        return _FAILED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read the output has left; nothing more can be said
        return _FAILED
    return code if isinstance(code, int) else _DONE


def _in_one_line(error: TyperException) -> str:
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(text.replace("Value error, ", "").split())


def _interrupt(signum: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
