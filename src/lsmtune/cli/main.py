"""The program `lsmtune`: its commands by topic, and the exit code of each kind of error."""

import signal
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from lsmtune.cli.output import check_output, note, say_all
from lsmtune.cli.program import Program, usage_message
from lsmtune.cli.tables import paragraph
from lsmtune.errors import LsmtuneError, Message, UserError

_DONE, _FAILED, _WRONG_USE = 0, 1, 2
_TYPER_INTERRUPTED = 130
"""The exit code that newer versions of Typer return for a KeyboardInterrupt."""
_HELP_WIDTH = 100

app = typer.Typer(
    cls=Program,
    no_args_is_help=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _HELP_WIDTH},
    epilog="`lsmtune COMMAND -h` explains a command. `lsmtune --install-completion` sets up "
    "completion with the Tab key in your shell (bash, zsh, fish).",
)


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
