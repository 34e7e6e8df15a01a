"""The options of a trial as one text, as `rocksdb_get_options_from_string` reads it.

The text contains options of the database and of the default family as `key=value;`. Its values are
not escaped. A value that contains a semicolon is in braces. The driver gets this text, because the
C API of all versions reads it.
"""

import re
from collections.abc import Iterator, Mapping

from lsmtune.engines.rocksdb.options import NOT_IN_TRIALS, TABLE_OPTIONS
from lsmtune.errors import ParseError
from lsmtune.knobs.families import DATABASE_SECTION, DEFAULT_FAMILY
from lsmtune.metrics.options_file import parse_options, unescaped

_KEY = re.compile(r"\w+", re.ASCII)
_NO_VALUE = frozenset({"", "{}", "nullptr"})
_FACTORY = "table_factory"
"""This option of an OPTIONS file would make a new factory, without the cache of the plan."""

NOT_READ = frozenset({"experimental_mempurge_threshold"})
"""Knobs that RocksDB does not read from this text.

Since 7.5, RocksDB ignores this name, because an old option of the database had the same name.
"""


def option_string(options: str, family: str = DEFAULT_FAMILY) -> str:
    """Return the text of the options that an OPTIONS text sets for a family and the database.

    Options that a trial must not have are left out, such as other folders and levels of logging.
    Options without a value, such as `nullptr`, are left out too.

    ParseError if the text is not an OPTIONS file, or if RocksDB would read one key or value as
    several options.
    """
    sections = parse_options(options).sections
    own = (*_statements(sections.get(DATABASE_SECTION, {})),
           *_statements(sections.get(f'CFOptions "{family}"', {})))  # fmt: skip
    tables = "".join(_statements(sections.get(f'TableOptions/BlockBasedTable "{family}"', {})))
    return "".join(own) + (f"{TABLE_OPTIONS}={{{tables}}};" if tables else "")


def _statements(section: Mapping[str, str]) -> Iterator[str]:
    for key, text in section.items():
        if key in NOT_IN_TRIALS or key == _FACTORY or text in _NO_VALUE:
            continue
        if not _KEY.fullmatch(key):
            raise ParseError(f"OPTIONS file: {key}: a key has only letters, digits and _")
        yield f"{key}={_one_value(key, unescaped(text))};"


def _one_value(key: str, text: str) -> str:
    """Return the value, in braces if it contains semicolons, so that RocksDB reads one value."""
    depth, ends = 0, 0
    for char in text:
        depth += (char == "{") - (char == "}")
        ends += char == "}" and depth == 0
        if depth < 0:
            break
    if depth:
        raise ParseError(f"OPTIONS file: {key}={text}: write as many {{ as }}")
    is_struct = text.startswith("{") and text.endswith("}") and ends == 1
    return text if is_struct or not set(text) & set(";{}") else f"{{{text}}}"
