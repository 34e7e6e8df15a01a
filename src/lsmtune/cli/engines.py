"""`lsmtune engines`: the installed versions of RocksDB, and the installation of another one."""

from typing import TYPE_CHECKING, Annotated

import typer

from lsmtune.api.flags import VERSION
from lsmtune.cli.flags import Json
from lsmtune.cli.output import print_json, say, say_all
from lsmtune.cli.tables import Column, facts_lines, table_lines
from lsmtune.errors import UserError, unknown_word

if TYPE_CHECKING:
    from lsmtune.api.engines import Installation, Installed

_INSTALL = "install"
_NAME = VERSION
"""The library has the name of the key that chooses its version."""
_HOW = "write `lsmtune engines install rocksdb@VERSION`"


def engines(
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="install", help="Install a version. Without `install`, list the versions."
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Argument(
            metavar="rocksdb@VERSION", help="Engine and version; `rocksdb` alone is version 11.8.1."
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Install a version without a known SHA-256."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the installed versions of RocksDB, or install one.

    `lsmtune engines install rocksdb@VERSION` downloads a Release build of this version and checks
    its SHA-256. Then lsmtune writes, flushes and reads back 1,000 records with the new library.
    """
    from lsmtune.api import engines as api

    if action not in (None, _INSTALL):
        raise UserError(f"engines: {unknown_word('action', action, [_INSTALL])}")
    if action is None and trust:
        raise UserError(f"--trust: needs a version to install; {_HOW}")
    done = None if action is None else _install(engine, trust)
    found, usual = api.engines()
    if done is not None:
        shown = done.engine
        if as_json:
            print_json(shown.document(default=shown == usual))
        else:
            _say_installed(done)
    elif as_json:
        print_json([one.document(default=one == usual) for one in found])
    else:
        say_all(_table(found, usual))


def _install(engine: str | None, trust: bool) -> "Installation":
    from lsmtune.api.engines import install
    from lsmtune.cli.progress import TerminalObserver

    if engine is None:
        raise UserError(f"engines install: the engine is missing; {_HOW}")
    name, at, version = engine.partition("@")
    if name != _NAME:
        raise UserError(f"engines install: {unknown_word('engine', name, [_NAME])}; {_HOW}")
    return install(version if at else None, TerminalObserver(), trust=trust)


def _say_installed(done: "Installation") -> None:
    from lsmtune.api.engines import RECORDS

    record = done.engine.record
    if done.is_new:
        say(f"installed RocksDB {record.version}; a test wrote and read back {RECORDS:,} records")
    else:
        say(f"RocksDB {record.version} is already installed")
    facts = [("source", record.source), ("SHA-256", record.sha256)]
    if not record.pinned:
        facts.append(("trusted", "lsmtune had no SHA-256 to check this version"))
    say_all(facts_lines([*facts, ("path", str(done.engine.library))], indent=2))


def _table(found: "list[Installed]", usual: "Installed | None") -> list[str]:
    if not found:
        return ["no RocksDB is installed; `lsmtune engines install rocksdb` installs one"]
    columns = [
        Column("engine"), Column("version"), Column("default"), Column("source", at_least=34),
        Column("SHA-256", drop=1), Column("path", at_least=30),
    ]  # fmt: skip
    rows = [
        (
            one.record.name, one.record.version, "yes" if one == usual else "",
            one.record.source, one.record.sha256, str(one.library),
        )
        for one in found
    ]  # fmt: skip
    return table_lines(columns, rows)
