"""TiKV: a server of the user's own, loaded by go-ycsb; its options go by HTTP or by its file."""

import shutil
import time
from functools import cached_property
from pathlib import Path

from lsmtune.engines.base import (
    Deployed,
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
    attempted,
)
from lsmtune.engines.libraries.steps import StepFailedError
from lsmtune.engines.rehearsing import Failure, failed_fields, rehearsed
from lsmtune.engines.tikv.entry import TIKV
from lsmtune.engines.tikv.measure import version
from lsmtune.engines.tikv.node import Node
from lsmtune.engines.tikv.options import of_store, read_settings
from lsmtune.engines.tikv.settings import Cluster
from lsmtune.engines.tikv.trial import Trial
from lsmtune.errors import LsmtuneError, ParseError, UserError
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.tikv_toml import parse_file
from lsmtune.knobs.types import Settings
from lsmtune.rehearsal import Rehearsal
from lsmtune.system.launch import from_here
from lsmtune.trials import Base, Status, TrialSpec

__all__ = ["TiKV"]

_RAN = "TiKV ran with the new value of each changed option, and lsmtune read the values back"
_BACK = "then TiKV ran with the values of the baseline again, which lsmtune read back, too"
_NOT_SHOWN = "not shown: that a TiKV starts with these files, and what it does to its data"


class TiKV:
    """The engine contract on one TiKV of the user's; `program` is go-ycsb, a path or a name."""

    name = "tikv"
    times_matter = True

    def __init__(self, program: str, cluster: Cluster) -> None:
        self._program = from_here(program)
        self._cluster = cluster
        self._node = Node(cluster, self.catalogue)

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of TiKV, of all its column families."""
        return TIKV.catalogue()

    def describe(self, workdir: Path) -> EngineFacts:
        """The TiKV that answers; UserError when it, or what it needs, cannot be used."""
        for key, program in (
            ("program", self._program),
            ("tikv.restart", next(iter(self._cluster.restart), "")),
            ("tikv.prepare", next(iter(self._cluster.prepare), "")),
        ):
            if program and shutil.which(program) is None:
                raise UserError(f"{key}: the program {program} does not exist or is not executable")
        with self._node.held():
            try:
                counted = self._node.status.metrics()
            except (TrialFailedError, ParseError) as failure:
                raise UserError(f"tikv.status: {failure}") from failure
        return EngineFacts(
            version(counted), self._program, assertions_enabled=False, options="", codecs=None
        )

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """What TiKV runs with, and what its file says of the store, or the user's other file."""
        with self._node.held():
            settings, store = self._node.settings(), self._node.own_store()
            most = self._node.largest_values()
        notes = [
            "lsmtune was tried on one TiKV 9.0.0-beta, not on other versions or on a cluster of "
            "several nodes",
            "lsmtune tunes only the TiKV node at [tikv] status; other nodes stay unchanged",
        ]
        if self._cluster.api == "raw":
            notes.append(
                'with api = "raw", all records are in the column family defaultcf, so the knobs of '
                "writecf have no effect"
            )
        if own is not None:
            given = of_store(own.options, "base")
            notes += self._not_as_given(settings, given)
            settings |= self._given(settings, given, store)
            store = given
        return Base(
            options=store or "", settings=settings, most=most, given=store, notes=tuple(notes)
        )

    def _given(self, running: Settings, given: str, store: str | None) -> Settings:
        """What the user's own base says otherwise than what runs, where it can be started with it.

        What the file of TiKV says and the base does not is as TiKV has it by itself.
        """
        if store is None:
            return {}
        names = parse_file(store, "tikv.config").keys() - (told := parse_file(given, "base")).keys()
        defaults = {k.name: k.default for k in self.catalogue.knobs if k.name in names}
        told_settings = read_settings(self.catalogue, told)
        return {n: v for n, v in (defaults | told_settings).items() if n in running}

    def _not_as_given(self, running: Settings, given: str) -> list[str]:
        """What the base says and TiKV does not run, where it cannot be started with it."""
        if self._cluster.restart:
            return []
        told = read_settings(self.catalogue, parse_file(given, "base"))
        return [
            f"{name}: your base file has {value}, but TiKV runs with {running[name]}. The baseline "
            "keeps the value of TiKV, because the table [tikv] does not contain the key restart"
            for name, value in told.items()
            if name in running and running[name] != value
        ]

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Bring options into force, load, settle, probe; UserError where they cannot be brought.

        LsmtuneError where TiKV has gone for good: no trial can be judged by that.
        """
        self._node.hold()
        trial = Trial(self._program, self._cluster, self._node, self.catalogue, spec, base, places)
        result = attempted(lambda: trial.measure(watch))
        if result.status is not Status.COMPLETE and self._node.is_lost():
            raise LsmtuneError(
                f"TiKV at {self._cluster.status} stopped, and lsmtune cannot start TiKV "
                "without the "
                "key restart in the table [tikv]. Start TiKV, then run the same command again"
            )
        return Outcome(result, trial.evidence())

    def rehearse(
        self, spec: TrialSpec, base: Base, files: Deployed, places: Places, watch: Watch
    ) -> Rehearsal:
        """Bring the values of both files into force and read them back; no store is opened."""
        self._node.hold()
        watch.phase("open")
        return rehearse(self._node, self.catalogue, spec, base, files)

    def give_back(self) -> None:
        """Leave TiKV with the options that it was found with."""
        self._node.give_back()


def rehearse(
    node: Node, catalogue: Catalogue, spec: TrialSpec, base: Base, files: Deployed
) -> Rehearsal:
    """Bring the values of both files into force, one after the other, and read them back.

    TiKV keeps its data, and lsmtune has no copy of them. So no store is opened with the files.
    """
    started = time.monotonic()

    def take(text: str) -> None:
        given = read_settings(catalogue, parse_file(text, "exported file"))
        changed = {name: given[name] for name in files.changed if name in given}
        try:
            node.take(base, spec.base_settings | changed)
        except TrialFailedError as failure:
            if node.is_lost():
                raise
            raise StepFailedError("options", str(failure)) from failure

    def tried(exported: str) -> Failure | None:
        try:
            take(exported)
        except StepFailedError as failure:
            return "exported", failure
        try:
            take(files.undo)
        except StepFailedError as failure:
            return "undo", failure
        return None

    failed, causes = rehearsed(files, lambda: take(files.undo), tried)
    return Rehearsal(
        version=version(node.status.metrics()),
        reader="lsmtune",
        opened=False,
        seconds=time.monotonic() - started,
        remarks=(f"{_RAN}; {_BACK}", _NOT_SHOWN) if failed is None else (_NOT_SHOWN,),
        **failed_fields(failed, causes),
    )
