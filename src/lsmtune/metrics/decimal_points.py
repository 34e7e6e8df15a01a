"""Decimal commas: RocksDB writes 0,75 for 0.75 in a program whose locale has commas."""

import re

COMMA_NOTE = "numbers such as 0,75 have a decimal comma; lsmtune reads them as 0.75"
"""What a user is told where a text has decimal commas."""

_COMMA = re.compile(r"(?<![\w.,])(-?\d+),(\d+)(?![\d.,])")
_OF_A_DUMP = re.compile(r"^(?:Uptime\(secs\): \d+,\d|.* P50 : \d+,\d)", re.MULTILINE)


def with_points(text: str) -> str:
    """Return the text of an option with points for decimal commas."""
    return _COMMA.sub(r"\1.\2", text) if "," in text else text


def dump_with_points(text: str) -> str:
    """Return a statistics dump with points, if the numbers of its uptime or tickers have commas."""
    return with_points(text) if _OF_A_DUMP.search(text) else text
