"""The contract of a kind of file that the user gives as baseline."""

from collections.abc import Callable
from dataclasses import dataclass


def unchanged(text: str, path: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of a file as it is, without remarks."""
    return text, ()


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A kind of file that an engine reads as the baseline of a study.

    name        the kind in messages, such as my.cnf
    recognises  whether a text is a file of this kind
    rank        kinds with a lower rank are tried first: a kind needs a higher rank than another one
                if files of the other kind look like its own
    read        takes text and path; returns the text as the engine gets it, and remarks about it
    """

    name: str
    recognises: Callable[[str], bool]
    rank: int = 0
    read: Callable[[str, str], tuple[str, tuple[str, ...]]] = unchanged
