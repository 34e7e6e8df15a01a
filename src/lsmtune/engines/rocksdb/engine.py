"""The engine rocksdb: db_bench or lsmtune's driver runs the workload, and a rehearsal."""

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from lsmtune.engines.base import (
    Deployed,
    Engine,
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
    attempted,
)
from lsmtune.engines.libraries.steps import Event, StepFailedError, result_of
from lsmtune.engines.rehearsing import Failure, failed_fields, rehearsed
from lsmtune.engines.rocksdb.bench import Bench, StoreOpener
from lsmtune.engines.rocksdb.opener import folders_inside
from lsmtune.engines.rocksdb.options import (
    TABLE_OPTIONS,
    MergedOptions,
    ignored,
    merged_options,
    read_own,
    read_settings,
    silently_changed,
    with_filter_bits,
)
from lsmtune.engines.rocksdb.own_families import family_notes
from lsmtune.engines.rocksdb.trial import Trial
from lsmtune.engines.rocksdb.user_store import rehearse_store
from lsmtune.engines.templates import link_database
from lsmtune.errors import ParseError, UserError
from lsmtune.experiment import with_versions
from lsmtune.knobs.catalogue import Catalogue, rocksdb_catalogue
from lsmtune.knobs.option_text import Place
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import (
    OptionsFile,
    family_names,
    parse_options,
    replace_options,
    version_of_options,
)
from lsmtune.rehearsal import Rehearsal, StorePlan, StoreRehearsal
from lsmtune.study_keys import VERSION
from lsmtune.system.store_steps import DIGESTS
from lsmtune.system.workdir import create_workdir, remove_workdir
from lsmtune.trials import Base, TrialSpec

__all__ = ["RocksDB"]

_LEVELED, _USUAL_LEVELS = "kCompactionStyleLevel", 7
_BYTEWISE = "leveldb.BytewiseComparator"
_NEW = {"do": "put", "keys": 2000, "size": 200, "prefix": "lsmtune"}
_AFTER = {"do": "put", "keys": 100, "size": 200, "prefix": "lsmtune-undo"}
_OVERWRITE = {"do": "overwrite", "every": 7, "most": 2000}
_FLUSH, _COMPACT, _ERRORS = ({"do": name} for name in ("flush", "compact", "errors"))
_DIGEST = {"do": "digest", "gets": 50}


class RocksDB:
    """The engine contract on a program that runs workloads on RocksDB."""

    name = "rocksdb"
    times_matter = True

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of RocksDB."""
        return rocksdb_catalogue()

    def describe(self, workdir: Path) -> EngineFacts:
        """Return version, build and default options; UserError if RocksDB cannot be used."""
        return self._bench.describe(workdir)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the defaults, or the user's options as this RocksDB runs them."""
        if own is None:
            settings = self._settings(facts.options, facts)
            notes = self._bench.notes(settings)
            return Base(options=facts.options, settings=settings, codecs=facts.codecs, notes=notes)
        given, notes = read_own(own, facts.version)
        try:
            merged, as_run = self._merged(facts.options, given, own.family, workdir)
        except ParseError as error:
            raise UserError("base: ", error.message) from error
        settings = self._settings(as_run, facts)
        return Base(
            options=as_run,
            settings=settings,
            codecs=facts.codecs,
            given=own.options,
            notes=(*notes, *family_notes(given, own.family), *self._bench.notes(settings)),
            left_out=(
                *merged.left_out,
                *ignored(merged, as_run),
                *silently_changed(merged.text, as_run),
            ),
        )

    def trial(self, spec: TrialSpec, base: Base, places: Places) -> Trial:
        """Return the trial; only lsmtune's driver can run one of a running store."""
        if spec.running is not None:
            raise RuntimeError("this engine has no trials of a running store")
        return Trial(self._bench, self.catalogue, spec, base, places)

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Run the trial. The evidence is the files that the program and RocksDB wrote."""
        trial = self.trial(spec, base, places)
        result = attempted(lambda: trial.measure(watch))
        return Outcome(result, trial.evidence())

    def rehearse(
        self, spec: TrialSpec, base: Base, files: Deployed, places: Places, watch: Watch
    ) -> Rehearsal:
        """Run the baseline, then open copies of its store with both files."""
        store = places.workdir / "db"
        # No trial has the comparator of an application, so the undo file makes the store then.
        if not files.new_store and orders_by_bytes(files.undo):
            self.trial(spec, base, places).leave_store(watch)
        watch.phase("open")
        limit_s = spec.protocol.wall_limit_s
        opener = self._bench.opener(places.workdir, limit_s, spec.workload)
        version = version_of_options(base.options) or ""
        rehearsing = Rehearsing(opener, files, store, version)
        return rehearsing.on_new() if files.new_store else rehearsing.on_existing()

    def rehearse_store(
        self, files: Deployed, folder: Path, tell: Callable[[StorePlan], None]
    ) -> StoreRehearsal:
        """Open a copy of a user's store with both files."""
        return rehearse_store(self._bench.library, files, folder, tell)

    def _settings(self, options: str, facts: EngineFacts) -> Settings:
        """Return the value of each knob that can be set."""
        catalogue = self.catalogue.of_version(facts.version)
        found = read_settings(catalogue, options) | facts.unprinted
        return {n: value for n, value in found.items() if n not in self._bench.cannot_set}

    def _merged(
        self, own: str, given: OptionsFile, family: str, workdir: Path
    ) -> tuple[MergedOptions, str]:
        """Return the options of the user's family, and the same options as RocksDB writes them.

        RocksDB names only the first option that it does not have, so each run removes one of them.
        """
        unknown: set[Place] = set()
        while True:
            merged = merged_options(own, given, family, unknown)
            try:
                as_run = self._bench.as_run(merged.text, workdir)
                return merged, with_filter_bits(as_run, merged.text)
            except TrialFailedError as failure:
                refused = {place for place in merged.unprinted if _names(failure, place[1])}
                if not refused and _names(failure, TABLE_OPTIONS):
                    refused = self._refused_of_tables(own, merged, workdir)
                if not refused:
                    reason = f"base: RocksDB does not run with the options of this file: {failure}"
                    raise UserError(reason) from failure
                unknown |= refused

    def _refused_of_tables(self, own: str, merged: MergedOptions, workdir: Path) -> set[Place]:
        """Return the options of tables that RocksDB does not have.

        RocksDB gets all options of tables as one text, and does not name the wrong option.
        """
        refused = set()
        for place, text in merged.unprinted.items():
            if place[0].startswith("TableOptions"):
                try:
                    self._bench.as_run(replace_options(own, {place: text}), workdir)
                except TrialFailedError:
                    refused.add(place)
        return refused


def _names(failure: TrialFailedError, key: str) -> bool:
    return re.search(rf"option\b.*\b{key}\b", str(failure)) is not None


class Versions:
    """The engine contract on engines by version; the first one runs the baseline.

    The settings of a trial are those of its version.
    """

    name = "rocksdb"
    times_matter = True

    def __init__(self, engines: Mapping[str, Engine]) -> None:
        self._engines = engines
        self._first = next(iter(engines))

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of RocksDB, and the version as a knob."""
        return with_versions(self._engines[self._first].catalogue, tuple(self._engines))

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the facts of the first version, with those of all versions."""
        found = {
            version: engine.describe(_version_folder(workdir, version))
            for version, engine in self._engines.items()
        }
        return replace(found[self._first], versions=found)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the baseline of the first version, with those of all versions."""
        found: dict[str, Base] = {}
        for version, engine in self._engines.items():
            base = engine.base(facts.versions[version], own, _version_folder(workdir, version))
            settings = {**base.settings, VERSION: version}
            found[version] = base.model_copy(update={"settings": settings})
        return found[self._first].model_copy(update={"versions": found})

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Run the trial with the version in its settings, and with the baseline of this version."""
        version = str(spec.settings[VERSION])
        settings = {name: value for name, value in spec.settings.items() if name != VERSION}
        trial = spec.model_copy(update={"settings": settings})
        return self._engines[version].run(trial, base.versions[version], places, watch)


def _version_folder(workdir: Path, version: str) -> Path:
    folder = workdir / f"rocksdb-{version}"
    folder.mkdir(exist_ok=True)
    return folder


class Rehearsing:
    """The tries of one rehearsal, on copies of one store, which a run of the baseline leaves.

    The undo file opens it first, makes its other families, writes some records and moves the data
    into the last level, where a store that is in use for long has most of it.
    """

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
