"""RocksDB's variables in a my.cnf, the file of a MySQL or MariaDB server."""

import re
from collections.abc import Iterator

_PREFIXES = ("loose_rocksdb_", "rocksdb_")
_UNCOMMENTED = re.compile(r"""(?:"(?:[^"\\]|\\.)*(?:"|$)|'(?:[^'\\]|\\.)*(?:'|$)|[^#"'])*""")
_SECTIONS = ("mysqld", "mariadb", "mariadbd", "server")
_SERVER = re.compile(r"^\s*\[(?:mysqld|mariadbd?|server)\b", re.MULTILINE | re.IGNORECASE)


def is_my_cnf(text: str) -> bool:
    """Return whether a text has a section of the server; files of other servers have one, too."""
    return _SERVER.search(text) is not None


def server_variables(text: str) -> Iterator[tuple[int, str, str]]:
    """RocksDB's variables in the server's sections of a my.cnf: line, name without prefix, value.

    As the server reads it: blanks around do not count, dashes are underscores, a name alone
    stands for 1, and `#` outside quotes begins a comment (mysys/my_default.c). Lines end with a
    line feed.
    """
    in_server = False
    for at, line in enumerate(text.split("\n")):
        told = without_end_comment(line).strip()
        if told.startswith("["):
            in_server = is_of_server(told)
        elif in_server and told and told[0] not in "#;!":
            name, equals, value = (part.strip() for part in told.partition("="))
            plain = name.replace("-", "_")
            prefix = next((p for p in _PREFIXES if plain.startswith(p)), None)
            if prefix is not None:
                yield at, plain.removeprefix(prefix), value.strip("\"'") if equals else "1"


def without_end_comment(line: str) -> str:
    """Return a line of a my.cnf up to the comment at its end."""
    found = _UNCOMMENTED.match(line)
    return line if found is None else found[0]


def is_of_server(head: str) -> bool:
    """Whether a line such as `[mysqld]` or `[mariadb-10.11]` begins a section of the server's."""
    return head.strip()[1:].split("]")[0].strip().lower().split("-")[0] in _SECTIONS
