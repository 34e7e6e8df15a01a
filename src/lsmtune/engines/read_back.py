"""What RocksDB has left in its folder: which options really ran, which codecs are linked."""

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
"""RocksDB writes six decimals."""


def newest_options(store: Path) -> Path:
    """The OPTIONS file that the last open of the store wrote; TrialFailedError without one."""
    files = sorted(store.glob("OPTIONS-*"))
    if not files:
        raise TrialFailedError(Status.UNREADABLE, "RocksDB wrote no OPTIONS file")
    return files[-1]


def first_log(store: Path) -> Path:
    """The LOG of the store's first open: each later one moves the LOG aside that it finds."""
    old = sorted(store.glob("LOG.old.*"))
    return old[0] if old else store / "LOG"


def linked_codecs(store: Path) -> tuple[str, ...] | None:
    """The codecs of the RocksDB that has opened the store; None where it does not tell."""
    codecs = _CODEC.findall((store / "LOG").read_text(errors="replace"))
    return (_NO_CODEC, *codecs) if codecs else None


def is_as_wanted(option: str, wanted: Value, actual: Value | None) -> bool:
    """Whether an option runs as it was given."""
    # 0 stands for what RocksDB computes from others and writes down, each version in its way.
    if option in DERIVED and wanted == 0:
        return actual is not None
    if isinstance(wanted, float) and isinstance(actual, int | float):
        return abs(wanted - actual) < _WRITTEN_TO * max(1.0, abs(wanted))
    return actual == wanted


def check_as_given(store: str, differing: Sequence[str]) -> None:
    """TrialFailedError where options run otherwise than they were given."""
    if differing:
        raise TrialFailedError(
            Status.MISMATCH, f"{store} changed options of the trial: {', '.join(differing)}"
        )
