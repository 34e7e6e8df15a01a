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
    rank        kinds with a lower rank are tried first. A kind needs a higher rank than another one
                if it also recognises files of the other kind. Kinds of other packages come last
    read        takes text and path; returns the text as the engine gets it, and remarks about it
    """

    name: str
    recognises: Callable[[str], bool]
    rank: int = 0
    read: Callable[[str, str], tuple[str, tuple[str, ...]]] = unchanged
