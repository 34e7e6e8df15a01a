"""Trials of the engine simulated: predictions of the simulator."""

from functools import cached_property
from pathlib import Path

from lsmtune.engines.base import (
    EngineFacts,
    Outcome,
    OwnBase,
    Places,
    TrialFailedError,
    Watch,
    attempted,
)
from lsmtune.engines.rocksdb.options import read_own, settings_in
from lsmtune.engines.rocksdb.own_families import family_notes
from lsmtune.engines.simulated.entry import SIMULATED
from lsmtune.errors import Argument, UserError, unknown_word
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DEFAULT_FAMILY, FAMILY_SECTIONS
from lsmtune.knobs.option_text import DERIVED
from lsmtune.knobs.types import Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.metrics.options_file import OptionsFile, family_names
from lsmtune.simulator import MODELLED_VERSION, Probe, Run, known_knobs, predict
from lsmtune.trials import Base, Status, TrialSpec

_CODECS = ("kNoCompression", "kSnappyCompression", "kZlibCompression", "kLZ4Compression",
           "kLZ4HCCompression", "kZSTD")  # fmt: skip


class Simulated:
    """The engine contract on the simulator, with the knobs of RocksDB that it supports."""

    name = "simulated"
    times_matter = False

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of RocksDB."""
        return SIMULATED.catalogue()

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the version that it models; UserError if the simulator is not installed."""
        known_knobs()
        return EngineFacts(MODELLED_VERSION, "lsmsim", False, "", _CODECS)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return RocksDB's defaults, with the user's values of the knobs that are simulated."""
        known = known_knobs()
        every = self.catalogue.defaults(1)
        defaults = {n: v for n, v in every.items() if n in known}
        if own is None:
            return Base(options=facts.options, settings=defaults, codecs=facts.codecs)
        given, notes = read_own(own, facts.version)
        values = self._values(given, own.family)
        for name, value in values.items():
            knob = self.catalogue.knob(name)
            if not knob.accepts(value):
                raise UserError(
                    f"base: {name} = {value}: not possible; allowed: {knob.accepted_text()}"
                )
        return Base(
            options=own.options,
            settings=defaults | {n: v for n, v in values.items() if n in known},
            codecs=facts.codecs,
            given=own.options,
            notes=(*notes, *family_notes(given, own.family)),
            left_out=tuple(
                f"{name} = {value}: the simulator does not model this option"
                for name, value in values.items()
                if name not in (*known, *DERIVED) and value != every.get(name)
            ),
        )

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Return the prediction of the simulator. There is no evidence."""
        watch.phase("load")
        return Outcome(attempted(lambda: _measured(spec)), {})

    def _values(self, given: OptionsFile, family: str) -> Settings:
        """Return the value of each knob in the user's file, for one column family of it."""
        sections = dict(given.sections)
        for name in FAMILY_SECTIONS:
            theirs = sections.get(f'{name} "{family}"')
            if theirs is not None:
                sections[f'{name} "{DEFAULT_FAMILY}"'] = theirs
        if f'CFOptions "{family}"' not in sections:
            names = family_names(given.sections)
            unknown = unknown_word("column family", family, names)
            raise UserError(f"family: {unknown}; choose one with ", Argument("family", "NAME"))
        return settings_in(self.catalogue, sections)


def _measured(spec: TrialSpec) -> Measurement:
    probe = Probe(spec.protocol.probe_reads, spec.protocol.scan_length)
    (predicted,) = predict([Run(spec.workload, spec.settings, spec.seed, probe)])
    if predicted.error is not None:
        status = Status.TIMED_OUT if predicted.hangs else Status.REFUSED
        raise TrialFailedError(status, predicted.error)
    return Measurement(
        metrics={**predicted.metrics, "others_cpu_percent": 0.0},
        levels=(),
        stalls={},
        engine_version=MODELLED_VERSION,
        assertions_enabled=False,
        as_run={name: str(value) for name, value in spec.settings.items()},
    )
