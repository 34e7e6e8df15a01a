"""Rehearse the exported file of a study, and the undo file, with a copy of a user's store."""

import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from lsmtune.analysis.read_study import check_searches
from lsmtune.api.consent import Consent, ask_for_home, nobody_to_ask
from lsmtune.api.export import deployed
from lsmtune.api.study_result import Result, read_result
from lsmtune.engines.base import Deployed, RehearsesStores
from lsmtune.engines.libraries.installed import (
    check_version,
    engine_of_version,
    engines_folder,
    how_to_install,
    installed_engines,
)
from lsmtune.engines.registry import engine_of, entry_of
from lsmtune.errors import Argument, UserError
from lsmtune.progress import Observer
from lsmtune.rehearsal import StoreRehearsal
from lsmtune.report.text.rehearsal_text import plan_sentence, store_rehearsal_lines
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study_keys import VERSION


@dataclass(frozen=True, slots=True)
class StoreRehearsed:
    """The result of a rehearsal: study, number of the trial, and what the copy did."""

    study: str
    trial: int | None
    found: StoreRehearsal

    @property
    def passed(self) -> bool:
        """Whether both files opened the copy of the store."""
        return self.found.passed

    def document(self) -> dict[str, Any]:
        """Return the result as `lsmtune rehearse --json` prints it."""
        found = self.found.model_dump(mode="json", exclude={"opened", "new_store", "needs"})
        return {"study": self.study, "trial": self.trial, "passed": self.passed, **found}

    def lines(self) -> list[str]:
        """Return the result as `lsmtune rehearse` prints it."""
        return store_rehearsal_lines(self.study, self.trial, self.found)


def rehearse(
    study: str,
    folder: Path,
    home: Path,
    observer: Observer | None = None,
    *,
    trial: int | None = None,
    rocksdb: str | None = None,
    library: str | None = None,
    consent: Consent = nobody_to_ask,
) -> StoreRehearsed:
    """Open a copy of the store in `folder` with both files of the study.

    UserError if the study has no file to deploy, or if the store is in use or cannot be copied.
    """
    observer = observer or Observer()
    with Home(home, create=False) as opened:
        result = read_result(opened, study, trial)
        spec = result.record.spec
        check_searches(spec)
        files = _files(result)
        used = _with_system(spec, rocksdb, library)
        if used is spec:
            ask_for_home(opened.path, spec.model_dump(), consent)
    engine = engine_of(used)
    if not isinstance(engine, RehearsesStores):
        raise UserError(
            f"study {study!r}: engine {spec.engine}: lsmtune rehearses only stores of RocksDB"
        )
    place = Path(os.path.abspath(folder))  # noqa: PTH100 - resolve() would follow a link
    with observer.working("rehearsal: opens copies of the store"):
        found = engine.rehearse_store(
            files, place, lambda plan: observer.remark(plan_sentence(plan))
        )
    remarks = (*found.remarks, *_other_version(result, found))
    number = result.claim.trial
    return StoreRehearsed(study, number, found.model_copy(update={"remarks": remarks}))


def _files(result: Result) -> Deployed:
    """Return the files of the study; UserError if there is nothing to export."""
    if result.record.spec.new_store:
        raise UserError(
            f"study {result.study!r}: its file is for a new store (new_store = true), so a store "
            "that exists cannot use it"
        )
    result.exported(None, None, back=False)
    return deployed(result.record, result.claim)


def _with_system(spec: StudySettings, rocksdb: str | None, library: str | None) -> StudySettings:
    """Return the settings with another RocksDB, if the user names one."""
    if rocksdb is None and library is None:
        return spec
    if rocksdb is not None and library is not None:
        raise UserError(
            Argument(VERSION), ": not allowed with ", Argument("library"), "; name one RocksDB"
        )
    if not entry_of(spec.engine).has_versions:
        given = Argument("library") if rocksdb is None else Argument(VERSION)
        raise UserError(given, f": not allowed for a study of engine {spec.engine}; remove it")
    if rocksdb is not None:
        check_version(rocksdb)
    return spec.model_copy(update={VERSION: rocksdb, "library": library})


def _other_version(result: Result, found: StoreRehearsal) -> tuple[str, ...]:
    """Return a remark if another RocksDB wrote the store than the one of the rehearsal."""
    version = found.store_version
    if version is None or version == found.version:
        return ()
    command = (
        f"lsmtune rehearse {quote(result.study)} {quote(found.folder)} --rocksdb {version}"
        f"{'' if result.trial is None else f' --trial {result.trial}'}{result.view.home_flag}"
    )
    text = (
        f"RocksDB {version} wrote this store, and RocksDB {found.version} rehearsed; not shown: "
        f"that RocksDB {version} opens it with these files; `{command}` shows it"
    )
    if engine_of_version(installed_engines(engines_folder()), version) is None:
        text += f", after {how_to_install(version).replace(' installs it', '')}"
    return (text,)
