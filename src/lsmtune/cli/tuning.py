"""The work of `lsmtune tune`; a module of its own so that `--help` is quick."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsmtune.analysis.continuing import FLAGS
from lsmtune.analysis.deploy import FILES, FORMATS
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.api.consent import own_study_file
from lsmtune.api.continue_study import done_text, new_text, old_rule_text, stored_settings
from lsmtune.api.readiness import busy_text, readiness
from lsmtune.api.results import results_folder, write_results
from lsmtune.api.run_time import measured_run_time, rest_text
from lsmtune.cli.checks import other_programs_percent
from lsmtune.cli.common import note, print_json, say, say_all
from lsmtune.cli.describing import described, fitted, rule_of
from lsmtune.cli.plan import disk_bytes, plan_document, plan_lines
from lsmtune.cli.progress import progress, working
from lsmtune.cli.showing import show_document, summary_lines
from lsmtune.engines.base import Engine, EngineFacts, LiveEngine
from lsmtune.engines.registry import engine_of
from lsmtune.errors import LsmtuneError, UserError, with_places
from lsmtune.optimizers.registry import published_name
from lsmtune.report.baseline_text import baseline_lines, cache_lines, measured_lines, online_lines
from lsmtune.report.words import Ratio, counted, option_value
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySpec
from lsmtune.spec_defaults import SYSTEM_KEYS, unused_online
from lsmtune.store.home import Home, check_writable
from lsmtune.store.ranking import base_runs
from lsmtune.studies import runner
from lsmtune.studies.copied_runs import copy_runs
from lsmtune.studies.description import rule_of_new
from lsmtune.studies.enough_data import study_must_flush
from lsmtune.studies.noise_floor import noise_floor
from lsmtune.studies.online import Step, tune_online
from lsmtune.studies.same_system import check_same_system, system_notes
from lsmtune.studies.simplify import simplify_new_winner
from lsmtune.studies.study import Study, open_study
from lsmtune.studies.verify import verify_contenders
from lsmtune.system.host import describe_host, describe_storage, free_bytes
from lsmtune.tables import Online
from lsmtune.units import format_bytes


def given_settings(
    study_file: Path | None,
    flags: Mapping[str, Any],
    workload: str | None,
    num: int | None,
    home: Path | None = None,
) -> dict[str, Any]:
    """Return the settings of the study file, replaced by those of the flags.

    Without a study file, they are those of the stored study that the flags name in `home`. The
    flags that name a RocksDB are left to `name_rocksdb`.
    """
    if study_file:
        given = own_study_file(study_file)
    else:
        given = stored_settings(home, flags.get("study")) if home else {}
    given |= {k: v for k, v in flags.items() if v is not None and k not in SYSTEM_KEYS}
    if workload is not None or num is not None:
        given["workload"] = merged_workload(given.get("workload"), workload, num)
    return given


def flag_names(
    flags: Mapping[str, Any], workload: str | None = None, num: int | None = None
) -> dict[str, str]:
    """Return the flag of each setting that the command line gave, for messages.

    --db-bench is not among them, because the variable or a file may have given the program.
    """
    names = {
        key: FLAGS.get(key, f"--{key.replace('_', '-')}")
        for key, value in flags.items()
        if value is not None and key != "program"
    }
    names |= {} if workload is None else {"workload.name": "--workload"}
    return names | ({} if num is None else {"workload.num": "--num"})


def merged_workload(given: Any, name: str | None, num: int | None) -> Any:
    """Return the workload of the study file with the values of the flags.

    A value of the wrong type is returned unchanged.
    """
    if not isinstance(given, str | dict | None):
        return given
    table = {"name": given} if isinstance(given, str) else dict(given or {})
    if name is not None:
        table["name"] = name
    if num is not None:
        table["num"] = num
    return table


def apply_switches(
    given: dict[str, Any],
    study_file: Path | None,
    flags: Mapping[str, Any],
    *,
    online: bool,
    as_published: bool,
) -> None:
    """Put --online and --as-published into the settings.

    UserError if the user set something that has no effect on online tuning.
    """
    if online:
        given.setdefault("online", {})
    if as_published:
        given["optimizer"] = published_name(given.get("optimizer", "tpe"))
    if given.get("online") is not None:
        _check_online(given, study_file, flags)


def _check_online(
    given: Mapping[str, Any], study_file: Path | None, flags: Mapping[str, Any]
) -> None:
    """Raise UserError if the user set something that has no effect on online tuning.

    Without a study file, `given` may be the settings of a stored study, which has a value for each
    key. So only the flags count then.
    """
    problem = unused_online(given if study_file else flags)
    if problem is not None:
        raise UserError(with_places([problem], str(study_file), flag_names(flags)))


def name_ranked_knobs(given: dict[str, Any], home: Path, tell: Callable[[str], None]) -> None:
    """Replace `top:N` or `lasso:N` by the N knobs that matter most in measured runs."""
    wanted = given.get("knobs")
    if not isinstance(wanted, str) or not wanted.startswith(("top:", "lasso:")):
        return
    from lsmtune.api.knob_ranking import ranked_knobs

    with working(f"ranking the knobs for {wanted}"):
        knobs, source = ranked_knobs(wanted, given, home)
    tell(f"knobs: {wanted} from {source}: {knobs}")
    given["knobs"] = knobs


def run(
    spec: StudySpec,
    home: Path,
    source: str | None = None,
    *,
    verbose: bool,
    accept_noise: bool,
    as_json: bool,
    dry_run: bool = False,
) -> None:
    """Tune, between runs or online; print the JSON document if requested.

    With `dry_run`, only print the plan. The runs of the study `source`, if given, also count for
    this one.

    The result is on standard output, remarks are on standard error.
    """
    if dry_run:
        print_plan(spec, home, as_json=as_json, verbose=verbose)
        return
    tell_result = note if as_json else say
    if spec.online is not None:
        if accept_noise:
            raise UserError(
                "--accept-noise: not allowed with [online], which repeats no run; remove the flag"
            )
        document = run_online(spec, home, tell_result, verbose=verbose)
    else:
        document = run_study(
            spec, home, note, tell_result, source, verbose=verbose, accept_noise=accept_noise
        )
    if as_json:
        print_json(document)


def run_study(
    spec: StudySpec,
    home_path: Path,
    tell: Callable[[str], None],
    tell_result: Callable[[str], None],
    source: str | None = None,
    *,
    verbose: bool = False,
    accept_noise: bool = False,
) -> dict[str, Any]:
    """Tune, verify, write page and files, print where they are; return the JSON of `show`.

    `tell` prints remarks, `tell_result` the result.
    """
    for table, given in (("screen", spec.screen), ("sweep", spec.sweep)):
        if given is not None:
            raise UserError(
                f"[{table}]: `lsmtune tune` cannot run a study with this table; use "
                f"`lsmtune {table}`"
            )
    engine = engine_of(spec)
    # Before a folder is made: it finds mistakes.
    found = described(spec, engine, rule_of(spec, home_path, source))
    spec = fitted(spec, found[1], tell)
    with Home(home_path, create=True) as home:
        if source is not None:
            host, storage = describe_host(), describe_storage(home.path)
            check_same_system(home.study(source), spec, found[0], host, storage)
        with opened_for_runs(home, spec, engine, found, accept_noise=accept_noise) as study:
            if source is not None:
                copy_runs(home, home.study(source), study.stored)
            done = study.trials()
            tell(done_text(spec.name, done) if done else new_text(spec.name, home.path))
            if study.ground.rule is None and rule_of_new(spec) is not None:
                tell(old_rule_text(spec.name))
            for remark in system_notes(study.stored, spec, describe_host()):
                tell(remark)
            for remark in (*baseline_lines(found[1].base, verbose=verbose),
                           *cache_lines(spec, found[1])):  # fmt: skip
                tell(f"baseline: {remark}")
            knobs = len(study.space.knobs)
            study.measure_base(lambda run_s: tell(rest_text(spec, knobs, run_s)))
            must = study_must_flush(spec, study.objective.needed)
            runs, floors = base_runs(study.trials()), noise_floor(study)
            for line in measured_lines(runs, floors, must_flush=must):
                tell(line)
            study.tune(lambda ended: tell(f"search ended: {ended}"))
            if spec.simplify:
                simplify_new_winner(study)
            if spec.pairs:
                verify_contenders(study)
        view = read_study(home, spec.name)
        say_results(home, view, tell_result)
        return show_document(view)


def say_results(home: Home, view: StudyView, tell_result: Callable[[str], None]) -> None:
    """Print the result of a study, and write its page and its files."""
    for line in summary_lines(view):
        tell_result(line)
    write_results(home, view, tell_result)


def run_online(
    spec: StudySpec, home_path: Path, tell_result: Callable[[str], None], *, verbose: bool
) -> dict[str, Any]:
    """Tune a running engine, print each step, write the result; return the steps as JSON."""
    table = spec.online or Online()
    engine = engine_of(spec)
    if not isinstance(engine, LiveEngine):
        raise TypeError(f"the engine {spec.engine} cannot be tuned while it runs")
    found = described(spec, engine, rule_of(spec, home_path))
    spec = fitted(spec, found[1], note)
    for remark in (*baseline_lines(found[1].base, verbose=verbose),
                   *online_lines(spec, found[1])):  # fmt: skip
        note(f"baseline: {remark}")
    steps: list[Step] = []

    def on_step(step: Step) -> None:
        steps.append(step)
        note(_step_line(step, spec.number_of_trials, study.objective.metrics[0]))

    problem: LsmtuneError | None = None
    with Home(home_path, create=True) as home:
        check_space(spec, home)
        with progress(spec) as listener, open_study(home, spec, engine, listener, found) as study:
            say_if_busy(spec, accept_noise=False)
            if done := len(study.trials()):
                note(
                    f"study {spec.name!r}: earlier calls tried {counted(done, 'change')}; this "
                    "call starts again from the baseline"
                )
            base = kept = study.space.default()
            try:
                kept = tune_online(study, engine, table, on_step)
            except KeyboardInterrupt:
                problem = LsmtuneError(
                    f"interrupted after {counted(len(steps), 'change')}; the same command starts "
                    "again from the baseline"
                )
            except LsmtuneError as error:
                problem = error
        if steps or problem is None:
            view = read_study(home, spec.name)
            say_results(home, view, tell_result)
    if problem is not None:
        raise problem
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
        "options": str(results_folder(home, view) / FILES[FORMATS[spec.engine][0]]),
    }


def _step_line(step: Step, trials: int, metric: str) -> str:
    changes = step.config.differing(step.previous)
    changed = ", ".join(f"{k} = {option_value(v)}" for k, v in changes.items())
    line = f"change {step.number} of {trials} ({changed}): {step.judgement.meaning}: {step.reason}"
    if step.cost is None:
        return line
    ratio = Ratio.of(step.cost).gain(metric)  # turned back: with / without the change
    return f"{line}; with / without the change: {ratio}"


@contextmanager
def opened_for_runs(
    home: Home,
    spec: StudySpec,
    engine: Engine,
    found: tuple[EngineFacts, Ground],
    *,
    accept_noise: bool,
) -> Iterator[Study]:
    """Open a study and show the progress of its runs.

    UserError if the disk may be too small. Says if other programs use too much CPU time.
    """
    check_space(spec, home)
    with (
        progress(spec) as listener,
        open_study(home, spec, engine, listener, found, accept_noise=accept_noise) as study,
    ):
        listener.recall(study.trials())
        say_if_busy(spec, accept_noise=accept_noise)
        yield study


def check_space(spec: StudySpec, home: Home) -> None:
    """Raise UserError if the disk of the home may be too small for the trials."""
    needed, free = disk_bytes(spec), free_bytes(home.path)
    if free < needed:
        raise UserError(
            f"--home {home.path}: the disk has {format_bytes(free)} free, but the trials may need "
            f"{format_bytes(needed)}; name a folder on another disk, or use a smaller --num"
        )


def say_if_busy(spec: StudySpec, *, accept_noise: bool) -> None:
    """Say before the first run if other programs use so much CPU time that they disturb runs."""
    if spec.engine in ("simulated", "tikv"):
        return  # nothing is measured on this host, or the engine does not report other programs
    others = other_programs_percent()
    if others > runner.DISTURBED_PERCENT:
        note(busy_text(others, accept_noise=accept_noise, is_online=spec.online is not None))


def print_plan(spec: StudySpec, home: Path, *, as_json: bool, verbose: bool = False) -> None:
    """Print what `tune` would do; the engine only reports its options.

    UserError if lsmtune cannot use the home.
    """
    check_writable(home)
    facts, ground = described(spec, engine_of(spec), rule_of(spec, home))
    spec = fitted(spec, ground, note)
    space = knob_space(spec, ground)
    ready, run = readiness(spec, home, space), measured_run_time(spec, home, facts)
    if as_json:
        print_json(plan_document(spec, home, facts, ground, space, ready=ready, run=run))
        return
    lines = plan_lines(spec, home, facts, ground, space, ready=ready, run=run, verbose=verbose)
    say_all(lines)
