"""A store of the user, of which a copy is opened with the exported file and the undo file.

lsmtune reads the store and never opens a file of it for writing. Tables are hard links in the copy,
so the copy of a large store takes no time. Automatic compactions are off, because they would
rewrite the store.
"""

import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Deployed
from lsmtune.engines.libraries.steps import (
    Event,
    StepFailedError,
    StepTimeoutError,
    carry_out,
    result_of,
    run_program,
)
from lsmtune.engines.rehearsing import Failure, causes, failed_fields
from lsmtune.engines.rocksdb.opener import Opener, folders_inside
from lsmtune.engines.templates import link_database
from lsmtune.errors import LsmtuneError, ParseError, UserError
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.options_file import (
    OptionsFile,
    family_names,
    family_sections,
    parse_options,
    with_family_like,
)
from lsmtune.rehearsal import StorePlan, StoreRehearsal
from lsmtune.system import store_copy
from lsmtune.system.cancelling import ProcessTimeout
from lsmtune.system.host import free_bytes
from lsmtune.system.workdir import create_workdir, remove_workdir, sweep_workdirs, workdir
from lsmtune.units import MIB, format_bytes

_PREFIX = "lsmtune-rehearsal-"
"""Start of the names of folders of copies, and of new families in copies."""
_LIMIT_S = 600.0
_COPIED_PER_S = 20 * MIB
_TABLES_PER_S = 20
_SPARE_BYTES = 64 * MIB
"""Space for the tables that a rehearsal writes."""
_COPIES = 2
"""Copies of files that are not tables: one of the store, and one that is opened."""
_MOST_RECORDS = 100_000
_COMPARATORS = {"leveldb.BytewiseComparator", "rocksdb.ReverseBytewiseComparator"}
_TIMESTAMPS = ".u64ts"
_MERGE_OPERATORS = {
    "StringAppendOperator", "StringAppendTESTOperator", "stringappend", "stringappendtest",
    "PutOperator", "put", "put_v1", "UInt64AddOperator", "uint64add", "MaxOperator", "max",
    "BytesXOROperator", "BytesXOR", "bytesxor", "MergeSortOperator", "SortList", "sortlist",
    "AggMergeOperator.v1", "aggmerge",
}  # fmt: skip
"""Names of merge operators that RocksDB itself has (utilities/merge_operators.cc)."""
_NO_CLASS = {"", "nullptr", "{}", "(nil)"}
_TABLE = re.compile(r"\b\d{6,}\.(?:sst|blob)\b")
_NO_SPACE = "No space left on device"
_NEW = {"do": "put", "keys": 2000, "size": 200}
_AFTER = {"do": "put", "keys": 100, "size": 200, "prefix": "undo"}
_FLUSH, _COMPACT, _DIGEST, _ERRORS, _DROP = (
    {"do": name} for name in ("flush", "compact", "digest", "errors", "drop")
)
_BOTH = (
    "the undo file does not open a copy of the store either, so the changed options are not the "
    "only cause"
)
_NO_CAUSES = "the time limit ended the search for the options that cause the failure"


class UserStore:
    """A closed store of the user; the constructor raises UserError if lsmtune cannot copy it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self._check_folder()
            self.place = folder.parent if _is_same_mount(folder) else folder
            self.newest = _newest_options(folder)
            self._check_classes()
            self.plan = self._planned()
        except OSError as error:
            raise UserError(
                f"{error.filename}: cannot read: {error.strerror}; run lsmtune as the user of the "
                "store"
            ) from error
        self._check_space()

    @property
    def version(self) -> str | None:
        """The RocksDB that wrote the newest OPTIONS file."""
        return None if self.newest is None else self.newest.rocksdb_version

    @cached_property
    def logs(self) -> Path | None:
        """The folder of the write-ahead logs, if it is another one than the store's."""
        named = None if self.newest is None else self.newest.get(DATABASE_SECTION, "wal_dir")
        if not named or not Path(named).is_absolute() or not Path(named).is_dir():
            return None
        return None if Path(named).samefile(self.folder) else Path(named)

    def _check_folder(self) -> None:
        folder = self.folder
        if folder.is_symlink():
            raise UserError(
                f"{folder}: this folder is a link; name the folder itself: {folder.resolve()}"
            )
        if not folder.is_dir():
            raise UserError(f"{folder}: there is no such folder; name the folder of a store")
        if not (folder / "CURRENT").is_file():
            raise UserError(
                f"{folder}: there is no store in this folder, because it has no file CURRENT; name "
                "the folder of a store of RocksDB"
            )

    def _check_classes(self) -> None:
        """Raise UserError if keys or merges of a family need a class of the application."""
        sections = {} if self.newest is None else self.newest.sections
        for family in family_names(sections):
            options = sections.get(family_sections(family)[0], {})
            for key, known in (("comparator", _COMPARATORS), ("merge_operator", _MERGE_OPERATORS)):
                name = _class_name(options.get(key, ""))
                if name not in known | _NO_CLASS:
                    why = "is a part of your application, so RocksDB alone cannot use the store"
                    if name.endswith(_TIMESTAMPS):
                        why = "needs keys with timestamps, which lsmtune cannot write"
                    raise UserError(
                        f"{self.folder}: column family {family} has the {key.replace('_', ' ')} "
                        f"{name}, which {why}; lsmtune rehearses only stores with RocksDB's usual "
                        "comparators and merge operators"
                    )

    def _planned(self) -> StorePlan:
        copied, files, linked = 0, 0, 0
        for path in (*self.folder.iterdir(), *self._other_files()):
            if path.is_symlink():
                raise UserError(
                    f"{path}: this file of the store is a link; lsmtune rehearses only stores "
                    "whose files are in one folder"
                )
            size = path.stat().st_size if path.is_file() else 0
            if path.suffix in store_copy.LINKED:
                files, linked = files + 1, linked + size
            elif not path.name.startswith(store_copy.LEFT):
                copied += size
        limit_s = _LIMIT_S + copied / _COPIED_PER_S + files / _TABLES_PER_S
        return StorePlan(
            copied_bytes=copied, linked_files=files, linked_bytes=linked,
            limit_s=round(limit_s, -1), place=str(self.place),
        )  # fmt: skip

    def _other_files(self) -> Iterator[Path]:
        if self.logs is not None:
            yield from self.logs.glob("*.log")
        if (blobs := self.folder / store_copy.BLOBS).is_dir():
            yield from blobs.iterdir()

    def _check_space(self) -> None:
        needed, free = _COPIES * self.plan.copied_bytes + _SPARE_BYTES, free_bytes(self.place)
        if free < needed:
            raise UserError(
                f"{self.folder}: the copy needs {format_bytes(needed)}, but the disk has "
                f"{format_bytes(free)} free; free some space"
            )

    def copy(self, into: Path, work: Path, limit_s: float) -> None:
        """Copy the store in another process; UserError if it is in use or cannot be copied."""
        logs = None if self.logs is None else str(self.logs)
        plan = {"source": str(self.folder), "target": str(into), "logs": logs}
        events: list[Event] = []
        try:
            run_program(store_copy.__file__, plan, work, "copy", limit_s=limit_s, events=events)
        except ProcessTimeout as timeout:
            raise LsmtuneError(f"{self.folder}: the copy does not end: {timeout}") from timeout
        found = events[-1] if events else {"event": "failed", "kind": "", "path": self.folder}
        if found["event"] == "failed":
            raise UserError(self._not_copied(found))

    def _not_copied(self, found: Event) -> str:
        path, message = found["path"], found.get("message", "the process that copies has ended")
        return {
            "in use": f"{self.folder}: {message} uses this store; close the store, or name a copy "
            "or a checkpoint of it",
            "link": f"{path}: this file of the store is a link; lsmtune rehearses only stores "
            "whose files are in one folder",
            "no links": f"{path}: the system allows no hard link to this file ({message}); run "
            "lsmtune as the owner of the store, on a file system with hard links",
            "damaged": f"{path}: the store is damaged: {message}",
        }.get(found["kind"], f"{path}: cannot copy the store: {message}")


class StoreRehearsing:
    """The tries of one rehearsal with a store of the user."""

    def __init__(self, library: Path, files: Deployed, store: UserStore) -> None:
        self._library = library
        self._files = files
        self._store = store
        self._started = time.monotonic()
        self._numbers = count()
        self._version = ""
        self._edges: dict[str, Any] = {}
        self._records = 0
        self._tuned = _tuned_families(files)
        self._new = {family: f"{_PREFIX}{family}" for family in self._tuned}

    def run(self) -> StoreRehearsal:
        """Return what copies of the store did with both files; UserError if it cannot be used."""
        sweep_workdirs(self._store.place, f"{_PREFIX}*")
        with workdir(self._store.place, f"{_PREFIX}{secrets.token_hex(4)}") as self._work:
            self._opener = Opener(
                self._library, self._work, self._store.plan.limit_s, with_classes=True
            )
            self._version = self._library_version()
            self._store.copy(self._pristine, self._work, self._left_s)
            self._check_families()
            if (failed := self._tried(self._files.exported)) is None:
                return self._result()
            return self._result(failed, *self._why(failed))

    @property
    def _pristine(self) -> Path:
        """The copy that is never opened."""
        return self._work / "store"

    @property
    def _left_s(self) -> float:
        return max(1.0, self._started + self._store.plan.limit_s - time.monotonic())

    def _check_families(self) -> None:
        """Raise UserError if the exported file has other families than the store."""
        plan = {"library": str(self._library), "folder": str(self._pristine), "list": True}
        try:
            events = carry_out(plan, self._work, "families", self._left_s)
        except StepFailedError as failure:
            raise self._unusable(failure) from failure
        present = next(event["names"] for event in events if event["event"] == "families")
        named = family_names(parse_options(self._files.exported).sections)
        lacking = [name for name in present if name not in named]
        foreign = [name for name in named if name not in present]
        if lacking or foreign:
            parts = [f"the store also has {', '.join(lacking)}"] if lacking else []
            parts += [f"the store does not have {', '.join(foreign)}"] if foreign else []
            raise UserError(
                f"{self._store.folder}: the exported file is for a store with other column "
                f"families: {' and '.join(parts)}; start a study from the newest OPTIONS file of "
                "this store (key `base`)"
            )

    def _why(self, failed: Failure) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the options that cause a failure, and remarks; UserError if it is the store."""
        failure = failed[1]
        if (problem := self._problem_of_store(failure)) is not None:
            raise problem from failure
        if isinstance(failure, StepTimeoutError):
            return (), ()
        try:
            with self._copy() as store:
                self._open(store, self._files.undo, [])
        except StepTimeoutError:
            return (), (_NO_CAUSES,)
        except StepFailedError as other:
            if (problem := self._problem_of_store(other)) is not None:
                raise problem from other
            return (), (_BOTH,)
        try:
            return causes(self._files.changed, self._fails), ()
        except StepTimeoutError:
            return (), (_NO_CAUSES,)

    def _fails(self, names: list[str]) -> bool:
        failed = self._tried(self._files.only(names))
        if failed is not None and isinstance(failed[1], StepTimeoutError):
            raise failed[1]
        return failed is not None

    def _tried(self, exported: str) -> Failure | None:
        """Open a copy with a file, then with the undo file; return what failed, or None."""
        undo = self._files.undo
        for family, new in self._new.items():
            undo = with_family_like(undo, family, new)
        names = list(self._new.values())
        likes = {new: family for family, new in self._new.items()}
        edges = {"do": "edges", "most": _MOST_RECORDS, "without": names}
        make = {"do": "make", "families": likes}
        with self._copy() as store:
            try:
                steps = [edges, make, _NEW, _DIGEST, _FLUSH, _COMPACT, _DIGEST, _ERRORS]
                events = self._open(store, exported, steps)
                written = _checked_digest(events)
            except StepFailedError as failure:
                return "exported", failure
            try:
                only = {"do": "only", "families": names}
                steps = [edges, only, _DIGEST, _AFTER, _FLUSH, _COMPACT, _ERRORS, _DROP]
                back = self._open(store, undo, steps)
                _check_same(written, _checked_digest(back))
                _check_same(result_of(events, "edges"), result_of(back, "edges"))
            except StepFailedError as failure:
                return "undo", failure
        self._edges = result_of(back, "edges")
        self._records = sum(number for number, _ in written.values())
        return None

    def _open(self, store: Path, text: str, steps: Sequence[Any]) -> list[Event]:
        opener = replace(self._opener, limit_s=self._left_s)
        try:
            return opener.open(f"open{next(self._numbers)}", store, text, steps, quiet=True)
        except StepFailedError as failure:
            # The folder of the store instead of that of a copy.
            message = str(failure).replace(str(store), str(self._store.folder))
            raise type(failure)(failure.step, message) from failure

    def _library_version(self) -> str:
        """Return the version of the library, which the LOG of a new store contains."""
        store = self._work / "new"
        plan = {"library": str(self._library), "folder": str(store), "texts": {"default": ""},
                "create": True, "steps": []}  # fmt: skip
        try:
            carry_out(plan, self._work, "version", self._left_s)
        except StepFailedError as failure:
            raise UserError(
                f"library {self._library}: the library does not work: {failure}"
            ) from failure
        return read_log(read_lines(store / "LOG", [])).version or "of an unknown version"

    @contextmanager
    def _copy(self) -> Iterator[Path]:
        folder = create_workdir(self._work, f"try{next(self._numbers)}")
        link_database(self._pristine, folder / "db")
        yield folder / "db"
        remove_workdir(folder)

    def _unusable(self, failure: StepFailedError) -> UserError:
        return self._problem_of_store(failure) or UserError(
            f"{self._store.folder}: RocksDB cannot read this store: {failure}"
        )

    def _problem_of_store(self, failure: StepFailedError) -> UserError | None:
        """Return the error if the store, or the disk, is the cause of a failure."""
        folder, message = self._store.folder, str(failure)
        if _NO_SPACE in message:
            return UserError(
                f"{folder}: the disk became full during the rehearsal; free some space"
            )
        if "does not match existing comparator" in message:
            return UserError(
                f"{folder}: the store has another comparator than the exported file: {message}; "
                "lsmtune rehearses only stores with RocksDB's own comparators"
            )
        if (table := _TABLE.search(message)) and not (self._pristine / table[0]).exists():
            return UserError(
                f"{folder}: the store needs {table[0]}, which is not in this folder: its tables "
                "are in several folders (db_paths, cf_paths), or the file is lost; lsmtune "
                "rehearses only stores in one folder"
            )
        version = self._store.version
        if version and _numbers(version) > _numbers(self._version):
            return UserError(
                f"{folder}: RocksDB {version} wrote this store, and RocksDB {self._version} is "
                f"older and cannot open it: {message}; use RocksDB {version}"
            )
        return None

    def _result(
        self,
        failed: Failure | None = None,
        options: tuple[str, ...] = (),
        remarks: tuple[str, ...] = (),
    ) -> StoreRehearsal:
        replaced = folders_inside(self._files.exported, self._pristine)[1]
        added = [name for new in self._new.values() for name in family_sections(new)]
        return StoreRehearsal(
            version=self._version,
            reader="store" if self._opener.reads_files else "lsmtune",
            families=tuple(family_names(parse_options(self._files.exported).sections)),
            records=self._records,
            replaced=replaced,
            seconds=time.monotonic() - self._started,
            remarks=(*remarks, *self._opener.remarks(replaced)),
            folder=str(self._store.folder),
            store_version=self._store.version,
            plan=self._store.plan,
            tables=self._edges.get("tables", 0),
            read=self._edges.get("records", 0),
            written=self._new,
            added=tuple(added),
            **failed_fields(failed, options),
        )


def rehearse_store(
    library: Path, files: Deployed, folder: Path, tell: Callable[[StorePlan], None]
) -> StoreRehearsal:
    """Open copies of the store in a folder with both files, and return what happened.

    `tell` gets the plan before anything is copied. UserError if lsmtune cannot rehearse with this
    store, or if another process uses it. A file that RocksDB refuses is a result.
    """
    store = UserStore(folder)
    tell(store.plan)
    return StoreRehearsing(library, files, store).run()


def _is_same_mount(folder: Path) -> bool:
    """Return whether a hard link from the folder to the folder above it is possible."""
    return not folder.is_mount() and folder.stat().st_dev == folder.parent.stat().st_dev


def _newest_options(folder: Path) -> OptionsFile | None:
    """Return the newest OPTIONS file; None if there is none, or if it cannot be read."""
    numbered = {int(path.name.partition("-")[2]): path for path in folder.glob("OPTIONS-*[0-9]")
                if path.name.partition("-")[2].isdigit()}  # fmt: skip
    for path in [numbered[max(numbered)]] if numbered else []:
        try:
            return parse_options(path.read_text(encoding="utf-8", errors="surrogateescape"))
        except ParseError:
            return None
    return None


def _class_name(value: str) -> str:
    """Return the name of a class, which newer versions write as `{id=NAME;…}`."""
    return value.removeprefix("{").removesuffix("}").removeprefix("id=").partition(";")[0]


def _tuned_families(files: Deployed) -> tuple[str, ...]:
    """Return the families whose options the exported file changes, else the tuned family."""
    new, old = (parse_options(text).sections for text in (files.exported, files.undo))
    changed = [
        family
        for family in family_names(old)
        if any(new.get(part) != old.get(part) for part in family_sections(family))
    ]
    return tuple(changed) or (files.family,)


def _checked_digest(events: list[Event]) -> Any:
    """Return the last digest; StepFailedError if others differ, or if flushes failed."""
    digests = [event["result"] for event in events if event["event"] == "digest"]
    for found in digests:
        _check_same(digests[0], found)
    if number := result_of(events, "errors"):
        raise StepFailedError("compact", f"{number} flushes or compactions failed")
    return digests[-1]


def _check_same(before: Any, found: Any) -> None:
    """StepFailedError if a later step read other records."""
    if before != found:
        raise StepFailedError("keys", f"records differ: {before} before, {found} after")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))
