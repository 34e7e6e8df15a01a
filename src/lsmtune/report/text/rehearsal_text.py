"""Sentences about a rehearsal: what a store did with the exported file and with the undo file."""

from collections.abc import Iterator

from lsmtune.rehearsal import Rehearsal
from lsmtune.report.text.words import listed

_OPENING = ("options", "open")
"""Steps before a store is open."""
_ONE = 1


def rehearsal_sentence(found: Rehearsal) -> str:
    """Return what the rehearsal has shown, as one clause without a full stop."""
    if found.failed is None:
        if found.new_store:
            return "the exported file made a new store and opened it again; no undo was tried"
        if not found.opened:
            return (
                "the store ran with the values of the file, and then with those of the undo file; "
                "no store was opened with the files"
            )
        return "the file opened a store of the baseline, and the undo file opened it again"
    if not found.opened:
        return f"the store refuses the values of the {found.failed} file: {found.message}"
    fails = "does not open" if found.step in _OPENING else "fails"
    where = f"a store of the baseline {fails} with the exported file"
    if found.new_store:
        where = f"a new store {fails} with the exported file"
    if found.failed == "undo":
        where = f"no way back: after the exported file, the store {fails} with the undo file"
    caused = f". Caused by the change of {listed(found.options)}" if found.options else ""
    needs = f". You need this step: {'; '.join(found.needs)}" if found.needs else ""
    return f"{where}: {found.message}{caused}{needs}"


def deployment_problem(found: Rehearsal) -> str:
    """Return why the file cannot be deployed, in at most nine words for a headline."""
    cause = found.options[0] if len(found.options) == _ONE else f"{len(found.options)} changes"
    if found.failed == "undo":
        return f"no way back from {cause}" if found.options else "no way back"
    return f"the store refuses {cause}" if found.options else "the store refuses the file"


def rehearsal_notes(found: Rehearsal) -> Iterator[str]:
    """Yield sentences about how the files were tried, and what was not shown."""
    if found.records:
        count = len(found.families)
        families = f" in {count} column families" if count > _ONE else ""
        then = ", wrote more, flushed, and compacted all into the last level"
        yield (
            f"In the rehearsal, lsmtune compared {found.records:,} records{families}"
            f"{then if count else ' and wrote more'}."
        )
    if found.replaced:
        yield (
            f"In the rehearsal, {listed(found.replaced)} named a folder of the copy. Nothing in "
            "the folders of your file was opened."
        )
    yield from (f"{remark[0].upper()}{remark[1:]}." for remark in found.remarks)
