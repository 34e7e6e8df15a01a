"""A trial: one config measured once under one protocol, and what became of it."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from lsmtune.knobs.types import Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.workloads import Workload


class Status(StrEnum):
    """How a trial ended. Only a complete one may be compared; each keeps its evidence."""

    COMPLETE = "complete"
    DISTURBED = "disturbed"
    REFUSED = "refused"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_SPACE = "out_of_space"
    MISMATCH = "mismatch"
    UNREADABLE = "unreadable"
    CUT = "cut"

    @property
    def failed(self) -> bool:
        """Whether the engine gave no measurement although it was let to."""
        return self not in (Status.COMPLETE, Status.DISTURBED, Status.CUT)

    @property
    def meaning(self) -> str:
        """The status in words."""
        return _MEANINGS[self]


_MEANINGS = {
    Status.COMPLETE: "measured",
    Status.DISTURBED: "measured while others used the CPU or the clock was set, and repeated",
    Status.REFUSED: "the engine did not accept the options",
    Status.CRASHED: "the engine died",
    Status.TIMED_OUT: "the engine was too slow or hung, and was ended",
    Status.OUT_OF_SPACE: "the disk was full",
    Status.MISMATCH: "the engine ran other options than it was given",
    Status.UNREADABLE: "the engine's output could not be understood",
    Status.CUT: "ended early, because it could no longer win",
}


class Role(StrEnum):
    """What a trial is for.

    A shared one tells whether runs side by side differ from runs alone; an online one is a change
    to a running engine.
    """

    BASE = "base"
    TRIAL = "trial"
    REPEAT = "repeat"
    SHARED = "shared"
    ONLINE = "online"
    VERIFY_BASE = "verify_base"
    VERIFY_BEST = "verify_best"


class Protocol(BaseModel):
    """How a trial is run: load, flush, settle, then a probe of reads on the settled tree.

    A load that reads needs no probe. The probe: `probe_reads` gets that hit, as many that miss,
    and as many scans of `scan_length` records.
    The tree counts as settled when nothing runs and the engine is idle for `quiet_s`. A trial
    is ended after `wall_limit_s`, or when the engine does nothing at all for `silence_limit_s`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    probe_reads: int = Field(default=10_000, ge=100)
    scan_length: int = Field(default=10, ge=1)
    quiet_s: float = Field(default=0.25, gt=0)
    wall_limit_s: float = Field(default=3600, gt=0)
    silence_limit_s: float = Field(default=60, gt=0)


class Base(BaseModel):
    """The configuration that tuning starts from, for a full-size tree.

    `options` is its text; a trial's differs from it in the knobs alone. `settings` are the values
    of all knobs that the engine has. `codecs` are the compression libraries linked into the
    engine (None: unknown). `given` is the user's file unchanged; None when the baseline is the
    engine's defaults. `notes` are remarks about the baseline. `left_out` are the options of the
    user's file that trials do not run with, each as "NAME = VALUE: REASON".
    """

    model_config = ConfigDict(frozen=True)
    options: str
    settings: Settings
    codecs: tuple[str, ...] | None = None
    given: str | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


class TrialSpec(BaseModel):
    """All that an engine needs to run a trial; `seed` makes the load's keys repeatable.

    `base_settings` are the base's at the trial's scale, for what an engine builds once and shares
    between trials. They are not stored with each trial: the study's base and scale tell them.
    """

    model_config = ConfigDict(frozen=True)
    settings: Settings
    base_settings: Settings = Field(default={}, exclude=True)
    workload: Workload
    protocol: Protocol
    seed: int = Field(ge=1)


class TrialResult(BaseModel):
    """What became of a trial: a measurement, or the reason why there is none.

    `bounds` are what a trial that was cut could at best still have reached, by metric.
    """

    model_config = ConfigDict(frozen=True)
    status: Status
    reason: str | None = None
    measurement: Measurement | None = None
    bounds: dict[str, float] = {}

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics of a measured trial; empty for a failed one."""
        return self.measurement.metrics if self.measurement else {}
