"""RocksDB as the simulator of its tree foretells it: a trial takes milliseconds."""

from functools import cached_property
from pathlib import Path

from lsmtune.engines.attempt import attempted
from lsmtune.engines.base import EngineFacts, Outcome, OwnBase, Places, TrialFailedError, Watch
from lsmtune.engines.rocksdb.options import settings_in
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.catalogue import Catalogue, load
from lsmtune.knobs.families import DEFAULT_FAMILY, FAMILY_SECTIONS
from lsmtune.knobs.types import Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.metrics.options_file import parse_options
from lsmtune.simulator import MODELLED_VERSION, Probe, Run, known_knobs, predict
from lsmtune.trials import Base, Status, TrialSpec

_CODECS = ("kNoCompression", "kSnappyCompression", "kZlibCompression", "kLZ4Compression",
           "kLZ4HCCompression", "kZSTD")  # fmt: skip


class Simulated:
    """The engine contract on the simulator, with those of RocksDB's knobs that it knows."""

    name = "simulated"

    @cached_property
    def catalogue(self) -> Catalogue:
        """The knobs of RocksDB."""
        return load(self.name)

    def describe(self, workdir: Path) -> EngineFacts:
        """The version whose sources it follows; UserError where the simulator is not installed."""
        known_knobs()
        return EngineFacts(MODELLED_VERSION, "lsmsim", False, "", _CODECS)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """RocksDB's defaults, or what the user's file says of the knobs that are simulated."""
        known = known_knobs()
        defaults = {n: v for n, v in self.catalogue.defaults(1).items() if n in known}
        if own is None:
            return Base(options=facts.options, settings=defaults, codecs=facts.codecs)
        told = {n: v for n, v in self._told(own).items() if n in known}
        return Base(
            options=own.options, settings=defaults | told, codecs=facts.codecs, given=own.options
        )

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """What the simulator foretells; there is nothing to keep as evidence."""
        watch.phase("load")
        return Outcome(attempted(lambda: _measured(spec)), {})

    def _told(self, own: OwnBase) -> Settings:
        try:
            sections = dict(parse_options(own.options).sections)
        except ParseError as error:
            raise UserError(f"base: {error}") from error
        for name in FAMILY_SECTIONS:
            given = sections.get(f'{name} "{own.family}"')
            if given is not None:
                sections[f'{name} "{DEFAULT_FAMILY}"'] = given
        if f'CFOptions "{own.family}"' not in sections:
            raise UserError(f"base: it has no column family {own.family!r}")
        return settings_in(self.catalogue, sections)


def _measured(spec: TrialSpec) -> Measurement:
    probe = Probe(spec.protocol.probe_reads, spec.protocol.scan_length)
    (told,) = predict([Run(spec.workload, spec.settings, spec.seed, probe)])
    if told.error is not None:
        status = Status.TIMED_OUT if told.hangs else Status.REFUSED
        raise TrialFailedError(status, told.error)
    return Measurement(
        metrics={**told.metrics, "others_cpu_percent": 0.0},
        levels=(),
        stalls={},
        engine_version=MODELLED_VERSION,
        assertions_enabled=False,
        as_run={name: str(value) for name, value in spec.settings.items()},
    )
