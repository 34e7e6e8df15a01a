"""Forms in which each engine's options can be exported, and the commands that export them."""

import os
from pathlib import Path
from shlex import quote

DEFAULT_HOME = Path("lsmtune-data")
"""The home folder of commands without --home."""

DB_BENCH_VARIABLE = "LSMTUNE_DB_BENCH"
"""Variable of the environment with the db_bench that runs if nothing else names a RocksDB."""

FILES = {
    "options": "OPTIONS", "my.cnf": "my.cnf", "toml": "settings.toml", "tikv-toml": "tikv.toml",
    "db_bench": "flags",
}  # fmt: skip
"""The file name of each export format."""


def formats(engine: str) -> tuple[str, ...]:
    """Return the export formats of an engine; the first one is the one to deploy."""
    from lsmtune.engine_traits import ENGINES  # noqa: PLC0415 - `--help` imports this module

    return ENGINES[engine].exports


def export_command(
    study: str,
    engine: str,
    *,
    form: str | None = None,
    trial: int | None = None,
    back: bool = False,
    to_file: bool = True,
) -> str:
    """Return the command that writes the file to deploy, or with `back` the one to undo it.

    `form` is another format than the one to deploy.
    """
    form = form or formats(engine)[0]
    picked = "" if trial is None else f" --trial {trial}"
    output = f" -o {FILES[form]}{'.back' if back else ''}" if to_file else ""
    way = " --back" if back else ""
    return f"lsmtune export {quote(study)}{picked} --format {form}{way}{output}"


def usual_home() -> Path:
    """Return the home folder without --home: $LSMTUNE_HOME, else a folder here."""
    return Path(os.environ.get("LSMTUNE_HOME") or DEFAULT_HOME)


def home_flag(home: Path) -> str:
    """Return the flag that names the home, for the end of a command; "" if it is the default."""
    usual = usual_home().absolute()
    return "" if home == usual else f" --home {quote(str(home))}"
