"""Sentences about a rehearsal with a store of the user."""

from lsmtune.rehearsal import StorePlan, StoreRehearsal
from lsmtune.report.text.words import counted, listed, sentence_start
from lsmtune.units import format_bytes, format_duration

_QUIET = (
    "automatic compactions were off in the copy; not shown: compactions of your own data with the "
    "new options"
)


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
