"""Files that RocksDB reads as baseline: OPTIONS files and options strings."""

import re

from lsmtune.engines.base_files import BaseFile
from lsmtune.errors import UserError
from lsmtune.knobs.options_string import as_options_file, parse_options_string

_OPTIONS = re.compile(r"^\s*\[(?:DBOptions|CFOptions)", re.MULTILINE)


def _is_options_file(text: str) -> bool:
    return _OPTIONS.search(text) is not None


def _is_options_string(text: str) -> bool:
    return parse_options_string(text) is not None


def _read_string(text: str, path: str) -> tuple[str, tuple[str, ...]]:
    """Return an options string as an OPTIONS file, because trials are made from OPTIONS files.

    Options that it does not set have the defaults of the RocksDB that runs.
    """
    if (given := parse_options_string(text)) is None:
        raise UserError(f"base: {path}: the file is no options string")
    remark = f"{path} is an options string; options that it does not set have RocksDB's defaults"
    return as_options_file(given), (remark, *given.notes)


OPTIONS_STRING = BaseFile("options string", _is_options_string, rank=2, read=_read_string)
"""Files of many programs contain a text that could be one."""

BASE_FILES = (BaseFile("OPTIONS file", _is_options_file), OPTIONS_STRING)
"""The kinds of files that the engine reads."""
