"""The errors of lsmtune: one root, and a class of its own for mistakes of the user.

A `UserError` is printed as one sentence and ends the program with exit code 2. Any other
`LsmtuneError` is printed as one sentence and ends it with exit code 1. Everything else is a bug
and keeps its traceback.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

_MAX_LISTED = 24
_MAX_LISTED_ALWAYS = 40
_SIMILAR = 6

_TABLE, _LIST, _NUMBER = "must be a table", "must be a list", "must be a number"
_TEXT, _INTEGER, _SWITCH = "must be a text in quotes", "must be an integer", "must be true or false"

ALLOWED = {
    "dict_type": _TABLE,
    "model_type": _TABLE,
    "model_attributes_type": _TABLE,
    "tuple_type": _LIST,
    "too_short": "must have at least {min_length} values",
    "string_type": _TEXT,
    "string_too_short": "must not be empty",
    "int_type": _INTEGER,
    "int_parsing": _INTEGER,
    "int_parsing_size": _INTEGER,
    "int_from_float": _INTEGER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _SWITCH,
    "bool_parsing": _SWITCH,
    "greater_than_equal": "must be at least {ge:.15g}",
    "less_than_equal": "must be at most {le:.15g}",
    "greater_than": "must be greater than {gt:.15g}",
    "less_than": "must be less than {lt:.15g}",
}
"""What is allowed, by pydantic's type of a problem."""


class LsmtuneError(Exception):
    """A foreseen failure; the message is one sentence for the user."""


class UserError(LsmtuneError):
    """A mistake in the user's input; the message names the place and what is allowed."""


class Cancelled(LsmtuneError):  # noqa: N818 - what happened, not a mistake
    """The caller ended the work; what ran before is kept."""


class ParseError(LsmtuneError):
    """A file or an output with unexpected content; the message names the line."""


def unknown_word(kind: str, word: object, allowed: Iterable[str], see: str = "") -> str:
    """Return the message for a word that is not one of the allowed ones.

    It offers the most similar allowed word. `see` is a command that lists the allowed words; it
    replaces a list that is too long for one sentence. Without it, a long list becomes the similar
    words if there are any.
    """
    names = list(allowed)
    near = get_close_matches(str(word), names, n=1)
    text = f"unknown {kind} {word!r}" + (f"; did you mean {near[0]!r}?" if near else ";")
    if see and len(names) > _MAX_LISTED:
        return f"{text} {'See' if near else 'see'} `{see}`"
    if near and len(names) > _MAX_LISTED_ALWAYS:
        others = get_close_matches(str(word), names, n=_SIMILAR, cutoff=0.5)[1:]
        return text + (f" Also similar: {', '.join(others)}" if others else "")
    return f"{text} {'Available' if near else 'available'}: {', '.join(names)}"


def allowed_text(problem: Mapping[str, Any]) -> str:
    """Return what is allowed instead of a value that pydantic refused."""
    if (allowed := ALLOWED.get(problem["type"])) is not None:
        return allowed.format(**problem.get("ctx", {}))
    message: str = problem["msg"].removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]}"


def with_places(problems: Sequence[str], where: str, flags: Mapping[str, str]) -> str:
    """Return the problems with settings as one message; each starts with its flag, or with `where`.

    A problem starts with the key of a setting. `flags` has the flag of each key that the command
    line gave.
    """
    named = [_with_flag(problem, flags) for problem in problems]
    parts = [text for text, problem in zip(named, problems, strict=True) if text != problem]
    if rest := [problem for text, problem in zip(named, problems, strict=True) if text == problem]:
        parts.append(f"{where}: {'; '.join(rest)}")
    return "; ".join(parts)


def _with_flag(problem: str, flags: Mapping[str, str]) -> str:
    """Return the problem with the flag instead of the key at its start, if a flag gave the key."""
    for key, flag in flags.items():
        for name in (key, flag.removeprefix("--").replace("-", "_")):
            found = re.match(rf"{re.escape(name)}(?:\.\d+)?( = |(?=[: ]))", problem)
            if found is not None:
                return flag + (" " if found[1] else "") + problem[found.end() :]
    return problem
