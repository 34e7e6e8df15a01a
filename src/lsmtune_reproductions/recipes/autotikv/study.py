"""Four searches like AutoTiKV's, each followed by an experiment around its recommendation."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import log
from typing import Any, Literal

from lsmtune.analysis.experiment_runs import Cell, Experiment
from lsmtune.engine_traits import ENGINES, engines_of
from lsmtune.experiment import Sweep, Told
from lsmtune.knobs.knob_text import knob_value
from lsmtune.knobs.types import Config, Knob, Value
from lsmtune.limits import no_default_limits
from lsmtune.report.text.words import option_value
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, undisturbed
from lsmtune.study.search import run_search
from lsmtune.trials import Role, Status
from lsmtune.workloads import Workload
from lsmtune_reproductions.recipes.base import Asked, Opener
from lsmtune_reproductions.recipes.experiment import run_experiment
from lsmtune_reproductions.recipes.published import published, read_toml

Name = Literal["writeheavy", "pntlookup-a", "pntlookup-b", "shortscan"]
NAMES: tuple[Name, ...] = ("writeheavy", "pntlookup-a", "pntlookup-b", "shortscan")
BLIND = "blind writes"
"""Part that shows the effect of compaction on writes that do not read."""

OPTIMIZER = "gp-ucb:start=random"
TRIALS = 30
RECOMMENDED: Cell = (0,)
"""Cell with the recommended config."""
COMPACTING, UNCOMPACTED = (0,), (1,)
"""Cells of the blind writes."""

_KEYS, _PRESENT = 160_000, 0.5
"""Number of keys, a thousandth of the published number, and the share that exists."""
_FEWEST_OPERATIONS = 500
_ROWS_A_SCAN = 100
_COSTS = ("write_amp", "live_sst_bytes")
_CHANGE = "one knob"
_COMPACTION, _KNOB = "compaction", "disable_auto_compactions"
_SCALE = 64
_REPEATS = 3
_BASE_RUNS, _FINALISTS = 2, 3
_ANY_MEMORY = "1TiB"


@dataclass(frozen=True, slots=True)
class Round:
    """A round of a search, counted from 1: its config and the objective metric."""

    number: int
    config: Config
    value: float


@dataclass(frozen=True, slots=True)
class Part:
    """A finished search, and the experiment around its recommendation.

    `base` is the objective metric of the baseline. `knobs` are the searched knobs. `cells` has the
    cell of each value of each knob; all other knobs have their recommended values.
    """

    name: Name
    knobs: tuple[Knob, ...]
    base: float
    rounds: tuple[Round, ...]
    recommended: Config
    cells: Mapping[str, Mapping[Value, Cell]]
    experiment: Experiment
    cache_bytes: int

    @property
    def metric(self) -> str:
        """Objective metric."""
        return str(_planned(self.name)["metric"])


@dataclass(frozen=True, slots=True)
class Results:
    """Data of the page."""

    parts: Mapping[Name, Part]
    blind: Experiment


paper = partial(published, __package__)
"""Function that returns the published numbers and recommendations."""


def _planned(name: Name) -> dict[str, Any]:
    """Return the settings of a search."""
    found: dict[str, Any] = read_toml(__package__, "searches.toml")[name]
    return found


def specs(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the studies that are known before a run: the searches and the blind writes."""
    return (*(search(name, asked) for name in NAMES), blind(asked))


def search(name: Name, asked: Asked) -> StudySettings:
    """Return a search: one run per config, the best configs again with other keys."""
    load = _load(name, asked)
    return _spec(
        f"autotikv-{name}",
        load,
        asked,
        knobs=_planned(name)["knobs"],
        objective=(_planned(name)["metric"],),
        limits=no_default_limits(load, ENGINES[engines_of(load.name)[0]]),  # the post had no limits
        optimizer=OPTIMIZER,
        trials=TRIALS,
        base_runs=_BASE_RUNS,
        finalists=_FINALISTS,
        repeats=1,
    )


def blind(asked: Asked) -> StudySettings:
    """Return the experiment with writes that do not read, with and without compactions."""
    num, operations = _size("writeheavy", asked)
    return _spec(
        "autotikv-blind-writes",
        Workload(name="overwrite", num=num, operations=operations),
        asked,
        knobs=_planned("writeheavy")["knobs"],
        repeats=0,
        sweep=Sweep(
            factors={_COMPACTION: {_KNOB: (False, True)}},
            labels={_COMPACTION: ("on", "off")},
            repeats=asked.repeats or _REPEATS,
            metrics=("write_mean_us", "sustained_ops_s", "settle_s", "write_amp", "stall_s"),
        ),
    )


def around(name: Name, asked: Asked, recommended: Config, knobs: tuple[Knob, ...]) -> StudySettings:
    """Return the experiment with the recommendation and every config that changes one knob."""
    changes = [{}, *_changes(recommended, knobs)]
    values: dict[str, tuple[Told, ...]] = {
        knob.name: tuple(change.get(knob.name, recommended[knob.name]) for change in changes)
        for knob in knobs
    }
    labels = ["as recommended"]
    for change in changes[1:]:
        labels += [f"{k.name} = {told(k, change[k.name])}" for k in knobs if k.name in change]
    return _spec(
        f"autotikv-{name}-{recommended.hash[:6]}",
        _load(name, asked),
        asked,
        knobs=_planned(name)["knobs"],
        repeats=0,
        sweep=Sweep(
            factors={_CHANGE: values},
            labels={_CHANGE: tuple(labels)},
            repeats=asked.repeats or _REPEATS,
            metrics=(_planned(name)["metric"], *_planned(name)["evidence"], *_COSTS),
        ),
    )


def told(knob: Knob, value: Value) -> str:
    """Return a value in words; a switch as the post spells it."""
    return option_value(value) if isinstance(value, bool) else knob_value(knob, value)


def _changes(recommended: Config, knobs: tuple[Knob, ...]) -> list[dict[str, Value]]:
    return [
        {knob.name: value}
        for knob in knobs
        for value in knob.drawn
        if value != recommended[knob.name]
    ]


def cells(recommended: Config, knobs: tuple[Knob, ...]) -> dict[str, dict[Value, Cell]]:
    """Return the cells of the experiment by knob and value."""
    found: dict[str, dict[Value, Cell]] = {
        k.name: {recommended[k.name]: RECOMMENDED} for k in knobs
    }
    for place, change in enumerate(_changes(recommended, knobs), start=1):
        for name, value in change.items():
            found[name][value] = (place,)
    return {k.name: {v: found[k.name][v] for v in k.drawn} for k in knobs}


def _size(name: Name, asked: Asked) -> tuple[int, int]:
    """Return the number of keys and of operations of a workload."""
    keys = asked.num or _KEYS
    operations = max(_FEWEST_OPERATIONS, _planned(name)["operations"] * keys // _KEYS)
    return (keys if name.startswith("pnt") else round(keys * _PRESENT)), operations


def _load(name: Name, asked: Asked) -> Workload:
    num, operations = _size(name, asked)
    if name == "writeheavy":
        return Workload(name="updaterandom", num=num, operations=operations)
    if name == "shortscan":
        return Workload(name="scanshort", num=num, operations=operations, scan_length=_ROWS_A_SCAN)
    sql = name == "pntlookup-b"
    return Workload(
        name="lookup" if sql else "readhalfmissing",
        num=num,
        operations=operations,
        present=_PRESENT,
        skew=round(log(num), 1),  # from the first rank on
    )


def _spec(name: str, load: Workload, asked: Asked, **more: Any) -> StudySettings:
    engine = engines_of(load.name)[0]
    existing = load.num * (load.present or 1) * load.record_bytes
    cache = existing * paper()["cache_bytes"] / paper()["data_bytes"]
    return StudySettings(
        study=f"reproduce-{name}",
        engine=engine,
        program=asked.program if engine == "rocksdb" else ENGINES[engine].program,
        workload=load,
        scale=f"1/{_SCALE}",
        cache=str(round(cache) // 1024 * 1024 * _SCALE),
        memory=_ANY_MEMORY,
        early_stop=False,
        pairs=0,
        **more,
    )


def run(asked: Asked, home: Home, opener: Opener) -> Results:
    """Run what is missing, search by search."""
    parts = {name: _part(name, asked, home, opener) for name in NAMES}
    return Results(parts, run_experiment(blind(asked), home, opener))


def _part(name: Name, asked: Asked, home: Home, opener: Opener) -> Part:
    wanted, metric = search(name, asked), _planned(name)["metric"]
    with opener.open(home, wanted) as study:
        run_search(study)
        best, knobs = study.best(), study.space.knobs
        recommended = best.trial.config if best else study.space.default()
        base = study.base_metrics[metric]
        rounds = _rounds(study.trials(), metric)
        cache_bytes = study.space.base["cache_size"]
    neighbours = around(name, asked, recommended, knobs)
    return Part(
        name=name,
        knobs=knobs,
        base=base,
        rounds=rounds,
        recommended=recommended,
        cells=cells(recommended, knobs),
        experiment=run_experiment(neighbours, home, opener),
        cache_bytes=int(cache_bytes),
    )


def _rounds(trials: Iterable[StoredTrial], metric: str) -> tuple[Round, ...]:
    """Return the measured rounds."""
    return tuple(
        Round(number, trial.config, trial.result.metrics[metric])
        for number, trial in enumerate(undisturbed(trials, Role.TRIAL), start=1)
        if trial.result.status is Status.COMPLETE
    )
