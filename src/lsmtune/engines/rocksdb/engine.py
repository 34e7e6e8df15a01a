"""The engine rocksdb: db_bench or lsmtune's driver runs the workload."""

import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path

from lsmtune.engines.attempt import attempted
from lsmtune.engines.base import (
    Deployed,
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
)
from lsmtune.engines.rocksdb.bench import Bench
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
from lsmtune.engines.rocksdb.rehearsal import Rehearsing, orders_by_bytes
from lsmtune.engines.rocksdb.trial import Trial
from lsmtune.engines.rocksdb.user_store import rehearse_store
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.catalogue import Catalogue, rocksdb_catalogue
from lsmtune.knobs.option_text import Place
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import OptionsFile, replace_options, version_of_options
from lsmtune.rehearsal import Rehearsal, StorePlan, StoreRehearsal
from lsmtune.trials import Base, TrialSpec

__all__ = ["RocksDB"]


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
