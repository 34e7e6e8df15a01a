"""File that MyRocks reads as baseline: its my.cnf."""

import re

from lsmtune.engines.base_files import BaseFile

_SERVER = re.compile(r"^\s*\[(?:mysqld|mariadbd?|server)\b", re.MULTILINE | re.IGNORECASE)


def _is_my_cnf(text: str) -> bool:
    return _SERVER.search(text) is not None


BASE_FILES = (BaseFile("my.cnf", _is_my_cnf, rank=1),)
"""The kinds of files that the engine reads. Files of other servers have a section [server], too."""
