"""The work behind `lsmtune tune`, apart from its flags so that `--help` stays quick."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.common import print_json, say, write_file
from lsmtune.cli.exporting import options_file
from lsmtune.cli.progress import progress
from lsmtune.cli.showing import show_document, summary_lines
from lsmtune.engines.base import Engine
from lsmtune.engines.registry import make_engine
from lsmtune.errors import UserError
from lsmtune.knobs.space import KnobSpace
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.report.page import render_page
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home
from lsmtune.studies.study import make_space, open_study
from lsmtune.studies.verify import verify
from lsmtune.system.host import free_bytes
from lsmtune.units import format_bytes, format_duration

MANY_TRIALS = 100_000
"""Stands for no limit of trials where a time budget is given alone."""
_SPACE_FACTOR = 4
"""A load may for a while take this many times the bytes that it writes."""


def merged_workload(given: Any, name: str | None, num: int | None) -> Any:
    """The workload of the study file with what the flags say on top; what is none stays so."""
    if not isinstance(given, str | dict | None):
        return given
    table = {"name": given} if isinstance(given, str) else dict(given or {})
    if name is not None:
        table["name"] = name
    if num is not None:
        table["num"] = num
    return table


def run_study(spec: StudySpec, home_path: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Tune, verify, write page and options, tell where they are; the JSON of `show`."""
    engine = make_engine(spec.engine, spec.program)
    _check_choices(spec, engine)  # before a folder is made
    with Home(home_path, create=True) as home:
        _check_space(spec, home)
        with progress(spec) as listener, open_study(home, spec, engine, listener) as study:
            study.tune()
            if spec.pairs and study.best() is not None:
                verify(study, spec.scale, spec.workload)
        view = read_study(home, spec.name)
        results = home.path / "results" / spec.name
        write_file(results / "report.html", render_page(view), "page")
        for line in summary_lines(view):
            tell(line)
        tell(f"page:    {results / 'report.html'}")
        if view.best_trial is not None:
            write_file(results / "OPTIONS", options_file(home, view), "options")
            tell(f"options: {results / 'OPTIONS'}")
        return show_document(view)


def _check_choices(spec: StudySpec, engine: Engine) -> KnobSpace:
    """The knob space; UserError for knobs, memory and optimizer that there are not."""
    make_optimizer(spec.optimizer)
    return make_space(spec, engine)


def _check_space(spec: StudySpec, home: Home) -> None:
    needed, free = _SPACE_FACTOR * spec.workload.user_bytes, free_bytes(home.path)
    if free < needed:
        raise UserError(
            f"--home {home.path}: {format_bytes(free)} are free there, and the load may need "
            f"{format_bytes(needed)}; name another --home or a smaller --num"
        )


def print_plan(spec: StudySpec, home: Path, *, as_json: bool) -> None:
    """Print what `tune` would do."""
    engine = make_engine(spec.engine, spec.program)
    space = _check_choices(spec, engine)
    budget_s = spec.budget_s
    limits = [str(limit) for limit in spec.parsed_objective.limits]
    disk_bytes: int = _SPACE_FACTOR * spec.workload.user_bytes
    plan = {
        "study": spec.name,
        "home": str(home),
        "workload": spec.workload.model_dump(),
        "scale": spec.scale,
        "objective": spec.objective,
        "limits": limits,
        "memory_bytes": space.memory.limit_bytes,
        "optimizer": spec.optimizer,
        "knobs": {knob.name: knob.allowed_text() for knob in space.knobs},
        "runs": {"base": spec.base_runs, "trials": spec.trials, "pairs": spec.pairs},
        "budget_s": budget_s,
        "disk_bytes": disk_bytes,
    }
    if as_json:
        print_json(plan)
        return
    say(f"study {spec.name} in {home}: {spec.engine} under {spec.workload.model_dump_json()}")
    say(
        f"tree at scale {spec.scale}; objective {spec.objective}; limits: "
        + ("; ".join(limits) or "none")
    )
    say(f"memory for memtables + block cache: at most {format_bytes(space.memory.limit_bytes)}")
    say(f"{len(space.knobs)} knobs, searched by {spec.optimizer}:")
    for knob in space.knobs:
        say(f"  {knob.name:38} {knob.allowed_text()}")
    budget = f", or {format_duration(spec.budget_s)} of search" if spec.budget_s else ""
    say(
        f"runs: {spec.base_runs} of the base, up to {spec.trials} trials{budget}, "
        f"{spec.repeats} more of each of up to {spec.finalists} finalists, "
        f"then {spec.pairs} to {max(spec.pairs, spec.max_pairs)} pairs to verify the winner"
    )
    say(f"disk: up to {format_bytes(disk_bytes)} at a time")
