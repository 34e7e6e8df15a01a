"""The parameter study of Jin, Choi, Choi, Sung and Park (2022), run again.

Screening, importance, and genetic algorithms, in two modes: *published* varies two parameters of
the load with the knobs, as the paper did; *honest* holds the load fixed.
"""

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from lsmtune.analysis.importance import Importance, Runs, find_importance, runs_of
from lsmtune.analysis.screened import screened_lines
from lsmtune.batch import BatchLine, read_batch
from lsmtune.engines.base import Engine
from lsmtune.engines.registry import make_engine
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Config, Settings
from lsmtune.objective import JIN2022, Metrics
from lsmtune.recipes.base import Progress
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.store.ranking import base_metrics
from lsmtune.store.records import StoredTrial, complete_pairs, complete_trials
from lsmtune.studies.runner import Task
from lsmtune.studies.screen import screen
from lsmtune.studies.study import Study, open_study
from lsmtune.studies.verify import verify_contenders, verify_trial
from lsmtune.tables import Screen
from lsmtune.trials import Role
from lsmtune.verdict import Pair
from lsmtune.workloads import Workload

Mode = Literal["honest", "published"]
MODES: tuple[Mode, ...] = ("honest", "published")

EVALUATIONS = 36
"""Eight chromosomes, then seven generations of four new ones."""
INDICATORS = ("w_amp_table", "live_sst_bytes", "rate_mb_s", "total_s")
"""The four of the paper: WAF, SA, RATE, TIME."""
EXACT = "write_amp"
METRICS = (EXACT, *INDICATORS)

_KNOBS: dict[Mode, str] = {"honest": "jin2022", "published": "jin2022-published"}
_GENES = "jin2022-genes"
_MEMORY = "1GiB"
"""Above what any config of the paper's ranges takes: the paper did not hold memory equal."""
_LIFTED = tuple(
    f"{name} <= none"
    for name in ("live_sst_bytes", "get_p99_us", "get_missing_p99_us", "scan_p99_us")
)
"""The paper had no limits."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run: `configs` of each mode are screened (0: the data that ships is used).

    Each of the `seeds` gives a genetic search of its own in the honest mode.
    """

    num: int = 1_000_000
    configs: int = 150
    seeds: tuple[int, ...] = (1,)
    program: str = "db_bench"
    repeats: int = 3

    @property
    def load(self) -> Workload:
        """The paper's: random writes of 16 B keys and 1 kB values."""
        return Workload(num=self.num)

    def screening(self, mode: Mode) -> StudySpec:
        """The random configs of the study, spread evenly."""
        return StudySpec(
            study=f"jin2022-{mode}",
            program=self.program,
            workload=self.load,
            knobs=_KNOBS[mode],
            memory=_MEMORY,
            trials=self.configs,
            early_stop=False,
            repeats=0,
            pairs=0,
            screen=Screen(),
        )

    def search(self, mode: Mode, seed: int) -> StudySpec:
        """A genetic search at the paper's budget, verified.

        As published it is the paper's algorithm over its four parameters, one of them the
        load's; honest it has sane operators and all knobs of the study.
        """
        return StudySpec(
            study=f"jin2022-{mode}-genetic-{seed}",
            program=self.program,
            workload=self.load,
            knobs=_GENES if mode == "published" else _KNOBS[mode],
            memory=_MEMORY,
            objective=(JIN2022,),
            limits=_LIFTED,
            optimizer="genetic" if mode == "honest" else "genetic-jin2022",
            trials=EVALUATIONS,
            seed=seed,
            early_stop=False,
            repeats=0,
        )


@dataclass(frozen=True, slots=True)
class Screening:
    """The screened runs of a mode, and what they say."""

    lines: tuple[BatchLine, ...]
    runs: Runs
    importance: Importance
    base: Metrics | None


@dataclass(frozen=True, slots=True)
class Search:
    """A genetic search: its trials in order, its winner, and the pairs that verify it.

    `changed` are the winner's values that are not the base's. `on_base_data` are pairs of the
    winner's store options under the base's own data, in the published mode: what is left of the
    gain when the data is not changed.
    """

    mode: Mode
    seed: int
    base: Metrics
    trials: tuple[StoredTrial, ...]
    winner: StoredTrial | None
    changed: Settings
    pairs: tuple[Pair, ...]
    on_base_data: tuple[Pair, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """All that the page shows."""

    plan: Plan
    screenings: dict[Mode, Screening]
    searches: tuple[Search, ...]
    engine: str
    host: str


def shipped(mode: Mode) -> list[BatchLine]:
    """The screening data that ships with lsmtune."""
    path = files("lsmtune") / "data" / "jin2022" / f"{mode}.jsonl"
    return read_batch(Path(str(path)))


def run(plan: Plan, home: Home, progress: Progress, engine: Engine | None = None) -> Results:
    """Run what has not run yet, in the order of the paper; everything goes on where it stopped.

    On RocksDB, unless an engine is given.
    """
    engine = engine or make_engine("rocksdb", plan.program)
    screenings = {mode: _screening(plan, mode, home, engine, progress) for mode in MODES}
    searches = [
        _search(plan.search("honest", seed), "honest", home, engine, progress)
        for seed in plan.seeds
    ]
    first = plan.search("published", plan.seeds[0])
    searches.append(_search(first, "published", home, engine, progress))
    stored = home.study(str(first.study))
    version = str(stored.engine["version"])
    return Results(plan, screenings, tuple(searches), version, stored.machine)


def _screening(plan: Plan, mode: Mode, home: Home, engine: Engine, progress: Progress) -> Screening:
    base: Metrics | None = None
    if plan.configs:
        spec = plan.screening(mode)
        with progress(spec) as listener, open_study(home, spec, engine, listener) as study:
            screen(study, spec.screen or Screen())
            base = base_metrics(study.trials())
        lines = screened_lines(home, str(spec.study))
    else:
        lines = shipped(mode)
    runs = runs_of(lines, load("rocksdb"))
    importance = find_importance(runs, METRICS, plan.repeats)
    return Screening(tuple(lines), runs, importance, base)


def _search(spec: StudySpec, mode: Mode, home: Home, engine: Engine, progress: Progress) -> Search:
    with progress(spec) as listener, open_study(home, spec, engine, listener) as study:
        study.tune()
        verify_contenders(study)
        best = study.best()
        winner = best.trial if best else None
        data = _without_data(study, winner) if winner and mode == "published" else ()
        trials = complete_trials(study.trials(), Role.TRIAL)[:EVALUATIONS]
        return Search(
            mode=mode,
            seed=spec.seed,
            base=base_metrics(study.trials()),
            trials=tuple(trials),
            winner=winner,
            changed=winner.config.differing(study.space.default()) if winner else {},
            pairs=_pairs(study, winner) if winner else (),
            on_base_data=data,
        )


def _without_data(study: Study, winner: StoredTrial) -> tuple[Pair, ...]:
    """The winner's options on the base's own data, against the base."""
    base = study.space.default()
    kept = {name: base[name] for name in ("threads", "compression_ratio") if name in base}
    config = Config({**winner.config, **kept})
    found = [t for t in complete_trials(study.trials(), Role.TRIAL) if t.config == config]
    if not found:
        study.run(
            Task("the winner on the base's data", Role.TRIAL, config, study.trial_spec(config))
        )
        found = [t for t in complete_trials(study.trials(), Role.TRIAL) if t.config == config]
    if not found:
        return ()
    verify_trial(study, found[-1], study.spec.scale, study.spec.workload)
    return _pairs(study, found[-1])


def _pairs(study: Study, trial: StoredTrial) -> tuple[Pair, ...]:
    for verification in reversed(study.home.verifications(study.stored)):
        if verification.best_trial == trial.number:
            return tuple(complete_pairs(study.trials(), verification))
    return ()
