"""Lines of RocksDB that lost their time or their block: in a mail, an issue or a terminal.

A LOG prints its statistics and its table options below a line with a time. A paste often lacks
this line, and a mail folds long lines.
"""

import re

_BLOCK = re.compile(
    r"\\?\*\\?\* (?:DB|Compaction) Stats |\bLevel\s+Files\s+Size\b(?!\(MB\)\s+Time)"
    r"|Uptime\(secs\): \d|Cumulative (?:writes|WAL|stall): \d"
)
_ROW = re.compile(r"[\s>|]*L\d{1,3}\s+\d+/\d+\s+\d")
_TICKER = re.compile(r"[\s>]*rocksdb\.\S+ (?:COUNT : |P50 : |statistics Percentiles :=> )")
_WARNING = re.compile(r"\b(?:Stalling|Stopping)(?: writes|\W*$)")
_OPTION = re.compile(
    r"(?:[\s>]*|\d.{0,90} [0-9a-f]+ +)(?:Options\.[a-zA-Z]\w*(?:\.\w+|\[\d+\])?\s*:"
    r"|(?:\[[^\]\s]{0,400}\]\s*)?-+\s*Options for column family \[)"
)
_VERSION = re.compile(r"[\s>]*RocksDB version: \d+\.\d+")
_INFO = re.compile(
    r"\S{26} \S+ (?:\(Original Log Time [^)]{0,40}\) )?\[[^\]\s]{0,400}\.(?:cc|h):\d{1,6}\] "
)
_SOURCE = re.compile(r"\[[^\]\s]{0,400}\.(?:cc|h):\d{1,6}\]")


def may_matter(line: str) -> bool:
    """Return whether any of the functions below may apply: most lines of other programs do not."""
    return (
        "Stats " in line or "Level" in line or "Cumulative " in line or "Uptime(" in line
        or "rocksdb." in line or "ptions" in line or "RocksDB" in line or "EVENT_LOG" in line
        or "Stalling" in line or "Stopping" in line or "Increasing compaction" in line
        or "compacted to" in line or "wait for" in line or "setting delay of" in line
        or line.lstrip(" >|\t")[:1] == "L"
    )  # fmt: skip


def begins_block(line: str) -> bool:
    """Return whether a block of statistics begins with the line."""
    may_be = "Stats " in line or "Level" in line or "Uptime(" in line or "Cumulative " in line
    return (may_be and _BLOCK.search(line) is not None) or _ROW.match(line) is not None


def begins_dump(line: str) -> bool:
    """Return whether the line begins the statistics of the whole database."""
    return "DB Stats" in line


def is_ticker(line: str) -> bool:
    """Return whether the line is a ticker or a histogram."""
    return "rocksdb." in line and _TICKER.match(line) is not None


def is_warning(line: str) -> bool:
    """Return whether the line has the beginning of a warning of a stall, folded or not."""
    return ("Stalling" in line or "Stopping" in line) and _WARNING.search(line) is not None


def is_speedup(line: str) -> bool:
    """Return whether the line says that RocksDB runs more compactions."""
    return "Increasing compaction threads" in line


def is_delay(line: str) -> bool:
    """Return whether the line says that Speedb's write controller sets a rate."""
    return "WC setting delay of " in line


def is_option(line: str) -> bool:
    """Return whether the line is an option as RocksDB prints it at the opening."""
    return "Options" in line and _OPTION.match(line) is not None


def is_version(line: str) -> bool:
    """Return whether the line is RocksDB's line on its version."""
    return "RocksDB version" in line and _VERSION.match(line) is not None


def is_info(line: str) -> bool:
    """Return whether a line with a time is of the level INFO: a place in the source, no level.

    Lines of the header have neither.
    """
    return _INFO.match(line) is not None


def names_source(line: str) -> bool:
    """Return whether the line names a place in RocksDB's source; LevelDB names none."""
    return _SOURCE.search(line) is not None
