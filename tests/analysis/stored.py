"""Trials as they lie in the store, made without running anything."""

from collections.abc import Mapping, Sequence
from typing import Any

from fakes.facts import ENGINE, HOST
from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Config
from lsmtune.limits import default_limits
from lsmtune.metrics.measurement import Measurement
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import NewTrial, StoredStudy
from lsmtune.trials import Base, Protocol, Role, SizeRule, Status, TrialResult, TrialSpec
from lsmtune.workloads import Workload

WORKLOAD = Workload(name="overwrite")
DEFAULTS = load("rocksdb").defaults(1 / 64)
METRICS = {
    "write_amp": 10.0,
    "total_s": 10.0,
    **{limit.metric: 10.0 for limit in default_limits(WORKLOAD, ENGINES["rocksdb"])},
}


def config(size: int | None = None) -> Config:
    """The base's config, or one that differs in its block size."""
    return Config({"block_size": DEFAULTS["block_size"] if size is None else size})


def complete(metrics: Mapping[str, float]) -> TrialResult:
    """The result of a run with these metrics and no others."""
    return TrialResult(
        status=Status.COMPLETE,
        measurement=Measurement(
            metrics=dict(metrics),
            levels=(),
            stalls={},
            engine_version="0",
            assertions_enabled=False,
            as_run={},
        ),
    )


class Written:
    """A study in a home, to which trials are added one after the other.

    `of_today`: it has a rule of sizes, as new studies have.
    """

    def __init__(self, home: Home, *, of_today: bool = False, **spec: Any) -> None:
        base = Base(options="", settings=load("rocksdb").defaults(1))
        engine = ENGINE.model_copy(update={"base": base})
        self.home = home
        limits = StudySettings.model_validate(spec).parsed_objective.limits
        given = {"study": "s", "knobs": "block_size", **spec}
        rule = SizeRule(cores=2) if of_today else None
        self.study: StoredStudy = home.add_study("s", given, engine, HOST, limits, rule=rule)

    def add(
        self, role: Role, size: int | None, result: TrialResult | Mapping[str, float], **ids: int
    ) -> int:
        """Add a run of the config with that block size; its number."""
        if not isinstance(result, TrialResult):
            result = complete({**METRICS, **result})
        spec = TrialSpec(settings=DEFAULTS, workload=WORKLOAD, protocol=Protocol(), seed=1)
        trial = NewTrial(role, config(size), spec, result, "2024-01-01", 2.5, **ids)
        return self.home.add_trial(self.study, trial, {}).number

    def base(self, *runs: Mapping[str, float]) -> None:
        """Add runs of the base."""
        for run in runs or ({},):
            self.add(Role.BASE, None, run)

    def verify(
        self, trial: int, size: int, best: Sequence[Mapping[str, float]], scale: str = "1/64"
    ) -> None:
        """Add a verification of a trial, a pair for each run of best, under the study's load."""
        found = self.home.add_verification(self.study, trial, scale, WORKLOAD)
        for pair, run in enumerate(best):
            self.add(Role.VERIFY_BEST, size, run, verification_id=found.id, pair=pair)
            self.add(Role.VERIFY_BASE, None, {}, verification_id=found.id, pair=pair)
