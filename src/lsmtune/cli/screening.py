"""The work of `lsmtune screen`; a module of its own so that `--help` is quick."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lsmtune.analysis.measurable import disturbed_text, flushes_text, too_few_flushes
from lsmtune.analysis.screened import screened_lines
from lsmtune.batch import read_batch
from lsmtune.cli.describing import described, fitted, rule_of
from lsmtune.cli.tuning import opened_for_runs
from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError, UserError
from lsmtune.spec import StudySpec, catalogue_of
from lsmtune.spec_defaults import NO_MEMORY_LIMIT, WITHOUT_SEARCH
from lsmtune.store.home import Home
from lsmtune.studies.screen import screen, usable_lines
from lsmtune.system.host import describe_host
from lsmtune.system.write import write_file

_CONFIGS = 200
_CPUS_A_RUN = 2


def with_screen(given: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a screening; a batch file also gives knobs and workload."""
    stated = given.get("screen", {})
    if not isinstance(stated, dict):
        return {**given}  # checked with the other settings
    screen_table = {**stated, **table}
    settings = {"trials": _CONFIGS, **given, "screen": screen_table, **WITHOUT_SEARCH}
    batch = screen_table.get("batch")
    return settings if batch is None else {**settings, **_batch_settings(given, Path(str(batch)))}


def _batch_settings(given: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The settings that the lines contain; UserError if they are given again."""
    for key in ("knobs", "scale", "workload", "base", "cache", "trials"):
        if key in given:
            raise UserError(f"{key}: not allowed with --batch, because the batch file sets {key}")
    usable = usable_lines(path, read_batch(path))
    load, engine = usable[0].workload, usable[0].engine
    catalogue = catalogue_of(engine, load)
    inert = {knob.name for knob in catalogue.knobs if knob.inert is not None}
    names = dict.fromkeys(name for line in usable for name in line.knobs if name not in inert)
    return {
        "knobs": ",".join(names),
        "scale": "1",
        "engine": given.get("engine", engine),
        "workload": load.model_dump(),
        "memory": given.get("memory", NO_MEMORY_LIMIT),
    }


def run_screening(
    spec: StudySpec,
    home_path: Path,
    output: Path | None,
    jobs: int | None,
    tell: Callable[[str], None],
    *,
    accept_noise: bool = False,
) -> dict[str, Any]:
    """Measure the configs, write the runs as JSON lines, print where they are."""
    if spec.screen is None:
        raise LsmtuneError(
            "screen: the study file has no table [screen]; add [screen] to the study file"
        )
    if spec.engine == "tikv" and jobs not in (None, 1):
        raise UserError(
            f"--jobs: invalid value {jobs}; TiKV runs one workload at a time, so only 1 is allowed"
        )
    engine = engine_of(spec)
    table = spec.screen
    found = described(spec, engine, rule_of(spec, home_path))
    spec = fitted(spec, found[1], tell)
    with Home(home_path, create=True) as home:
        with opened_for_runs(home, spec, engine, found, accept_noise=accept_noise) as study:
            most = 1 if spec.engine == "tikv" else describe_host().logical_cpus // _CPUS_A_RUN
            side_by_side = jobs or max(1, most)
            remark = screen(study, table, side_by_side)
        if remark is not None:
            tell(f"lsmtune ran one config at a time: {remark}")
        lines = screened_lines(home, spec.name)
        path = output or home.path / "results" / spec.name / "runs.jsonl"
        text = "".join(f"{line.to_json()}\n" for line in lines)
        write_file(path, text, "runs", home.path)
    failed = sum(line.error is not None for line in lines)
    tell(f"runs: {path} ({len(lines)} runs, {failed} failed)")
    few = too_few_flushes(line.metrics for line in lines)
    if few:
        tell(flushes_text(few, len(lines)))
    disturbed = sum(line.disturbance is not None for line in lines)
    if disturbed:
        tell(disturbed_text(disturbed))
    return {
        "study": spec.name,
        "runs": len(lines),
        "failed": failed,
        "few_flushes": few,
        "disturbed_runs": disturbed,
        "output": str(path),
    }
