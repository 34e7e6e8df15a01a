"""What the flags of the commands need: help texts of the keys, defaults, formats.

It imports no settings, so that `--help` is quick.
"""

from lsmtune.analysis.deploy import DB_BENCH_VARIABLE, DEFAULT_HOME
from lsmtune.study_keys import (
    DEFAULT_ENGINE,
    SCREEN_KEYS,
    STUDY_KEYS,
    VERSION,
    WORKLOAD_KEYS,
    flag_help,
)

__all__ = [
    "DB_BENCH_VARIABLE", "DEFAULT_ENGINE", "DEFAULT_HOME", "VERSION", "export_formats", "key_help",
]  # fmt: skip

_KEYS = {"": STUDY_KEYS, "workload": WORKLOAD_KEYS, "screen": SCREEN_KEYS}


def key_help(key: str, more: str = "", default: str = "") -> str:
    """Return the help of the flag that sets a key, such as `trials` or `workload.num`.

    `more` is a sentence about the flag alone. `default` is that of the flag, if the description
    of the key has none or another one.
    """
    table, _, name = key.rpartition(".")
    return flag_help(_KEYS[table][name], more, default)


def export_formats() -> list[str]:
    """Return the names of the export formats of all engines."""
    from lsmtune.engines.registry import usable_entries  # noqa: PLC0415 - only a shell asks

    return list(dict.fromkeys(form.name for e in usable_entries() for form in e.exports))
