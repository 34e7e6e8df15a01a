"""A store of the baseline, opened with the exported file and then with the undo file.

The store is the one that a run of the baseline leaves. The undo file opens it first, makes its
other families, writes some records and moves the data into the last level, where a store that is in
use for long has most of it. Each try gets a copy of this store.
"""

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Deployed
from lsmtune.engines.libraries.steps import Event, StepFailedError, result_of
from lsmtune.engines.rehearsing import Failure, failed_fields, rehearsed
from lsmtune.engines.rocksdb.bench import StoreOpener
from lsmtune.engines.rocksdb.opener import folders_inside
from lsmtune.engines.templates import link_database
from lsmtune.metrics.options_file import OptionsFile, family_names, parse_options
from lsmtune.rehearsal import Rehearsal
from lsmtune.system.store_steps import DIGESTS
from lsmtune.system.workdir import create_workdir, remove_workdir

_LEVELED, _USUAL_LEVELS = "kCompactionStyleLevel", 7
_BYTEWISE = "leveldb.BytewiseComparator"
_NEW = {"do": "put", "keys": 2000, "size": 200, "prefix": "lsmtune"}
_AFTER = {"do": "put", "keys": 100, "size": 200, "prefix": "lsmtune-undo"}
_OVERWRITE = {"do": "overwrite", "every": 7, "most": 2000}
_FLUSH, _COMPACT, _ERRORS = ({"do": name} for name in ("flush", "compact", "errors"))
_DIGEST = {"do": "digest", "gets": 50}


class Rehearsing:
    """The tries of one rehearsal, on copies of one store."""

    def __init__(self, opener: StoreOpener, files: Deployed, store: Path, version: str) -> None:
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
        return self._result(*rehearsed(self._files, self._prepare, self._tried))

    def on_new(self) -> Rehearsal:
        """Return whether the exported file makes a new store and opens it again."""
        steps = [_NEW, _FLUSH, _COMPACT, _DIGEST, _ERRORS]
        try:
            made = self._open(self._store, self._files.exported, steps, create=True)
            _check_errors(made)
            again = self._open(self._store, self._files.exported, [_DIGEST])
            _check(again, result_of(made, "digest"))
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
            *_deepened(file),
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
                _check(back, written)
                _check_errors(back)
            except StepFailedError as failure:
                return "undo", failure
        return None

    def _use(self, store: Path, exported: str) -> Any:
        """Write, flush and compact with a file, so that tables of its options exist; the digest."""
        compacted = _deepened(parse_options(exported), dynamic_only=True)
        steps = [_OVERWRITE, _FLUSH, *compacted, _DIGEST, _ERRORS]
        events = self._open(store, exported, steps)
        written, after = result_of(events, "overwrite"), result_of(events, "digest")
        # Keys that were missing or wrong when the file opened the store are so now, too.
        for name, (_, total) in self._digest.items():
            if after[name][1] != (total + written[name]) % DIGESTS:
                raise StepFailedError("keys", _changed(self._digest, after, name))
        _check_errors(events)
        return after

    def _open(self, store: Path, text: str, steps: list[Any], **more: bool) -> list[Event]:
        return self._opener.open(f"open{next(self._numbers)}", store, text, steps, **more)

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        folder = create_workdir(self._store.parent, f"try{next(self._numbers)}")
        link_database(self._store, folder / "db")
        yield folder / "db"
        remove_workdir(folder)

    def _result(self, failed: Failure | None = None, causes: Collection[str] = ()) -> Rehearsal:
        names = family_names(parse_options(self._files.exported).sections)
        replaced = folders_inside(self._files.exported, self._store)[1]
        return Rehearsal(
            version=self._version,
            reader="store" if self._opener.reads_files else "lsmtune",
            new_store=self._files.new_store,
            families=tuple(names),
            records=sum(number for number, _ in (self._digest or {}).values()),
            replaced=replaced,
            seconds=time.monotonic() - self._started,
            remarks=self._opener.remarks(replaced),
            **failed_fields(failed, causes),
        )


def orders_by_bytes(options: str) -> bool:
    """Return whether all families of an OPTIONS file order their keys by bytes."""
    sections = parse_options(options).sections.values()
    return {options.get("comparator", _BYTEWISE) for options in sections} <= {_BYTEWISE, "nullptr"}


def _deepened(file: OptionsFile, *, dynamic_only: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the steps that compact each family, and move the data into its last level.

    Other styles than leveled compaction choose the level themselves. With static levels, RocksDB
    leaves data in the last level that has some, so `dynamic_only` moves no such family.
    """
    for family in family_names(file.sections):
        section = f'CFOptions "{family}"'
        leveled = file.get(section, "compaction_style") in (None, _LEVELED)
        if dynamic_only:
            leveled &= file.get(section, "level_compaction_dynamic_level_bytes") == "true"
        levels = max(2, int(file.get(section, "num_levels") or _USUAL_LEVELS))
        yield {**_COMPACT, "family": family, **({"level": levels - 1} if leveled else {})}


def _check(events: list[Event], before: Any) -> None:
    found = next(event["result"] for event in events if event["event"] == "digest")
    if found != before:
        raise StepFailedError("keys", _changed(before, found))


def _check_errors(events: list[Event]) -> None:
    if number := result_of(events, "errors"):
        raise StepFailedError("compact", f"{number} flushes or compactions failed")


def _changed(before: Any, found: Any, family: str | None = None) -> str:
    """Return how the records of a family have changed, by default of the first that differs."""
    name = family or next(name for name in before if found.get(name) != before[name])
    old, new = before[name][0], found.get(name, [0])[0]
    if old == new:
        return f"family {name}: some of {old} records have other values"
    return f"family {name}: {old} records before, {new} records after"
