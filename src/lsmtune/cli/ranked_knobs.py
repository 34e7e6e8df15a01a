"""`--knobs top:6` and `lasso:6`: the knobs that measured runs found to matter."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lsmtune.analysis.importance import (
    DEFAULT_METRICS,
    Runs,
    knob_ranking,
    lasso_ranking,
    runs_of,
)
from lsmtune.analysis.screened import screened_lines
from lsmtune.errors import UserError
from lsmtune.recipes.jin2022.study import shipped
from lsmtune.spec import StudySpec, catalogue_of, make_spec
from lsmtune.store.home import Home

Rank = Callable[[Runs, Sequence[str]], tuple[str, ...]]
"""Orders the knobs of the runs by how much they matter to the metrics."""

_RANKINGS: dict[str, Rank] = {"top": knob_ranking, "lasso": lasso_ranking}
_LASSO = "lasso"
"""The ranking that a search will do for: permutation takes more runs than a search has."""
_SHIPPED_ENGINE, _SHIPPED_LOAD = "rocksdb", "fillrandom"
_FEWEST_SEARCHED = 10
_RUNS_A_COLUMN = 3
"""With fewer configs than so many for each column an order is little more than chance."""


def ranked_knobs(wanted: str, given: Mapping[str, Any], home: Path) -> tuple[str, str]:
    """The list of knobs that `top:N` or `lasso:N` stands for, and what it rests on.

    UserError where N is no number, or nothing has been measured under the load.
    """
    ranking, _, count = wanted.partition(":")
    if not count.isdecimal() or int(count) == 0:
        raise UserError(
            f"knobs: {wanted!r}: write {ranking}:N with N >= 1, for example {ranking}:6"
        )
    rest = {key: value for key, value in given.items() if key != "knobs"}
    spec = make_spec(rest, "command line")
    runs, source = _measured(spec, home, ranking)
    asked = spec.parsed_objective.metrics
    measured = set.intersection(*(set(line.metrics) for line in runs.first))
    metrics = [name for name in asked if name in measured] or DEFAULT_METRICS[spec.workload.kind]
    names = _RANKINGS[ranking](runs, metrics)[: int(count)]
    columns = runs.design.matrix.shape[1]
    if len(runs.first) < _RUNS_A_COLUMN * columns:
        source += f" ({len(runs.first)} configs are few for {columns} columns: no more than a hint)"
    return ",".join(names), source


def _measured(spec: StudySpec, home: Path, ranking: str) -> tuple[Runs, str]:
    """The runs that the ranking rests on, and what they are.

    The newest screening of the load in the home, or the one that ships; for the Lasso else the
    trials of the study that has searched most knobs.
    """
    name = spec.workload.name
    searched: list[tuple[Runs, str]] = []
    if home.is_dir() and any(home.iterdir()):
        with Home(home, create=False) as opened:
            if (found := next(_screenings(opened, spec), None)) is not None:
                return found
            searched += _searches(opened, spec) if ranking == _LASSO else ()
    if name == _SHIPPED_LOAD and spec.engine == _SHIPPED_ENGINE:
        runs = runs_of(shipped("honest"), catalogue_of(spec.engine, spec.workload))
        return runs, "the screening that ships with lsmtune"
    if searched:
        return max(searched, key=lambda found: len(found[0].design.factors))
    raise UserError(
        f"knobs: {ranking}:N needs a screening of the load {name} in {home}; measure one with "
        f"`lsmtune screen --workload {name}`"
    )


def _screenings(home: Home, spec: StudySpec) -> Iterator[tuple[Runs, str]]:
    """The screenings under the study's load, the newest first."""
    for study, found in _studies(home, spec):
        if found.screen is not None:
            catalogue = catalogue_of(found.engine, found.workload)
            runs = runs_of(screened_lines(home, study), catalogue)
            if not runs.load_factors:  # else it does not tell of the store alone
                yield runs, f"the screening {study!r}"


def _searches(home: Home, spec: StudySpec) -> Iterator[tuple[Runs, str]]:
    """The searches under the study's load that have measured some configs, the newest first."""
    for study, found in _studies(home, spec):
        lines = [line for line in screened_lines(home, study) if line.metrics]
        configs = {tuple(sorted(line.knobs.items())) for line in lines}
        is_search = found.screen is None and found.sweep is None
        if is_search and len(configs) >= _FEWEST_SEARCHED:
            catalogue = catalogue_of(found.engine, found.workload)
            runs = runs_of(lines, catalogue, _FEWEST_SEARCHED)
            if not runs.load_factors:
                yield runs, f"the trials of the study {study!r}"


def _studies(home: Home, spec: StudySpec) -> Iterator[tuple[str, StudySpec]]:
    """The studies of the engine and the load, the newest first."""
    for study in reversed(home.study_names()):
        found = StudySpec.model_validate(home.study(study).spec)
        if found.engine == spec.engine and found.workload.name == spec.workload.name:
            yield study, found
