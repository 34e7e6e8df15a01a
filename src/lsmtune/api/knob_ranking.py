"""`--knobs top:6` and `lasso:6`: the knobs that matter most in measured runs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from lsmtune.analysis.importance import (
    Runs,
    knob_ranking,
    lasso_ranking,
    runs_of,
)
from lsmtune.analysis.screened import (
    SHIPPED_VERSION,
    has_shipped,
    nearest_shipped,
    screened_lines,
    shipped,
)
from lsmtune.engine_traits import ENGINES
from lsmtune.errors import UserError
from lsmtune.metrics.definitions import shown_metrics
from lsmtune.spec import StudySettings, catalogue_of, make_spec
from lsmtune.store.home import Home

Rank = Callable[[Runs, Sequence[str]], tuple[str, ...]]
"""Sorts the knobs of the runs by their importance for the metrics."""

_RANKINGS: dict[str, Rank] = {"top": knob_ranking, "lasso": lasso_ranking}
_LASSO = "lasso"
"""The ranking that may use the trials of a search; permutation needs more runs."""
_FEWEST_SEARCHED = 10
_RUNS_A_COLUMN = 3
"""Minimum number of configs per column for a reliable order."""


def ranked_knobs(
    wanted: str, given: Mapping[str, Any], home: Path, opened: Home | None = None
) -> tuple[str, str]:
    """Return the N knobs of `top:N` or `lasso:N` as a list, and the source of the ranking.

    Knobs that production systems leave alone are left out. `opened` is the home, if it is open.

    UserError for an invalid N, or if the workload has no measured runs.
    """
    ranking, _, count = wanted.partition(":")
    if not count.isdecimal() or int(count) == 0:
        raise UserError(
            f"knobs: invalid ranking {wanted!r}; use {ranking}:N with N >= 1, e.g. {ranking}:6"
        )
    rest = {key: value for key, value in given.items() if key != "knobs"}
    spec = make_spec(rest, f"knobs {wanted}")
    runs, source = _measured(spec, home, opened, ranking)
    asked = spec.parsed_objective.metrics
    metrics = [name for name in asked if name in runs.metrics] or shown_metrics(
        "importance", spec.workload.kind, ENGINES[spec.engine].measured
    )
    avoided = {knob.name for knob in catalogue_of(spec.engine, spec.workload).knobs if knob.avoid}
    ranked = _RANKINGS[ranking](runs, metrics)
    names = [name for name in ranked if name not in avoided][: int(count)]
    columns = runs.design.matrix.shape[1]
    if len(runs.first) < _RUNS_A_COLUMN * columns:
        source += (
            f" (not reliable: only {len(runs.first)} configs for {columns} columns of knob values)"
        )
    return ",".join(names), source


def _measured(
    spec: StudySettings, home: Path, opened: Home | None, ranking: str
) -> tuple[Runs, str]:
    """Return the runs to rank, and a description of their source.

    That is the newest screening of the workload in the home, or the one shipped with lsmtune, of
    the version nearest to the study's. For the Lasso, the trials of the search with the most knobs
    are used if there is no screening.
    """
    name = spec.workload.name
    searched: list[tuple[Runs, str]] = []
    if home.is_dir() and any(home.iterdir()):
        with nullcontext(opened) if opened else Home(home, create=False) as studies:
            if (found := next(_screenings(studies, spec), None)) is not None:
                return found
            searched += _searches(studies, spec) if ranking == _LASSO else ()
    if has_shipped(spec.engine, name):
        version = nearest_shipped(spec.rocksdb or SHIPPED_VERSION)
        runs = runs_of(shipped(version), catalogue_of(spec.engine, spec.workload))
        return runs, f"the runs of `lsmtune screen` on RocksDB {version} shipped with lsmtune"
    if searched:
        return max(searched, key=lambda found: len(found[0].design.factors))
    raise UserError(
        f"knobs: {ranking}:N needs measured runs of the workload {name} in {home}; run "
        f"`lsmtune screen --workload {name}` first"
    )


def _screenings(home: Home, spec: StudySettings) -> Iterator[tuple[Runs, str]]:
    """The screenings with the study's workload, the newest first."""
    for study, found in _studies(home, spec):
        if found.screen is not None:
            catalogue = catalogue_of(found.engine, found.workload)
            runs = runs_of(screened_lines(home, study), catalogue)
            if not runs.load_factors:  # else the workload varied too
                yield runs, f"screening {study!r}"


def _searches(home: Home, spec: StudySettings) -> Iterator[tuple[Runs, str]]:
    """The searches with the study's workload and enough configs, the newest first."""
    for study, found in _studies(home, spec):
        lines = [line for line in screened_lines(home, study) if line.metrics]
        configs = {tuple(sorted(line.knobs.items())) for line in lines}
        is_search = found.screen is None and found.sweep is None
        if is_search and len(configs) >= _FEWEST_SEARCHED:
            catalogue = catalogue_of(found.engine, found.workload)
            runs = runs_of(lines, catalogue, _FEWEST_SEARCHED)
            if not runs.load_factors:
                yield runs, f"the trials of study {study!r}"


def _studies(home: Home, spec: StudySettings) -> Iterator[tuple[str, StudySettings]]:
    """The studies with the engine, the workload and the way of measuring, the newest first."""
    for study in reversed(home.study_names()):
        stored = home.study(study)
        if stored.engine_name != spec.engine:
            continue
        found = stored.settings
        if (found.workload.name, found.measure) == (spec.workload.name, spec.measure):
            yield study, found
