"""Checks of what a Python program passes: one sentence instead of an error from deep inside."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.errors import UserError
from lsmtune.progress import Observer


@dataclass(frozen=True, slots=True)
class Kind:
    """What an argument may be: `text` says it, `fits` decides it."""

    text: str
    fits: Callable[[Any], bool]


def _is_wait(value: Any) -> bool:
    return isinstance(value, bool) or (
        isinstance(value, int | float) and 0 <= value <= threading.TIMEOUT_MAX
    )


def _is_hosts(value: Any) -> bool:
    # Not by its class: distributed is an extra.
    return isinstance(value, str) or type(value) is int or hasattr(value, "submit")


def _is_texts(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, Sequence) and all(isinstance(one, str) for one in value)
    )


PATH = Kind("a path, as text or pathlib.Path", lambda value: isinstance(value, str | Path))
TEXT = Kind("a text", lambda value: isinstance(value, str))
TEXTS = Kind("a text or a list of texts", _is_texts)
NUMBER = Kind("a whole number", lambda value: type(value) is int)
SWITCH = Kind("True or False", lambda value: isinstance(value, bool))
OBSERVER = Kind("an lsmtune.Observer", lambda value: isinstance(value, Observer))
EVENT = Kind("a threading.Event", lambda value: isinstance(value, threading.Event))
HOSTS = Kind("an address, a number of processes, or a distributed.Client", _is_hosts)
WAIT = Kind("True, False or a number of seconds", _is_wait)


def check(kind: Kind, **arguments: Any) -> None:
    """Raise UserError for an argument of another kind; None is an argument that is not given."""
    for name, value in arguments.items():
        if value is not None and not kind.fits(value):
            raise UserError(f"{name} = {value!r}: must be {kind.text}")
