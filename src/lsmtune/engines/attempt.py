"""Results of trials: a measurement, or the reason why there is none."""

import errno
from collections.abc import Callable, Sequence
from pathlib import Path

from lsmtune.engines.base import TrialFailedError
from lsmtune.errors import ParseError
from lsmtune.metrics.definitions import with_formulas
from lsmtune.metrics.measurement import Measurement
from lsmtune.system.host import free_bytes
from lsmtune.trials import Status, TrialResult
from lsmtune.units import KIB

MOST_CHARACTERS = 300
"""Maximum length of the words of a program in the reason of a failed trial."""
_FULL = "No space left on device"
_NEXT_TO_NOTHING = 64 * KIB


def attempted(measure: Callable[[], Measurement]) -> TrialResult:
    """Return the result of a trial that `measure` runs. It raises only bugs and other OSErrors."""
    try:
        measured = measure()
        metrics = with_formulas(measured.metrics)
        measured = measured.model_copy(update={"metrics": metrics})
        return TrialResult(status=Status.COMPLETE, measurement=measured)
    except TrialFailedError as failure:
        return TrialResult(status=failure.status, reason=str(failure), bounds=failure.bounds)
    except ParseError as error:
        return TrialResult(status=Status.UNREADABLE, reason=str(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        full = disk_full(str(error))
        return TrialResult(status=full.status, reason=str(full))


def is_disk_full(said: str, folder: Path) -> bool:
    """Return whether a program ended because the disk of the folder is full.

    `said` is its output. An assertion may stop a program before it prints the error, so this checks
    the free space too.
    """
    return _FULL in said or free_bytes(folder) < _NEXT_TO_NOTHING


def last_words(*choices: Sequence[str]) -> str:
    """Return the last line of the last list that has lines, for the reason of a failed trial."""
    found = [lines[-1] for lines in choices if lines]
    return (found or ["the program printed no error message"])[-1][:MOST_CHARACTERS]


def disk_full(reason: str) -> TrialFailedError:
    """Return the failure of a trial whose disk is full."""
    return TrialFailedError(Status.OUT_OF_SPACE, f"the disk is full: {reason}")
