"""The errors of lsmtune: one root, and a class of its own for mistakes of the user.

A `UserError` is printed as one sentence and ends the program with exit code 2. Any other
`LsmtuneError` is printed as one sentence and ends it with exit code 1. Everything else is a bug
and keeps its traceback.

A message names what the user gave by an `Argument`, so that a Python program reads the argument
and the command line prints its flag.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Self

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


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function, or a key of a study, that a message names, with its value if any.

    `flag` is how the command line writes it, if not as `--name value`. The value True is a switch.
    """

    name: str
    value: object = None
    flag: str | None = None

    def __str__(self) -> str:
        """Return the argument as Python and study files have it: `home = data`."""
        return self.name if self.value is None else f"{self.name} = {self.value}"

    def as_flag(self) -> str:
        """Return the argument as the command line has it: `--home data`."""
        if self.flag is not None:
            return self.flag
        flag = f"--{self.name.replace('_', '-')}"
        return flag if self.value is None or self.value is True else f"{flag} {self.value}"


class Message(str):
    """A text that may name arguments; `parts` are its texts and arguments."""

    parts: tuple[str | Argument, ...]

    def __new__(cls, *parts: str | Argument) -> Self:
        """Join the parts; a part that is a message keeps its arguments."""
        message = super().__new__(cls, "".join(map(str, parts)))
        message.parts = tuple(
            inner
            for part in parts
            for inner in (part.parts if isinstance(part, Message) else (part,))
        )
        return message

    def with_flags(self) -> str:
        """Return the text as the command line prints it."""
        return "".join(
            part.as_flag() if isinstance(part, Argument) else part for part in self.parts
        )


class LsmtuneError(Exception):
    """A foreseen failure; the message is one sentence for the user."""

    def __init__(self, *parts: str | Argument) -> None:
        self.message = Message(*parts)
        super().__init__(self.message)


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


def with_places(problems: Sequence[str], where: str, flags: Mapping[str, str]) -> Message:
    """Return the problems with settings as one message.

    A problem starts with the key of a setting. `flags` has the flag of each key that the caller
    gave itself; problems with other keys follow `where`.
    """
    parts: list[str | Argument] = []
    others: list[str | Argument] = []
    for problem in problems:
        named = _with_flag(problem, flags)
        (others if named is None else parts).extend(("; ", problem if named is None else named))
    if others:
        parts += ["; ", where, ": ", *others[1:]]
    return Message(*parts[1:])


def _with_flag(problem: str, flags: Mapping[str, str]) -> Message | None:
    """Return the problem with the argument instead of the key at its start, if the caller gave it.

    The argument has the value and what is wrong with it.
    """
    for key, flag in flags.items():
        argument = flag.removeprefix("--").replace("-", "_")
        for name in (key, argument):
            found = re.match(rf"{re.escape(name)}(?:\.\d+)?( = |(?=[: ]))", problem)
            if found is not None:
                rest = problem[found.end() :]
                return Message(
                    Argument(argument, rest) if found[1] else Argument(argument),
                    "" if found[1] else rest,
                )
    return None
