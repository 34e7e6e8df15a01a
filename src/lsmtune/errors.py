"""The errors of lsmtune: one root, and a class of its own for mistakes of the user.

A `UserError` is printed as one sentence and ends the program with exit code 2. Any other
`LsmtuneError` is printed as one sentence and ends it with exit code 1. Everything else is a bug
and keeps its traceback.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

_MAX_LISTED = 24
_MAX_LISTED_ALWAYS = 40
_SIMILAR = 6


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
