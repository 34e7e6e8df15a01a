"""What the flags of the commands need: help texts of the keys, defaults, formats.

It imports no settings, so that `--help` is quick.
"""

import re
from collections import deque
from collections.abc import Mapping, Sequence

from lsmtune.analysis.deploy import DB_BENCH_VARIABLE, DEFAULT_HOME
from lsmtune.errors import UserError
from lsmtune.study_keys import (
    DEFAULT_ENGINE,
    SCREEN_KEYS,
    STUDY_KEYS,
    VERSION,
    WORKLOAD_KEYS,
    flag_help,
)

__all__ = [
    "DB_BENCH_VARIABLE", "DEFAULT_ENGINE", "DEFAULT_HOME", "VERSION", "check_values",
    "export_formats", "key_help",
]  # fmt: skip

_DEFAULTS = re.compile(r"(?:\s*\[[^\[\]]*\]\.?)+$")
"""The default at the end of a help text, and the range that Typer adds."""
_SENTENCE = re.compile(r"(?<!e\.g)\. (?=[A-Z`])")
"""The end of a sentence that another one follows."""
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


def check_values(args: Sequence[str], options: Mapping[str, Sequence[str]]) -> None:
    """Raise UserError for an option without its value, at the end or before another option.

    `options` has the help of each option of the command: its names with its value, and a text.
    An option that takes no value has none. Typer would take the next option as the value.
    """
    left = deque(args)
    while left and (name := left.popleft()) != "--":
        if not (found := options.get(name)):
            continue
        if not left or left[0] in options:
            value = " ".join(word for word in found[0].split() if not word.startswith("-"))
            meaning = _SENTENCE.split(_DEFAULTS.sub("", found[1]))[0].rstrip(".")
            if not meaning[1:2].isupper():  # as in CPU
                meaning = meaning[:1].lower() + meaning[1:]
            raise UserError(f"{name}: the value is missing; write `{name} {value}`: {meaning}")
        left.popleft()
