"""Files in the folder of a store: the options that ran, and the codecs of RocksDB."""

import re
from collections.abc import Sequence
from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.knobs.option_text import DERIVED
from lsmtune.knobs.types import Value
from lsmtune.trials import Status

_NO_CODEC = "kNoCompression"
_CODEC = re.compile(r"\s(k\w+) supported: 1")
_WRITTEN_TO = 10**-6
"""Relative precision of numbers in an OPTIONS file, which have six decimals."""


def newest_options(store: Path) -> Path:
    """Return the OPTIONS file of the last opening; TrialFailedError if there is none."""
    files = sorted(store.glob("OPTIONS-*"))
    if not files:
        raise TrialFailedError(Status.UNREADABLE, "RocksDB wrote no OPTIONS file")
    return files[-1]


def first_log(store: Path) -> Path:
    """Return the LOG of the first opening of the store. Each later opening renames the LOG."""
    old = sorted(store.glob("LOG.old.*"))
    return old[0] if old else store / "LOG"


def linked_codecs(store: Path) -> tuple[str, ...] | None:
    """Return the codecs of the RocksDB that opened the store; None if its LOG lists none."""
    codecs = _CODEC.findall((store / "LOG").read_text(errors="replace"))
    return (_NO_CODEC, *codecs) if codecs else None


def is_as_wanted(option: str, wanted: Value, actual: Value | None) -> bool:
    """Return whether an option runs with the value that it was given."""
    # For 0, RocksDB computes a value from other options. Each version computes another one.
    if option in DERIVED and wanted == 0:
        return actual is not None
    if isinstance(wanted, float) and isinstance(actual, int | float):
        return abs(wanted - actual) < _WRITTEN_TO * max(1.0, abs(wanted))
    return actual == wanted


def check_as_given(store: str, differing: Sequence[str]) -> None:
    """Raise TrialFailedError if options run with other values than they were given."""
    if differing:
        raise TrialFailedError(
            Status.MISMATCH, f"{store} changed options of the trial: {', '.join(differing)}"
        )
