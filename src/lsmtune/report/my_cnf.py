"""File to deploy on MyRocks: a my.cnf in which only RocksDB's variables change."""

from collections.abc import Mapping

from lsmtune.engines.myrocks.options import is_of_server, server_variables
from lsmtune.report.export import Differences

_SERVER = "[mysqld]"


def export_my_cnf(base: str, variables: Mapping[str, str], note: str) -> str:
    """Return the file with these variables (whole names) set and `note` as a comment at the top.

    A line changes only if its value changes. If the file sets a variable more than once, the last
    line counts, as for the server. A missing variable is added at the end of the server's section.
    """
    lines = base.splitlines()
    there = {f"rocksdb_{name}": (at, value) for at, name, value in server_variables(base)}
    added = []
    for name, value in variables.items():
        at, before = there.get(name, (None, None))
        if at is None:
            added.append(f"{name}={value}")
        elif before != value:
            spelled = lines[at].partition("=")[0].rstrip()
            lines[at] = f"{spelled}={value}"
    if added:
        end = _end_of_server(lines)
        if end is None:
            lines, end = [*lines, _SERVER], len(lines) + 1
        lines[end:end] = added
    return "".join(f"{line}\n" for line in [*(f"# {n}" for n in note.splitlines()), *lines])


def differences(base: str, variables: Mapping[str, str]) -> Differences:
    """Return the variables that the file does not have with these values."""
    there = {f"rocksdb_{name}": value for _, name, value in server_variables(base)}
    return {name: (there.get(name), value) for name, value in variables.items()
            if there.get(name) != value}  # fmt: skip


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
