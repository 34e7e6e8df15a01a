"""A trial: one config measured once with one protocol, and its result.

With what a study stores about its trials: the rule of their sizes, and the simplified winner.
"""

from enum import StrEnum
from math import inf
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, field_validator

from lsmtune.knobs.types import Settings
from lsmtune.metrics.measurement import Measurement
from lsmtune.stats import Interval
from lsmtune.study_keys import PROTOCOL_KEYS
from lsmtune.workloads import Workload, whole_numbers

_HASH_DIGITS = 12

Purpose = Literal["trial", "base", "repeat", "simplify", "screen", "block", "pair"]

_FIRST: dict[Purpose, int] = {
    "trial": 0, "base": 0, "repeat": 0, "simplify": 500, "screen": 1000, "block": 1000, "pair": -1,
}  # fmt: skip
_PER_ROUND: dict[Purpose, int] = {"screen": 1_000_000, "pair": 10_007}
"""Distance of the seeds of one round from those of the next; other purposes have one round."""


class Status(StrEnum):
    """Result status of a trial. Only complete trials are compared; each keeps its evidence."""

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
        """Whether the trial gave no measurement and was not pruned."""
        return self not in (Status.COMPLETE, Status.DISTURBED, Status.CUT)

    @property
    def meaning(self) -> str:
        """Meaning of the status."""
        return _MEANINGS[self]


_MEANINGS = {
    Status.COMPLETE: "measured",
    Status.DISTURBED: (
        "disturbed: other processes used the CPU, or the clock was changed; lsmtune runs a "
        "disturbed trial again, at most twice, and then keeps and marks the result"
    ),
    Status.REFUSED: "the engine refused the options",
    Status.CRASHED: "the engine crashed",
    Status.TIMED_OUT: "the engine was too slow or made no progress, so lsmtune stopped the engine",
    Status.OUT_OF_SPACE: "the disk was full",
    Status.MISMATCH: "the engine ran with other options than requested",
    Status.UNREADABLE: "lsmtune could not parse the engine's output",
    Status.CUT: "pruned: the trial could no longer win",
}


class Role(StrEnum):
    """Purpose of a trial.

    `rate` measures how much the baseline can take, before a study of a running store has a rate.
    `shared` checks whether parallel runs differ from single runs. `online` is a change to a running
    engine. `simplify` tests whether a winner is as good with fewer changes; `verify_raw` is a run
    of the winner before that.
    """

    RATE = "rate"
    BASE = "base"
    TRIAL = "trial"
    REPEAT = "repeat"
    SHARED = "shared"
    ONLINE = "online"
    SIMPLIFY = "simplify"
    VERIFY_BASE = "verify_base"
    VERIFY_BEST = "verify_best"
    VERIFY_RAW = "verify_raw"


class Judgement(StrEnum):
    """What becomes of a change that online tuning tries."""

    KEPT = "kept"
    LOST = "taken back: it lost"
    NOT_SHOWN = "taken back: no gain was shown"
    SHIFTED = "taken back: the load has shifted"
    REFUSED = "refused by the store"

    @property
    def meaning(self) -> str:
        """The judgement in words; the values are those of JSON documents."""
        return {Judgement.KEPT: "kept", Judgement.REFUSED: "refused by the engine"}.get(
            self, "reverted"
        )


class Protocol(BaseModel):
    """Settings of the steps of a trial: load, flush, settle, probe.

    The probe reads from the settled tree: `probe_reads` gets that hit, the same number that miss,
    and the same number of scans of `scan_length` records. Workloads that read have no probe.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    _whole_numbers = whole_numbers
    probe_reads: int = Field(default=10_000, ge=100, description=PROTOCOL_KEYS["probe_reads"])
    scan_length: int = Field(default=10, ge=1, description=PROTOCOL_KEYS["scan_length"])
    quiet_s: float = Field(default=0.25, gt=0, description=PROTOCOL_KEYS["quiet_s"])
    wall_limit_s: float = Field(default=3600, gt=0, description=PROTOCOL_KEYS["wall_limit_s"])
    silence_limit_s: float = Field(default=60, gt=0, description=PROTOCOL_KEYS["silence_limit_s"])
    window_s: PositiveFloat | None = Field(
        default=None, exclude_if=lambda given: given is None, description=PROTOCOL_KEYS["window_s"]
    )


class Origin(BaseModel):
    """Where a library of the engine is from, and the SHA-256 of its file."""

    model_config = ConfigDict(frozen=True)
    source: str
    sha256: str

    @property
    def text(self) -> str:
        """Source and the first digits of the SHA-256."""
        return f"{self.source}, SHA-256 {self.sha256[:_HASH_DIGITS]}"


class Base(BaseModel):
    """The baseline: the config that tuning starts from, at full size.

    `options` is its text; a trial's differs from it in the knobs alone. `settings` are the values
    of all knobs that the engine has. `codecs` are the compression libraries linked into the
    engine (None: unknown). `most` are the largest values that the engine accepts as it runs here,
    of options whose range would allow more. `given` is the user's file unchanged; None when the
    baseline is the engine's defaults. `notes` are remarks about the baseline. `left_out` are the
    options of the user's file that trials do not run with, each as "NAME = VALUE: REASON".
    `fixed_online` are knobs that this engine can set only when it opens the store, although
    RocksDB could change them online.
    `versions` are the baselines of all versions of an experiment that compares versions.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)
    options: str
    settings: Settings
    codecs: tuple[str, ...] | None = None
    most: Settings = {}
    given: str | None = None
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    fixed_online: tuple[str, ...] = ()
    versions: dict[str, "Base"] = {}


LONGEST_WINDOW_S = 30.0
"""A longer window would make a study of twenty configs last an hour."""
RATES_TRIED, RATE_S = 5, 3.0
"""Rates that the search for a capacity within a latency limit tries, and the seconds of each."""


class LatencyLimit(BaseModel):
    """The largest value of a latency metric, in microseconds."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    metric: str
    most_us: PositiveFloat

    def __str__(self) -> str:
        return f"{self.metric} <= {self.most_us:g}"


class Running(BaseModel):
    """Steps of a trial of a running store.

    It starts from a copy of a store that the baseline built, opened with the config.

    rate       operations per second of the whole workload, with the shares of its mix; None: the
               trial ends after it has measured the capacity
    turn_over  how often each key is written, as fast as possible, before anything is measured
    capacity_s seconds of the workload without a limit
    calm_s     seconds at the rate before the window
    window_s   seconds at the rate that are measured
    new_store  whether the config builds the store itself, because it cannot open the baseline's
    within     latency that the capacity keeps; None: the capacity is the speed without a limit
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    rate: PositiveFloat | None
    turn_over: float = Field(default=1.0, ge=0)
    capacity_s: PositiveFloat = 3.0
    calm_s: float = Field(default=2.0, ge=0)
    window_s: PositiveFloat = 6.0
    new_store: bool = False
    within: LatencyLimit | None = None

    @property
    def timed_s(self) -> float:
        """The time of the steps that the clock ends: all but the turn-over."""
        tried = RATES_TRIED * (self.calm_s + RATE_S) if self.within else 0.0
        return self.capacity_s + self.calm_s + self.window_s + tried


class TrialSpec(BaseModel):
    """Input of a trial; `seed` makes the keys of the workload repeatable.

    `running` has the steps of a trial of a running store. None: the trial fills a store, waits
    until it has settled, and reads.

    `base_settings` are the baseline's at the scale of the trial, for things that an engine builds
    once for several trials. They are not stored with each trial, because they follow from the
    study's baseline and scale.
    """

    model_config = ConfigDict(frozen=True)
    settings: Settings
    base_settings: Settings = Field(default={}, exclude=True)
    workload: Workload
    protocol: Protocol
    seed: int = Field(ge=1)
    running: Running | None = None


class OnlineChange(BaseModel):
    """A change that online tuning tried: the objective in its windows, and what became of it.

    `number` counts the changes of one call, from 1. `previous` is the config before the change.
    `before`, `during` and `after` are the windows before and during the change, and after lsmtune
    reverted it. `cost` is the objective during / before the change, turned so that below 1 is
    better. It is None if the change was not measured.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)
    number: int = Field(ge=1)
    judgement: Judgement
    previous: Settings
    before: tuple[PositiveFloat, ...]
    during: tuple[PositiveFloat, ...]
    after: tuple[PositiveFloat, ...]
    cost: Interval | None

    @field_validator("cost")
    @classmethod
    def _ratios_are_positive(cls, cost: Interval | None) -> Interval | None:
        if cost is not None and not 0 < cost.low <= cost.median <= cost.high < inf:
            raise ValueError("must be an interval of positive ratios")
        return cost


class TrialResult(BaseModel):
    """Result of a trial: a measurement, or the reason why there is none.

    `bounds` are the best values that a pruned trial could still have reached, by metric.
    `disturbance` says what disturbed a complete run that was kept all the same. `online` is set if
    the trial is a change of online tuning.
    """

    model_config = ConfigDict(frozen=True)
    status: Status
    reason: str | None = None
    measurement: Measurement | None = None
    bounds: dict[str, float] = {}
    disturbance: str | None = None
    online: OnlineChange | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics of a measured trial; empty for a failed one."""
        return self.measurement.metrics if self.measurement else {}


def workload_seed(study_seed: int, purpose: Purpose, number: int = 0, round_: int = 0) -> int:
    """Return the workload seed of a run.

    `number` counts the runs of the purpose: baseline runs, repeats of a finalist, runs of a config
    in a simplification, configs of a screening, blocks of an experiment, pairs of a verification.
    `round_` is how many times the config of a screening ran before, or the id of the verification
    (1 or more). All trials of the search have the same seed. Stored studies need the same seeds
    again when they continue.
    """
    return study_seed + _FIRST[purpose] + round_ * _PER_ROUND.get(purpose, 0) + number


class SizeRule(BaseModel):
    """All sizes of a trial scale with the tree, and each config must be legal at full size.

    `cores` are those that the deployed store may use. They bound the numbers of threads. A search
    tries only values that a store of the baseline survives (see knobs/existing.py).

    A study that repeats a published one has no rule: a block cache that is not given does not
    scale, the memory limit applies at the scale of the trials, and numbers of threads have the
    ranges of the catalogue. Nor has a study whose trials have full size.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    cores: int = Field(ge=1)


class Without(BaseModel):
    """A change that was needed, or changes that belong together, and a trial without them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    names: tuple[str, ...]
    trial: int


class Simplified(BaseModel):
    """The result of a simplification, by numbers of trials.

    `raw` is the winner of the search. `simple` is the first run of the config with fewer changes;
    None if no change was taken back. `needed` are the changes that were taken back alone, and had
    to stay. `ended_early` is the number of the study's last trial if disturbed runs ended the
    simplification.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    raw: int
    simple: int | None
    needed: tuple[Without, ...] = ()
    ended_early: int | None = None
