"""Render the pages of `lsmtune reproduce` from the recorded results, without running an engine.

    .venv/bin/python benchmarks/recorded_recipes.py FOLDER [RECIPE ...]

The recorded results contain means and intervals, not single runs. The runs of a page are generated
so that each cell has its recorded mean and interval. These pages are for checking the layout. Their
ratios between cells are close to the recorded ones, but not equal to them.
"""

import json
import sys
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from lsmtune.analysis.experiment_runs import Experiment
from lsmtune.analysis.importance import find_importance, runs_of
from lsmtune.analysis.swept import Outcome, SweptRun, analyse
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.types import Config, Knob
from lsmtune.learning import models
from lsmtune.metrics.measurement import Level
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings, catalogue_of
from lsmtune.store.records import StoredTrial
from lsmtune.testing.scripted import measured
from lsmtune.trials import Base, Protocol, Role, TrialSpec
from lsmtune.verdict import Pair
from lsmtune.workloads import Workload
from lsmtune_reproductions.recipes.autotikv import study as autotikv
from lsmtune_reproductions.recipes.autotikv.recipe import render_autotikv
from lsmtune_reproductions.recipes.base import Asked
from lsmtune_reproductions.recipes.compaction_style import study as style
from lsmtune_reproductions.recipes.compaction_style.recipe import render_compaction_style
from lsmtune_reproductions.recipes.db_bench_study import study as commands
from lsmtune_reproductions.recipes.db_bench_study.recipe import render_db_bench_study
from lsmtune_reproductions.recipes.jin2022 import study as jin2022
from lsmtune_reproductions.recipes.jin2022.recipe import render_jin2022
from lsmtune_reproductions.recipes.sst_size import study as sst_size
from lsmtune_reproductions.recipes.sst_size.recipe import render_sst_size

RESULTS = Path(__file__).parent / "results"
MACHINE = "recorded in benchmarks/results"
_MANY_FILES = 20_000
_LEAST_SHARE = 0.05


def recorded(name: str) -> dict[str, Any]:
    """Return the recorded JSON of a recipe."""
    document: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text())
    return document


def render(recipe: str) -> str:
    """Return the page of a recipe as HTML."""
    return RECIPES[recipe]()


def sst_size_page() -> str:
    """Return the page of sst-size."""
    document = recorded("sst_size_recipe")["experiment"]
    spec = sst_size.spec(Asked(repeats=document["blocks"]))
    return render_sst_size(sst_size.Results(_experiment(spec, document, "7.8.3")))


def compaction_style_page() -> str:
    """Return the page of compaction-style."""
    parts = []
    for engine, part in recorded("compaction_style_recipe")["parts"].items():
        spec = style.specs(Asked(repeats=part["experiment"]["blocks"]))[engine]
        trees = {
            (place,): (tuple(Level.model_validate(level) for level in part["levels"][name]),)
            for place, name in enumerate(style.STYLES)
        }
        found = _experiment(spec, part["experiment"], part["version"], trees)
        parts.append(style.Part(engine, style.TITLES[engine], found))
    return render_compaction_style(style.Results(tuple(parts)))


def db_bench_study_page() -> str:
    """Return the page of db-bench-study."""
    document = recorded("db_bench_study_recipe")
    blocks = document["parts"]["stores"]["experiment"]["blocks"]
    parts = {
        name: _experiment(
            spec, document["parts"][name]["experiment"], document["parts"][name]["version"]
        )
        for name, spec in commands.specs(Asked(repeats=blocks)).items()
    }
    return render_db_bench_study(commands.Results(parts))


def autotikv_page() -> str:
    """Return the page of autotikv."""
    document = recorded("autotikv_recipe")
    blocks = document["parts"]["writeheavy"]["experiment"]["blocks"]
    asked = Asked(repeats=blocks)
    parts = {name: _autotikv_part(name, asked, document["parts"][name]) for name in autotikv.NAMES}
    blind = document["parts"][autotikv.BLIND]["experiment"]
    found = _experiment(autotikv.blind(asked), blind, parts["writeheavy"].experiment.version)
    return render_autotikv(autotikv.Results(parts, found))


def _autotikv_part(name: autotikv.Name, asked: Asked, part: dict[str, Any]) -> autotikv.Part:
    spec = autotikv.search(name, asked)
    knobs = _knobs(spec)
    recommended = Config(part["recommended"])
    around = autotikv.around(name, asked, recommended, knobs)
    return autotikv.Part(
        name=name,
        knobs=knobs,
        base=part["base"],
        rounds=tuple(
            autotikv.Round(tried["round"], Config(tried["config"]), tried["value"])
            for tried in part["rounds"]
        ),
        recommended=recommended,
        cells=autotikv.cells(recommended, knobs),
        experiment=_experiment(around, part["experiment"], part["version"]),
        cache_bytes=int(str(spec.cache)) // 64,
    )


def _knobs(spec: StudySettings) -> tuple[Knob, ...]:
    catalogue = catalogue_of(spec.engine, spec.workload)
    base = Base(options="", settings=catalogue.defaults(Fraction(spec.scale)))
    return knob_space(spec, Ground(catalogue, base, _MANY_FILES)).knobs


def jin2022_page() -> str:
    """Return the page of jin2022, with 200 runs per mode and a small model."""
    document = recorded("parameter_study")
    screenings = {mode: _screening(mode) for mode in jin2022.MODES}
    searches = tuple(map(_search, document["searches"]))
    plan = jin2022.Plan(configs=0)
    return render_jin2022(jin2022.Results(plan, screenings, searches, "7.8.3", MACHINE))


def _screening(mode: jin2022.Mode) -> jin2022.Screening:
    models.MODELS = {"extra trees": ("extra trees",)}  # the others take minutes
    models._TREES = 20
    lines = jin2022.shipped_screening(mode)[:200]
    runs = runs_of(lines, load("rocksdb"))
    importance = find_importance(runs, jin2022.METRICS, 1)
    return jin2022.Screening(tuple(lines), runs, importance, None)


def _search(told: dict[str, Any]) -> jin2022.Search:
    base = told["verified"]["base"]
    config = Config(told["config"])
    trials = tuple(_trial(n, config, base, best) for n, best in enumerate(told["best_so_far"], 1))
    kept = told["on_base_data"]
    return jin2022.Search(
        mode=told["mode"],
        seed=told["seed"],
        base=base,
        trials=trials,
        winner=trials[-1],
        changed=told["config"],
        pairs=_pairs(told["verified"]),
        on_base_data=_pairs(kept) if kept else (),
    )


def _trial(number: int, config: Config, base: dict[str, float], fitness: float) -> StoredTrial:
    """Return a trial with that fitness; all of the gain is in the rate."""
    metrics = {**base, "rate_mb_s": base["rate_mb_s"] * (1 + fitness / 1000)}
    spec = TrialSpec(settings={}, workload=Workload(), protocol=Protocol(), seed=1)
    return StoredTrial(
        number, Role.TRIAL, config, spec, measured(**metrics), "", 0.0, None, None, ""
    )


def _pairs(verified: dict[str, Any]) -> tuple[Pair, ...]:
    """Return as many pairs as recorded; the winner's runs vary by 2 %."""
    spread = np.linspace(-0.02, 0.02, verified["pairs"])
    return tuple(
        ({name: value * (1 + off) for name, value in verified["found"].items()}, verified["base"])
        for off in spread
    )


def _experiment(
    spec: StudySettings,
    document: dict[str, Any],
    version: str,
    trees: dict[tuple[int, ...], tuple[tuple[Level, ...], ...]] | None = None,
) -> Experiment:
    sweep = spec.sweep
    if sweep is None:
        raise ValueError(f"{spec.name} is not an experiment")
    catalogue = catalogue_of(spec.engine, spec.workload)
    cells = [None, *sweep.cells()]
    values = {
        name: {
            cell: _values(found, document["blocks"], f"{name}{cell}")
            for cell, found in zip(cells, [metric["base"], *metric["cells"]], strict=True)
        }
        for name, metric in document["metrics"].items()
    }
    runs = [
        SweptRun(block, cell, {name: values[name][cell][block] for name in values})
        for block in range(document["blocks"])
        for cell in cells
    ]
    configs = {cell: Config(sweep.values(cell, catalogue)) for cell in sweep.cells()}
    outcome = Outcome(spec.name, spec.workload.kind, runs, [], configs)
    return Experiment(
        load=spec.workload,
        version=version,
        machine=MACHINE,
        outcome=outcome,
        swept=analyse(sweep, catalogue, outcome),
        trees=trees or {},
        logs={},
    )


def _values(cell: dict[str, Any], blocks: int, seed: str) -> list[float]:
    """Return a value per block, with the recorded mean and interval."""
    rng = np.random.default_rng(list(seed.encode()))
    noise = rng.normal(size=blocks)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    half = 0.0
    if cell["interval"] is not None:
        half = cell["interval"]["high"] - cell["mean"]
    deviation = half * blocks**0.5 / float(stdtrit(blocks - 1, 0.975))
    least = _LEAST_SHARE * cell["mean"]
    return [max(least, cell["mean"] + deviation * float(one)) for one in noise]


def _pages(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names or RECIPES:
        yield name, render(name)


RECIPES: dict[str, Callable[[], str]] = {
    "jin2022": jin2022_page,
    "sst-size": sst_size_page,
    "compaction-style": compaction_style_page,
    "db-bench-study": db_bench_study_page,
    "autotikv": autotikv_page,
}
"""The recipes and the functions that render their pages."""


def main() -> None:
    """Write the pages."""
    folder = Path(sys.argv[1])
    for name, page in _pages(sys.argv[2:]):
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
        print(folder / f"{name}.html")


if __name__ == "__main__":
    main()
