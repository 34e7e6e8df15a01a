"""Studies of the recipe jin2022: screenings and genetic searches, in two modes.

The mode *published* varies two parameters of the workload with the knobs, as the paper did. The
mode *honest* keeps the workload fixed.
"""

import gzip
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from lsmtune.analysis.experiment_runs import fewest, flushes, too_small, written_bytes
from lsmtune.analysis.importance import Importance, Runs, find_importance, runs_of
from lsmtune.analysis.screened import screened_lines, shipped
from lsmtune.batch import BatchLine, parse_batch
from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Config, Settings
from lsmtune.limits import no_default_limits
from lsmtune.objective import JIN2022, Metrics
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.study.runner import Task
from lsmtune.study.screen import screen
from lsmtune.study.search import run_search
from lsmtune.study.session import Session
from lsmtune.study.verify import verify_contenders, verify_trial
from lsmtune.tables import Screen
from lsmtune.trials import Role
from lsmtune.verdict import Pair
from lsmtune.workloads import Workload
from lsmtune_reproductions.recipes.base import Opener

Mode = Literal["honest", "published"]
MODES: tuple[Mode, ...] = ("honest", "published")
MODE_NAMES: dict[Mode, str] = {"honest": "fixed workload", "published": "varied workload"}
"""Names of the modes for people; in the published mode, the workload varies too."""

EVALUATIONS = 36
"""Eight configs, then seven generations with four new ones each."""
INDICATORS = ("w_amp_table", "live_sst_bytes", "rate_mb_s", "total_s")
"""Indicators of the paper: WAF, SA, RATE, TIME."""
EXACT = "write_amp"
METRICS = (EXACT, *INDICATORS)

_KNOBS: dict[Mode, str] = {"honest": "jin2022", "published": "jin2022-published"}
_GENES = "jin2022-genes"
_SHIPPED = "screening.jsonl.gz"
_MEMORY = "1GiB"
"""More than any config of the paper's ranges needs: the paper has no memory limit."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Size of the recipe.

    `configs` are screened in each mode; with 0 the recorded data that ships with lsmtune is used.
    Each of the `seeds` is one genetic search in the honest mode.
    """

    num: int = 1_000_000
    configs: int = 150
    seeds: tuple[int, ...] = (1,)
    program: str = "db_bench"
    repeats: int = 3

    @property
    def load(self) -> Workload:
        """Workload of the paper: random writes of 16 B keys and 1 kB values."""
        return Workload(num=self.num)

    def screening(self, mode: Mode) -> StudySettings:
        """Return the screening of a mode: random configs, evenly spread."""
        return StudySettings(
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

    def search(self, mode: Mode, seed: int) -> StudySettings:
        """Return a genetic search with the paper's budget, with verification.

        The published mode has the paper's algorithm and its four parameters, one of them of the
        workload. The honest mode has an improved algorithm and all knobs of the study.
        """
        return StudySettings(
            study=f"jin2022-{mode}-genetic-{seed}",
            program=self.program,
            workload=self.load,
            knobs=_GENES if mode == "published" else _KNOBS[mode],
            memory=_MEMORY,
            objective=(JIN2022,),
            limits=no_default_limits(self.load, ENGINES["rocksdb"]),  # the paper had no limits
            optimizer="genetic" if mode == "honest" else "genetic-jin2022",
            trials=EVALUATIONS,
            seed=seed,
            early_stop=False,
            repeats=0,
        )


@dataclass(frozen=True, slots=True)
class Screening:
    """Screened runs of a mode and their analysis."""

    lines: tuple[BatchLine, ...]
    runs: Runs
    importance: Importance
    base: Metrics | None


@dataclass(frozen=True, slots=True)
class Search:
    """A genetic search: its trials in order, its winner, and the pairs of its verification.

    `changed` are the winner's values that differ from the baseline. `on_base_data` are pairs of the
    winner's options with the baseline's data, in the published mode: they show the gain that
    remains without changing the data. `flushes` is how many times a run fills the baseline's
    memtable.
    """

    mode: Mode
    seed: int
    base: Metrics
    trials: tuple[StoredTrial, ...]
    winner: StoredTrial | None
    changed: Settings
    pairs: tuple[Pair, ...]
    on_base_data: tuple[Pair, ...] = ()
    flushes: float | None = None

    @property
    def name(self) -> str:
        """Mode and seed, for people."""
        return f"{MODE_NAMES[self.mode]}, seed {self.seed}"


@dataclass(frozen=True, slots=True)
class Results:
    """Data of the page."""

    plan: Plan
    screenings: dict[Mode, Screening]
    searches: tuple[Search, ...]
    engine: str
    host: str

    @property
    def too_small(self) -> str | None:
        """Reason why the searches write too little data to be judged, or None."""
        return too_small(fewest(search.flushes for search in self.searches), self.plan.num)


def run(plan: Plan, home: Home, opener: Opener) -> Results:
    """Run what is missing, in the order of the paper."""
    screenings = {mode: _screening(plan, mode, home, opener) for mode in MODES}
    searches = [_search(plan.search("honest", seed), "honest", home, opener) for seed in plan.seeds]
    first = plan.search("published", plan.seeds[0])
    searches.append(_search(first, "published", home, opener))
    stored = home.study(str(first.study))
    return Results(plan, screenings, tuple(searches), stored.engine.version, stored.host.text)


def _screening(plan: Plan, mode: Mode, home: Home, opener: Opener) -> Screening:
    base: Metrics | None = None
    if plan.configs:
        spec = plan.screening(mode)
        with opener.open(home, spec) as study:
            screen(study, spec.screen or Screen())
            base = study.base_metrics
        lines = screened_lines(home, str(spec.study))
    else:
        lines = shipped_screening(mode)
    runs = runs_of(lines, load("rocksdb"))
    importance = find_importance(runs, METRICS, plan.repeats)
    return Screening(tuple(lines), runs, importance, base)


def shipped_screening(mode: Mode) -> list[BatchLine]:
    """Return the screened runs of a mode that ship."""
    if mode == "honest":
        return shipped()
    data = (files(__package__) / _SHIPPED).read_bytes()
    return parse_batch(gzip.decompress(data).decode(), _SHIPPED)


def _search(spec: StudySettings, mode: Mode, home: Home, opener: Opener) -> Search:
    with opener.open(home, spec) as study:
        run_search(study)
        verify_contenders(study)
        best = study.best()
        winner = best.trial if best else None
        data = _without_data(study, winner) if winner and mode == "published" else ()
        trials = complete_trials(study.trials(), Role.TRIAL)[:EVALUATIONS]
        return Search(
            mode=mode,
            seed=spec.seed,
            base=study.base_metrics,
            trials=tuple(trials),
            winner=winner,
            changed=winner.config.differing(study.space.default()) if winner else {},
            pairs=_pairs(study, winner) if winner else (),
            on_base_data=data,
            flushes=flushes(written_bytes(spec.workload), study.space.base),
        )


def _without_data(study: Session, winner: StoredTrial) -> tuple[Pair, ...]:
    """Run and return pairs of the winner's options with the baseline's data and the baseline."""
    base = study.space.default()
    kept = {name: base[name] for name in ("threads", "compression_ratio") if name in base}
    config = Config({**winner.config, **kept})
    found = [t for t in complete_trials(study.trials(), Role.TRIAL) if t.config == config]
    if not found:
        study.run(
            Task(
                "trial of the winner's options with the baseline's data",
                Role.TRIAL,
                config,
                study.trial_spec(config),
            )
        )
        found = [t for t in complete_trials(study.trials(), Role.TRIAL) if t.config == config]
    if not found:
        return ()
    verify_trial(study, found[-1], study.spec.scale, study.spec.workload)
    return _pairs(study, found[-1])


def _pairs(study: Session, trial: StoredTrial) -> tuple[Pair, ...]:
    for verification in reversed(study.history.verifications):
        if verification.best_trial == trial.number:
            return tuple(study.history.pairs(verification))
    return ()
