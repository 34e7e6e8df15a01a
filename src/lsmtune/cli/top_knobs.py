"""`--knobs top:6`: the knobs that a screening found to matter."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsmtune.analysis.importance import DEFAULT_METRICS, Runs, knob_ranking, runs_of
from lsmtune.analysis.screened import screened_lines
from lsmtune.errors import UserError
from lsmtune.recipes.jin2022.study import shipped
from lsmtune.spec import StudySpec, catalogue_of, make_spec
from lsmtune.store.home import Home

_SHIPPED_ENGINE, _SHIPPED_LOAD = "rocksdb", "fillrandom"


def top_knobs(wanted: str, given: Mapping[str, Any], home: Path) -> tuple[str, str]:
    """The list of knobs that `top:N` stands for, and what it rests on.

    UserError where N is no number, or nothing has been screened under the load.
    """
    count = wanted.removeprefix("top:")
    if not count.isdecimal() or int(count) == 0:
        raise UserError(f"knobs: {wanted!r}: write top:N with N >= 1, for example top:6")
    rest = {key: value for key, value in given.items() if key != "knobs"}
    spec = make_spec(rest, "command line")
    runs, source = _screened(spec, home)
    asked = spec.parsed_objective.metrics
    measured = set.intersection(*(set(line.metrics) for line in runs.first))
    metrics = [name for name in asked if name in measured] or DEFAULT_METRICS[spec.workload.kind]
    return ",".join(knob_ranking(runs, metrics)[: int(count)]), source


def _screened(spec: StudySpec, home: Path) -> tuple[Runs, str]:
    name = spec.workload.name
    if home.is_dir() and any(home.iterdir()):
        with Home(home, create=False) as opened:
            for study in reversed(opened.study_names()):
                found = StudySpec.model_validate(opened.study(study).spec)
                alike = found.engine == spec.engine and found.workload.name == name
                if found.screen is not None and alike:
                    catalogue = catalogue_of(found.engine, found.workload)
                    runs = runs_of(screened_lines(opened, study), catalogue)
                    if not runs.load_factors:  # else it does not tell of the store alone
                        return runs, f"the screening {study!r}"
    if name != _SHIPPED_LOAD or spec.engine != _SHIPPED_ENGINE:
        raise UserError(
            f"knobs: top:N needs a screening of the load {name} in {home}; measure one with "
            f"`lsmtune screen --workload {name}`"
        )
    runs = runs_of(shipped("honest"), catalogue_of(spec.engine, spec.workload))
    return runs, "the screening that ships with lsmtune"
