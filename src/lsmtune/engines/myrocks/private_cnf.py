"""The user's my.cnf for a server on a copy: nothing outside of the copy is written."""

import re
from pathlib import Path

from lsmtune.engines.myrocks.server import (
    PRIVATE_FLAGS,
    ServerFiles,
    private_options,
    run_client,
)

_OF_THE_STORE = ("rocksdb_datadir", "rocksdb_wal_dir", "rocksdb_log_dir")
"""Folders that are the one of RocksDB in the copy, where its files and its WAL are."""
_OUTSIDE = re.compile(r"""(?:^|[;:,"'])\s*[/~]|\.\.""")
"""A path that may lead out of the data directory; all others start there."""
_ONLY_READ = (
    "basedir", "plugin_dir", "lc_messages_dir", "character_sets_dir", "ft_stopword_file",
    "file_key_management_filename",
)  # fmt: skip
_SSL = "ssl_"
_OFF = ("log_bin", "port", "bind_address", "wsrep_on")
"""Options that a private server does not use, because it does not replicate or listen."""
NO_FOLDERS = (*_OFF, "user", "init_file", "innodb", "default_storage_engine",
              "default_tmp_storage_engine")  # fmt: skip
"""Replaced options that name no folder or file of a server."""
_FOLDERS = ("dir", "directory", "path", "priv")
"""How the names of options end whose value is a folder."""
_READ_S = 30.0


def private_cnf(text: str, files: ServerFiles, socket: Path) -> tuple[str, tuple[str, ...]]:
    """Return a my.cnf that includes this text, and the options of the text that it replaces.

    The text stays as it is, to the byte. Of an option that is set twice, the server uses the last
    value, but the first `user`. `my_print_defaults` reads the text as the server does, with the
    files that it includes. TrialFailedError if it is no my.cnf.
    """
    exported = files.workdir / "exported.cnf"
    exported.write_text(text, encoding="utf-8", errors="surrogateescape")
    argv = ["my_print_defaults", f"--defaults-file={exported}", "--mysqld"]
    _, printed = run_client(argv, files, "options", _READ_S)
    own = {n.replace("-", "_"): str(v) for n, v in private_options(files, socket).items()}
    # The statements of an init_file may name files to write.
    own |= {"init_file": "", "loose_wsrep_on": "OFF"}
    inside, replaced = {}, []
    for line in printed.splitlines():
        name, _, value = line.removeprefix("--").partition("=")
        plain = name.replace("-", "_").removeprefix("loose_")
        if plain in _OF_THE_STORE:
            inside[name] = str(files.store)
        elif plain not in own and _OUTSIDE.search(value) and not _is_only_read(plain):
            inside[name] = _inside(files.workdir / plain, value)
        elif plain not in _OFF and own.get(plain, value) == value:
            continue
        replaced.append(plain)
    first = [f"user={own['user']}"] if "user" in own else []
    lines = ["[mysqld]", *first, f"!include {exported}", "[mysqld]", *PRIVATE_FLAGS]
    # Without quotes, the folder #rocksdb would begin a comment.
    lines += [f'{name}="{value}"' for name, value in {**inside, **own}.items()]
    return "\n".join(lines) + "\n", tuple(dict.fromkeys(replaced))


def _is_only_read(name: str) -> bool:
    return name in _ONLY_READ or name.startswith(_SSL)


def _inside(folder: Path, value: str) -> str:
    """Make a folder of the copy, and return it or a file in it, as the option needs."""
    folder.mkdir(exist_ok=True)
    return str(folder if folder.name.endswith(_FOLDERS) else folder / Path(value).name)
