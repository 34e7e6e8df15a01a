"""File to deploy on MyRocks: a my.cnf in which only RocksDB's variables change."""

from collections.abc import Mapping

from lsmtune.engines.exports import Differences
from lsmtune.engines.myrocks.options import is_used
from lsmtune.knobs.my_cnf import is_of_server, server_variables, without_end_comment

_SERVER = "[mysqld]"


def export_my_cnf(base: str, variables: Mapping[str, str], note: str) -> str:
    """Return the file with these variables (whole names) set and `note` as a comment at the top.

    Only the value of a variable changes; every other byte stays. If the file sets a variable more
    than once, the last line counts, as for the server. A missing variable is added at the end of
    the server's section.
    """
    lines = base.split("\n")
    ended = lines[-1] == ""
    if ended:
        lines.pop()
    there = {f"rocksdb_{name}": (at, value) for at, name, value in server_variables(base)}
    added = []
    for name, value in variables.items():
        at, before = there.get(name, (None, None))
        if at is None:
            added.append(f"{name}={value}")
        elif before != value:
            lines[at] = _with_value(lines[at], value)
    lines = _with_added(lines, added) if added else lines
    text = "\n".join([*(f"# {line}" for line in note.splitlines()), *lines])
    return text + "\n" if ended and text else text


def with_variables(text: str, kept: Mapping[str, str]) -> str:
    """Return the file with exactly these RocksDB variables, by their names without prefix.

    Variables that trials do not use stay as they are. A file that has these variables already
    stays as it is, to the byte.
    """
    gone = {at for at, name, _ in server_variables(text) if is_used(name) and name not in kept}
    lines = [line for at, line in enumerate(text.split("\n")) if at not in gone]
    return export_my_cnf("\n".join(lines), {f"rocksdb_{n}": v for n, v in kept.items()}, "")


def differences(base: str, variables: Mapping[str, str]) -> Differences:
    """Return the variables that the file does not have with these values."""
    there = {f"rocksdb_{name}": value for _, name, value in server_variables(base)}
    return {name: (there.get(name), value) for name, value in variables.items()
            if there.get(name) != value}  # fmt: skip


def _with_value(line: str, value: str) -> str:
    """Return the line with another value; spaces and a comment at the end stay."""
    told = without_end_comment(line)
    name, equals, old = told.partition("=")
    if not equals:
        name, old = told.rstrip(), told[len(told.rstrip()) :]
        return f"{name}={value}{old}{line[len(told) :]}"
    before = old[: len(old) - len(old.lstrip())] if old.strip() else ""
    after = old[len(old.rstrip()) :]
    return f"{name}={before}{value}{after}{line[len(told) :]}"


def _with_added(lines: list[str], added: list[str]) -> list[str]:
    """Return the lines with more of them at the end of the server's section."""
    end = _end_of_server(lines)
    if end is None:
        lines, end = [*lines, _SERVER], len(lines) + 1
    line_end = "\r" if lines[end - 1].endswith("\r") else ""
    return [*lines[:end], *(f"{line}{line_end}" for line in added), *lines[end:]]


def _end_of_server(lines: list[str]) -> int | None:
    """Return the line after the last non-empty one of a server's section, or None."""
    end, inside = None, False
    for at, line in enumerate(lines):
        text = line.strip()
        if text.startswith("["):
            inside = is_of_server(text)
        if inside and text:
            end = at + 1
    return end
