"""A store of the baseline, opened with the exported file and then with the undo file.

The store is the one that a run of the baseline leaves. The undo file opens it first, makes its
other families, writes some records and moves the data into the last level, where a store that is in
use for long has most of it. Each try gets a copy of this store.
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Deployed, TrialFailedError
from lsmtune.engines.libraries.steps import Event, StepFailedError, result_of
from lsmtune.engines.rocksdb.opener import LISTS_LEFT_OUT, Opener, folders_inside
from lsmtune.engines.templates import link_database
from lsmtune.metrics.options_file import OptionsFile, family_names, parse_options
from lsmtune.rehearsal import File, Rehearsal
from lsmtune.system.workdir import create_workdir, remove_workdir
from lsmtune.trials import Status

_LEVELED, _USUAL_LEVELS = "kCompactionStyleLevel", 7
_NEW = {"do": "put", "keys": 2000, "size": 200, "prefix": "lsmtune"}
_AFTER = {"do": "put", "keys": 100, "size": 200, "prefix": "lsmtune-undo"}
_OVERWRITE = {"do": "overwrite", "every": 7, "most": 2000}
_FLUSH, _COMPACT, _DIGEST, _ERRORS = (
    {"do": name} for name in ("flush", "compact", "digest", "errors")
)
_TEXT_ONLY = (
    "this version of RocksDB cannot read an OPTIONS file through its C API, so lsmtune read the "
    "files and gave RocksDB each option; not shown: that RocksDB reads these files"
)

Failure = tuple[File, StepFailedError]


class Rehearsing:
    """The tries of one rehearsal, on copies of one store."""

    def __init__(self, opener: Opener, files: Deployed, store: Path, version: str) -> None:
        self._opener = opener
        self._files = files
        self._store = store
        self._version = version
        self._started = time.monotonic()
        self._numbers = count()
        self._digest: Any = None

    def on_existing(self) -> Rehearsal:
        """Return what copies of the store did with both files.

        TrialFailedError if the undo file, which has the baseline, does not open the store.
        """
        try:
            self._prepare()
        except StepFailedError as failure:
            text = f"the store of the baseline does not open with the undo file: {failure}"
            raise TrialFailedError(Status.REFUSED, text) from failure
        if (failed := self._tried(self._files.exported)) is None:
            return self._result()
        causes = causes_of(self._files, lambda text: self._tried(text) is not None)
        return self._result(failed, causes)

    def on_new(self) -> Rehearsal:
        """Return whether the exported file makes a new store and opens it again."""
        steps = [_NEW, _FLUSH, _COMPACT, _DIGEST, _ERRORS]
        try:
            made = self._open(self._store, self._files.exported, steps, create=True)
            check_errors(made)
            again = self._open(self._store, self._files.exported, [_DIGEST])
            check_digest(again, result_of(made, "digest"))
        except StepFailedError as failure:
            return self._result(("exported", failure))
        self._digest = result_of(again, "digest")
        return self._result()

    def _prepare(self) -> None:
        """Bring the store into the state that each try begins with."""
        file = parse_options(self._files.undo)
        steps = [
            _NEW,
            _FLUSH,
            *deepened(file),
            _OVERWRITE,
            _FLUSH,
            {"do": "settle", "limit_s": 60.0},
        ]
        events = self._open(self._store, self._files.undo, [*steps, _DIGEST], create=True)
        self._digest = result_of(events, "digest")

    def _tried(self, exported: str) -> Failure | None:
        """Open a copy with a file, then with the undo file; return what failed, or None."""
        with self._copy() as store:
            try:
                written = self._use(store, exported)
            except StepFailedError as failure:
                return "exported", failure
            try:
                back = self._open(store, self._files.undo, [_DIGEST, _AFTER, _FLUSH, _ERRORS])
                check_digest(back, written)
                check_errors(back)
            except StepFailedError as failure:
                return "undo", failure
        return None

    def _use(self, store: Path, exported: str) -> Any:
        """Write, flush and compact with a file, so that tables of its options exist; the digest."""
        to_last_level = deepened(parse_options(exported))
        steps = [_DIGEST, _OVERWRITE, _DIGEST, _FLUSH, *to_last_level, _DIGEST, _ERRORS]
        events = self._open(store, exported, steps)
        found, written, compacted = (e["result"] for e in events if e["event"] == "digest")
        if found != self._digest:
            raise StepFailedError("keys", changed_records(self._digest, found))
        if compacted != written:
            raise StepFailedError("keys", changed_records(written, compacted))
        check_errors(events)
        return compacted

    def _open(self, store: Path, text: str, steps: list[Any], **more: bool) -> list[Event]:
        return self._opener.open(f"open{next(self._numbers)}", store, text, steps, **more)

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        folder = create_workdir(self._opener.folder, f"try{next(self._numbers)}")
        link_database(self._store, folder / "db")
        yield folder / "db"
        remove_workdir(folder)

    def _result(self, failed: Failure | None = None, causes: Collection[str] = ()) -> Rehearsal:
        names = family_names(parse_options(self._files.exported).sections)
        file, failure = failed or (None, None)
        replaced = folders_inside(self._files.exported, self._store)[1]
        return Rehearsal(
            version=self._version,
            reader="store" if self._opener.reads_files else "lsmtune",
            new_store=self._files.new_store,
            families=tuple(names),
            records=sum(number for number, _ in (self._digest or {}).values()),
            replaced=replaced,
            seconds=time.monotonic() - self._started,
            failed=file,
            step=failure and failure.step,
            message=failure and str(failure),
            options=tuple(causes),
            remarks=remarks_of(self._opener, replaced),
        )


def causes_of(files: Deployed, fails: Callable[[str], bool]) -> tuple[str, ...]:
    """Return changed options that cause a failure: with only these the file fails, too.

    The changes are taken back one by one. A change without which the file still fails is no cause.
    `fails` tries the text of a file.
    """
    causes = list(files.changed)
    for name in files.changed:
        fewer = [cause for cause in causes if cause != name]
        if fewer and fails(files.only(fewer)):
            causes = fewer
    return tuple(causes)


def remarks_of(opener: Opener, replaced: Collection[str]) -> tuple[str, ...]:
    """Return what a rehearsal does not show, because RocksDB did not get the file as it is."""
    lists = [LISTS_LEFT_OUT] if any(key.endswith("_paths") for key in replaced) else []
    return (*([] if opener.reads_files else [_TEXT_ONLY]), *lists)


def deepened(
    file: OptionsFile, families: Mapping[str, str] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the steps that move the data of each family into its last level.

    `families` are the families to use, each with the one of the file that has the same options.
    Other styles than leveled compaction choose the level themselves.
    """
    for family, like in (families or {n: n for n in family_names(file.sections)}).items():
        section = f'CFOptions "{like}"'
        leveled = file.get(section, "compaction_style") in (None, _LEVELED)
        levels = int(file.get(section, "num_levels") or _USUAL_LEVELS)
        yield {**_COMPACT, "family": family, **({"level": levels - 1} if leveled else {})}


def check_digest(events: list[Event], before: Any) -> None:
    """StepFailedError if the records differ from the digest `before`."""
    found = next(event["result"] for event in events if event["event"] == "digest")
    if found != before:
        raise StepFailedError("keys", changed_records(before, found))


def check_errors(events: list[Event]) -> None:
    """StepFailedError if flushes or compactions failed."""
    if number := result_of(events, "errors"):
        raise StepFailedError("compact", f"{number} flushes or compactions failed")


def changed_records(before: Any, found: Any) -> str:
    """Return how the records of the first family that differs have changed."""
    name = next(name for name in before if found.get(name) != before[name])
    old, new = before[name][0], found.get(name, [0])[0]
    if old == new:
        return f"family {name}: some of {old} records have other values"
    return f"family {name}: {old} records before, {new} records after"
