"""Sentences about a rehearsal: what a store did with the exported file and with the undo file.

The store is one of the baseline, or a copy of the user's.
"""

from collections.abc import Iterator

from lsmtune.rehearsal import Rehearsal, StorePlan, StoreRehearsal
from lsmtune.report.text.words import counted, listed, sentence_start
from lsmtune.units import format_bytes, format_duration

_OPENING = ("options", "open")
"""Steps before a store is open."""
_ONE = 1

_QUIET = (
    "automatic compactions were off in the copy; not shown: compactions of your own data with the "
    "new options"
)


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


def plan_sentence(plan: StorePlan) -> str:
    """Return what a rehearsal is about to do."""
    files = counted(plan.linked_files, "table or blob file")
    return (
        f"rehearsal: copies {format_bytes(plan.copied_bytes)} into {plan.place}, and makes hard "
        f"links to {files} ({format_bytes(plan.linked_bytes)}); "
        f"time limit {format_duration(plan.limit_s)}"
    )


def store_rehearsal_lines(study: str, trial: int | None, found: StoreRehearsal) -> list[str]:
    """Return the result of a rehearsal: the answer, what was done, and what was not shown."""
    lines = [f"study {study}, trial {trial}: {_answer(found)}."]
    if found.options:
        verb = "causes" if len(found.options) == 1 else "cause"
        lines.append(f"The change of {listed(found.options)} {verb} the failure.")
    if found.failed is None:
        lines.append(
            f"RocksDB {found.version} read {counted(found.read, 'record')} of "
            f"{counted(found.tables, 'table')} with each file, and the records were equal. It "
            f"wrote {counted(found.records, 'record')} into "
            f"{_families(len(found.written))}, flushed, compacted and read them "
            f"({format_duration(found.seconds)})."
        )
        lines.append(
            "In the copy, the undo file also had the sections of the new column families: "
            f"{listed(found.added)}."
        )
    else:
        lines.append(f"RocksDB {found.version}: {found.message}".rstrip(".") + ".")
    if found.replaced:
        lines.append(
            f"In the copy, {listed(found.replaced)} named the folder of the copy, so that nothing "
            "in the folders of your file was opened."
        )
    lines += [f"{sentence_start(remark)}." for remark in (_QUIET, *found.remarks)]
    lines.append("No file of your store was changed. The copy is deleted.")
    return lines


def _answer(found: StoreRehearsal) -> str:
    if found.failed is None:
        return f"both files opened a copy of {found.folder}"
    if found.failed == "undo":
        return (
            f"the exported file opened a copy of {found.folder}, but the undo file did not open "
            f"the copy again, so there is no way back ({found.step})"
        )
    return f"a copy of {found.folder} did not open or work with the exported file ({found.step})"


def _families(number: int) -> str:
    return "1 new column family" if number == 1 else f"{number} new column families"
