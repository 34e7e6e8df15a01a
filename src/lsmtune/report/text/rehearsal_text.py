"""Sentences about a rehearsal: what a store did with the exported file and with the undo file."""

from collections.abc import Iterator

from lsmtune.rehearsal import Rehearsal
from lsmtune.report.text.words import counted, listed

_FILES = {"exported": "the exported file", "undo": "the undo file"}
_OPENED = {
    "exported": "a store of the baseline does not open or work with the exported file",
    "undo": "the store does not open again with the undo file after it was used with the exported "
    "file, so there is no way back",
}


def rehearsal_sentence(found: Rehearsal) -> str:
    """Return what the rehearsal has shown, as one clause without a full stop."""
    if found.failed is None:
        if found.new_store:
            return "the exported file made a new store and opened it again; no undo was tried"
        return "the file opened a store of the baseline, and the undo file opened it again"
    if found.needs:
        needs = f"; this needs a step: {'; '.join(found.needs)}"
        return f"{_OPENED[found.failed]}{_causes(found)}{needs}"
    where = _OPENED[found.failed]
    if found.new_store:
        where = "a new store does not open or work with the exported file"
    return f"{where}: {found.message}{_causes(found)}"


def deployment_problem(found: Rehearsal) -> str:
    """Return why the file cannot be deployed, in a few words for a headline."""
    cause = f" after the change of {listed(found.options[:2])}" if found.options else ""
    if found.failed == "undo":
        return f"there is no way back{cause}"
    return f"the store refuses the file{cause}"


def rehearsal_notes(found: Rehearsal) -> Iterator[str]:
    """Yield sentences about how the files were tried, and what was not shown."""
    families = f" in {counted(len(found.families), 'column family')}" if found.families else ""
    if found.records:
        yield (
            f"In the rehearsal, lsmtune compared {found.records:,} records{families}, wrote more, "
            "flushed, and compacted them into the last level."
        )
    if found.replaced:
        yield (
            f"In the rehearsal, {listed(found.replaced)} named a folder of the copy, so that "
            "nothing in the folders of your file was opened."
        )
    yield from (f"{remark[0].upper()}{remark[1:]}." for remark in found.remarks)


def _causes(found: Rehearsal) -> str:
    if not found.options:
        return ""
    names = listed(found.options)
    return f" ({'caused by' if len(found.options) == 1 else 'caused by the changes of'} {names})"
