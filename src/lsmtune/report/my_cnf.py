"""The file to deploy on MyRocks: RocksDB's variables in a my.cnf, every other line as it was."""

from collections.abc import Mapping

from lsmtune.engines.myrocks.options import is_of_server, server_variables

_SERVER = "[mysqld]"


def export_my_cnf(base: str, variables: Mapping[str, str], note: str) -> str:
    """The base with these variables set (by their whole names), `note` before it as a comment.

    Only variables whose value is another one change. Of one that the base has several times the
    last counts, as for the server. What the base lacks is added behind the last line of its
    server's section.
    """
    lines = base.splitlines()
    there = {f"rocksdb_{name}": (at, value) for at, name, value in server_variables(base)}
    added = []
    for name, value in variables.items():
        at, before = there.get(name, (None, None))
        if at is None:
            added.append(f"{name}={value}")
        elif before != value:
            told = lines[at].partition("=")[0].rstrip()
            lines[at] = f"{told}={value}"
    if added:
        end = _end_of_server(lines)
        if end is None:
            lines, end = [*lines, _SERVER], len(lines) + 1
        lines[end:end] = added
    return "".join(f"{line}\n" for line in [*(f"# {n}" for n in note.splitlines()), *lines])


def _end_of_server(lines: list[str]) -> int | None:
    """Behind the last line of a server's section that says anything; None without a section."""
    end, inside = None, False
    for at, line in enumerate(lines):
        told = line.strip()
        if told.startswith("["):
            inside = is_of_server(told)
        if inside and told:
            end = at + 1
    return end
