"""Formats in which the options of an engine can be exported, and the commands that do it."""

import os
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lsmtune.engines.exports import ExportFormat

DEFAULT_HOME = Path("lsmtune-data")
"""The home folder of commands without --home."""

DB_BENCH_VARIABLE = "LSMTUNE_DB_BENCH"
"""Variable of the environment with the db_bench that runs if nothing else names a RocksDB."""


def formats(engine: str) -> "tuple[ExportFormat, ...]":
    """Return the export formats of an engine; the first one is the one to deploy."""
    from lsmtune.engines.registry import entry_of  # noqa: PLC0415 - `--help` imports this module

    return entry_of(engine).exports


def format_to_deploy(engine: str) -> "ExportFormat":
    """Return the format of the file to deploy."""
    return formats(engine)[0]


def export_command(
    study: str,
    engine: str,
    *,
    form: "ExportFormat | None" = None,
    trial: int | str | None = None,
    back: bool = False,
    to_file: bool = True,
    base: str | None = None,
) -> str:
    """Return the command that writes the file to deploy, or with `back` the one to undo it.

    `form` is another format than the one to deploy, and `base` a file to change. If only a Python
    program has the engine, it is a call that this program can make.
    """
    from lsmtune.engine_traits import is_of_program  # noqa: PLC0415 - as above

    form = form or format_to_deploy(engine)
    file = f"{form.file_name}{'.back' if back else ''}" if to_file else None
    if is_of_program(engine):
        picked = "" if trial is None else f", trial={trial}"
        given = {"path": file, "form": form.name, "back": back or None, "base": base}
        words = (f"{name}={value!r}" for name, value in given.items() if value is not None)
        return f"lsmtune.result({study!r}{picked}).export({', '.join(words)})"
    picked = "" if trial is None else f" --trial {trial}"
    output = "" if file is None else f" -o {file}"
    way, own = " --back" if back else "", f" --base {base}" if base else ""
    return f"lsmtune export {quote(study)}{picked} --format {form.name}{way}{output}{own}"


def usual_home() -> Path:
    """Return the home folder without --home: $LSMTUNE_HOME, else a folder here."""
    return Path(os.environ.get("LSMTUNE_HOME") or DEFAULT_HOME)


def home_flag(home: Path) -> str:
    """Return the flag that names the home, for the end of a command; "" if it is the default."""
    usual = usual_home().absolute()
    return "" if home == usual else f" --home {quote(str(home))}"
