"""The parts of a rehearsal that all engines share: the order of the tries, and the causes."""

from collections.abc import Callable, Collection
from typing import Any

from lsmtune.engines.base import Deployed, TrialFailedError
from lsmtune.engines.libraries.steps import StepFailedError
from lsmtune.rehearsal import File
from lsmtune.trials import Status

Failure = tuple[File, StepFailedError]


def rehearsed(
    files: Deployed, prepare: Callable[[], None], tried: Callable[[str], Failure | None]
) -> tuple[Failure | None, tuple[str, ...]]:
    """Prepare the store and try the exported file; return what failed, and the causes.

    `tried` opens a copy of the store with a file, and then with the undo file. TrialFailedError if
    the undo file, which has the baseline, does not open the store.
    """
    try:
        prepare()
    except StepFailedError as failure:
        text = f"the store of the baseline does not open with the undo file: {failure}"
        raise TrialFailedError(Status.REFUSED, text) from failure
    if (failed := tried(files.exported)) is None:
        return None, ()
    return failed, causes(files.changed, lambda names: tried(files.only(names)) is not None)


def causes(changed: Collection[str], fails: Callable[[list[str]], bool]) -> tuple[str, ...]:
    """Return changed options that cause a failure: with only these the file fails, too.

    The changes are taken back one by one. A change without which the file still fails is no cause.
    """
    found = list(changed)
    for name in changed:
        fewer = [cause for cause in found if cause != name]
        if fewer and fails(fewer):
            found = fewer
    return tuple(found)


def failed_fields(failed: Failure | None, options: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a rehearsal that describe its failure."""
    if failed is None:
        return {}
    file, failure = failed
    return {
        "failed": file, "step": failure.step, "message": str(failure), "options": tuple(options),
    }  # fmt: skip
