"""The work behind `lsmtune tune`, apart from its flags so that `--help` stays quick."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsmtune.analysis.read_study import read_study
from lsmtune.cli.common import print_json, say, write_file
from lsmtune.cli.exporting import deployment, online_file
from lsmtune.cli.plan import disk_bytes, plan_document, plan_lines
from lsmtune.cli.progress import progress
from lsmtune.cli.showing import show_document, summary_lines
from lsmtune.engines.base import Engine, EngineFacts
from lsmtune.engines.myrocks import MyRocks
from lsmtune.engines.registry import make_engine
from lsmtune.errors import UserError
from lsmtune.report.page import render_page
from lsmtune.spec import Ground, StudySpec
from lsmtune.store.home import Home
from lsmtune.studies.online import Step, tune_online
from lsmtune.studies.study import describe, open_study
from lsmtune.studies.verify import verify_contenders
from lsmtune.system.host import free_bytes
from lsmtune.tables import Online
from lsmtune.units import format_bytes
from lsmtune.workloads import PRESETS


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


def name_program(given: dict[str, Any], db_bench: str | None) -> None:
    """Put the db_bench of the flag into the settings, where db_bench is what runs the load."""
    load = given.get("workload")
    name = load.get("name") if isinstance(load, dict) else load
    own = PRESETS[name].engine if isinstance(name, str) and name in PRESETS else "rocksdb"
    if db_bench is not None and given.get("engine", own) == "rocksdb":
        given.setdefault("program", db_bench)


def name_ranked_knobs(given: dict[str, Any], home: Path, tell: Callable[[str], None]) -> None:
    """Put the knobs that measured runs found to matter in the place of `top:N` or `lasso:N`."""
    wanted = given.get("knobs")
    if not isinstance(wanted, str) or not wanted.startswith(("top:", "lasso:")):
        return
    from lsmtune.cli.ranked_knobs import ranked_knobs

    knobs, source = ranked_knobs(wanted, given, home)
    tell(f"knobs: {wanted} of {source}: {knobs}")
    given["knobs"] = knobs


def run_study(spec: StudySpec, home_path: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Tune, verify, write page and options, tell where they are; the JSON of `show`."""
    for table, given in (("screen", spec.screen), ("sweep", spec.sweep)):
        if given is not None:
            raise UserError(
                f"{table}: a study with this table is no search; `lsmtune {table}` runs it"
            )
    engine = make_engine(spec.engine, spec.program, spec.tikv)
    found = described(spec, engine)  # what is wrong is told before a folder is made
    for remark in found[1].base.notes:
        tell(f"baseline: {remark}")
    if left_out := found[1].base.left_out:
        tell(f"baseline: {len(left_out)} options of {spec.base} are left out")
    with Home(home_path, create=True) as home:
        check_space(spec, home)
        with (
            progress(spec) as listener,
            open_study(home, spec, engine, listener, found) as study,
        ):
            study.tune(lambda ended: tell(f"search ended: {ended}"))
            if spec.pairs:
                verify_contenders(study)
        view = read_study(home, spec.name)
        results = home.path / "results" / spec.name
        write_file(results / "report.html", render_page(view), "page")
        for line in summary_lines(view):
            tell(line)
        tell(f"page:    {results / 'report.html'}")
        if view.best_trial is not None:
            files = deployment(home, view)
            write_file(results / files.name, files.options, "options")
            write_file(results / f"{files.name}.back", files.back, "options")
            tell(f"options: {results / files.name}  (the way back: {files.name}.back)")
        return show_document(view)


def run_online(spec: StudySpec, home_path: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Tune a running engine, tell each step, write what is kept; the steps as JSON."""
    table = spec.online or Online()
    engine = make_engine(spec.engine, spec.program, spec.tikv)
    if not isinstance(engine, MyRocks):
        raise UserError(f"online: the engine {spec.engine} is tuned between runs only")
    found = described(spec, engine)
    steps: list[Step] = []

    def told(step: Step) -> None:
        steps.append(step)
        cost = "" if step.cost is None else f" {step.cost.median:.3f} x ({step.cost.low:.3f} to "
        cost += "" if step.cost is None else f"{step.cost.high:.3f}) of what was set,"
        tell(f"change {step.number} of {spec.trials}:{cost} {step.judgement}: {step.reason}")

    with Home(home_path, create=True) as home:
        check_space(spec, home)
        with progress(spec) as listener, open_study(home, spec, engine, listener, found) as study:
            kept = tune_online(study, engine, table, told)
            base = study.space.default()
        path = home.path / "results" / spec.name / "my.cnf"
        write_file(path, online_file(home, spec.name, kept), "options")
    tell(f"options: {path}")
    return {
        "study": spec.name,
        "kept": kept.differing(base),
        "steps": [
            {
                "number": step.number,
                "config": step.config.differing(base),
                "judgement": step.judgement,
                "reason": step.reason,
                "cost": step.cost and asdict(step.cost),
                "base": step.base,
            }
            for step in steps
        ],
        "options": str(path),
    }


def described(spec: StudySpec, engine: Engine) -> tuple[EngineFacts, Ground]:
    """The engine and what the study stands on; UserError for what cannot be used."""
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        return describe(spec, engine, Path(folder))


def check_space(spec: StudySpec, home: Home) -> None:
    """UserError where the home's disk may not hold what trials write."""
    needed, free = disk_bytes(spec), free_bytes(home.path)
    if free < needed:
        raise UserError(
            f"--home {home.path}: {format_bytes(free)} are free there, and the load may need "
            f"{format_bytes(needed)}; name another --home or a smaller --num"
        )


def print_plan(spec: StudySpec, home: Path, *, as_json: bool) -> None:
    """Print what `tune` would do; the engine is only asked for its options."""
    facts, ground = described(spec, make_engine(spec.engine, spec.program, spec.tikv))
    space = spec.space(ground)
    if as_json:
        print_json(plan_document(spec, home, facts, ground, space))
        return
    for line in plan_lines(spec, home, facts, ground, space):
        say(line)
