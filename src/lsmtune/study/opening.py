"""The one way to open a study: start the engine once, check, lock, then run.

    prepared = prepare(settings, home_path, observer)
    with Home(home_path, create=True) as home, open_session(home, prepared, observer) as study:
        measure_baseline(study)

`prepare` starts the engine to read its version and options, and finds mistakes before anything is
written. `open_session` holds the lock of the study while it is open.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Borrowed, Engine, EngineFacts, OwnBase
from lsmtune.engines.registry import engine_of, read_base
from lsmtune.engines.rocksdb.own_families import check_default_family
from lsmtune.errors import Argument, UserError
from lsmtune.hosts.commander import Hosts
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.optimizers.registry import check_optimizer
from lsmtune.progress import Observer
from lsmtune.reading import read_text
from lsmtune.spaces import (
    KnobSpaces,
    memory_limits,
    new_rule,
    with_fitting_scale,
)
from lsmtune.spec import Ground, StudySettings
from lsmtune.spec_defaults import with_fitting_measure
from lsmtune.store.database import is_home
from lsmtune.store.home import Home
from lsmtune.store.records import EngineRecord, NewTrial, StoredStudy, StudyHost
from lsmtune.study.earlier import check_earlier
from lsmtune.study.online import check_objective
from lsmtune.study.same_system import check_same_system, foreign_engine
from lsmtune.study.session import Session
from lsmtune.study.sweep import plan
from lsmtune.system.host import describe_host, describe_storage, usable_cores
from lsmtune.system.lock import study_lock
from lsmtune.system.workdir import scratch, sweep_workdirs, workdir
from lsmtune.trials import Role, SizeRule, Status
from lsmtune.workloads import Workload

_COPIED_ROLES = (Role.RATE, Role.BASE, Role.TRIAL, Role.REPEAT)
_NOT_COPIED = (Status.CUT, Status.DISTURBED)
"""Runs that were cut short because of the earlier objective, or were repeated."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A study that can be opened: its settings, its engine, and what the engine reported.

    `source` names a study whose runs count for this one too.
    """

    spec: StudySettings
    engine: Engine
    facts: EngineFacts
    spaces: KnobSpaces
    source: str | None = None

    @property
    def ground(self) -> Ground:
        """The context of the study's knobs."""
        return self.spaces.ground

    @property
    def engine_record(self) -> EngineRecord:
        """The facts of the engine, and the baseline, as they are stored."""
        facts = self.facts
        found = {version: one.origin for version, one in facts.versions.items()}
        return EngineRecord(
            version=facts.version,
            program=facts.program,
            assertions_enabled=facts.assertions_enabled,
            origin=facts.origin,
            versions={version: one for version, one in found.items() if one is not None},
            base=self.ground.base,
            described=foreign_engine(self.spec.engine),
        )


def prepare(
    spec: StudySettings,
    home_path: Path,
    observer: Observer,
    *,
    engine: Engine | None = None,
    source: str | None = None,
    source_rule: str | None = None,
    published: bool = False,
) -> Prepared:
    """Start the engine once to read its version and options, and fit the scale to the baseline.

    The engine is that of the settings, if none is given. The runs of the study `source` also count
    for this one. A new study has the rule of sizes of the study `source_rule`; a `published` one
    keeps the sizes of a paper and has no rule. Nothing is written outside a temporary folder.
    UserError if engine, baseline, knobs, memory, scale or optimizer cannot be used.
    """
    engine = engine or engine_of(spec)
    rule = rule_of(spec, home_path, source or source_rule, published=published)
    if spec.online is not None:
        check_objective(spec)
    starting = f"starting {spec.engine} to read its version and options"
    with scratch() as folder, observer.working(starting):
        facts, ground = describe(spec, engine, folder, rule)
    measured, other_way = with_fitting_measure(spec, ground.base.settings)
    fitting, other_scale = with_fitting_scale(measured, ground)
    for remark in filter(None, (other_way, other_scale)):
        observer.remark(remark)
    spaces = KnobSpaces(fitting, ground)
    if spec.memory is not None and spec.screen is None and spec.sweep is None and rule is None:
        _check_full_size(spaces)
    spaces.check()
    if fitting.sweep is not None:
        plan(spaces, fitting.sweep)  # so a wrong value is found before the study is stored
    return Prepared(fitting, engine, facts, spaces, source)


def describe(
    spec: StudySettings, engine: Engine, folder: Path, rule: SizeRule | None = None
) -> tuple[EngineFacts, Ground]:
    """Return the facts of the engine and the context of a study with this rule of sizes.

    It works in a folder of its own in `folder`. UserError where the engine, the user's base or the
    optimizer cannot be used.
    """
    check_optimizer(spec.optimizer)
    check_files(spec.workload)
    own = _own_base(spec)
    with workdir(folder, f"{spec.name}-describe") as directory:
        facts = engine.describe(directory)
        base = engine.base(facts, own, directory)
    catalogue = engine.catalogue.with_families(spec.workload.column_families)
    return facts, Ground(catalogue, base, describe_host().max_open_files, rule)


def rule_of(
    spec: StudySettings, home_path: Path, source: str | None = None, *, published: bool = False
) -> SizeRule | None:
    """Return the rule of sizes of the stored study, else that of its source, else a new one.

    A study whose runs another study copies must have the same rule.
    """
    if is_home(home_path):
        with Home(home_path, create=False) as home:
            for name in (spec.name, source):
                stored = None if name is None else home.find_study(name)
                if stored is not None:
                    return stored.rule
    return None if published else rule_of_new(spec)


def rule_of_new(spec: StudySettings) -> SizeRule | None:
    """Return the rule of sizes of a new study on this host."""
    return new_rule(spec, spec.deploy_cores or usable_cores())


def _check_full_size(spaces: KnobSpaces) -> None:
    """Raise UserError if the memory limit does not fit the full-size tree of the exported file."""
    try:
        spaces.at(Fraction(1))
    except UserError as error:
        raise UserError(
            error.message,
            "; the file to deploy has options for scale 1, so the limit applies there too",
        ) from error


def check_files(load: Workload) -> None:
    """Raise UserError if a file or folder that the workload names cannot be read."""
    for path in load.file_paths:
        try:
            path.stat()
        except OSError as error:
            raise UserError(f"workload: cannot read the file {path}: {error.strerror}") from error


def _own_base(spec: StudySettings) -> OwnBase | None:
    _check_family(spec)
    if spec.base is None:
        return None
    text = read_text(Path(spec.base), f"base: {spec.base}")
    options, notes = read_base(text, spec.base, spec.engine)
    if "family" in ENGINES[spec.engine].uses and "family" not in spec.model_fields_set:
        check_default_family(options, Path(spec.base), spec.family)
    return OwnBase(options, spec.family, notes)


def _check_family(spec: StudySettings) -> None:
    """Raise UserError for a column family of no file."""
    if spec.family != DEFAULT_FAMILY and spec.base is None:
        raise UserError(
            f"family: {spec.family!r} is not in any file; name your OPTIONS file with ",
            Argument("base", flag="--base (key base)"),
        )


@contextmanager
def open_session(
    home: Home,
    prepared: Prepared,
    observer: Observer,
    *,
    accept_noise: bool = False,
    hosts: Hosts | None = None,
) -> Iterator[Session]:
    """Open a study for runs, new or as an earlier call left it, and hold its lock.

    With `accept_noise`, runs that other programs disturb are marked and not repeated. With `hosts`,
    runs go to them, and what they ran for a call that was killed is stored first. UserError if
    another process works on the study, or if the study exists with other settings or ran on
    another system.
    """
    spec, engine = prepared.spec, prepared.engine
    with observer.running(spec) as listener, study_lock(home.lock_path(spec.name), _study(spec)):
        source = None if prepared.source is None else home.study(prepared.source)
        if source is not None:
            _check_system(home, source, prepared)
        sweep_workdirs(home.work)
        found = home.find_study(spec.name)
        stored = _create(home, prepared) if found is None else _continued(home, found, prepared)
        try:
            if source is not None:
                copy_runs(home, source, stored)
            session = Session(
                home, stored, prepared.spaces, engine, listener, accept_noise=accept_noise,
                hosts=hosts, tell=observer.remark,
            )  # fmt: skip
            listener.recall(session.trials())
            yield session
        finally:
            if isinstance(engine, Borrowed):
                engine.give_back()


def _study(spec: StudySettings) -> str:
    return f"study {spec.name!r}"


def _create(home: Home, prepared: Prepared) -> StoredStudy:
    spec, rule = prepared.spec, prepared.ground.rule
    if spec.warm_start is not None:
        check_earlier(home, spec)
    limits = (*spec.parsed_objective.limits, *memory_limits(spec, rule))
    return home.add_study(
        spec.name,
        spec.model_dump(mode="json"),
        prepared.engine_record,
        StudyHost(**asdict(describe_host()), storage=describe_storage(home.path)),
        limits,
        rule=rule,
    )


def _continued(home: Home, stored: StoredStudy, prepared: Prepared) -> StoredStudy:
    """Return the stored study with the settings of this call; UserError if it is another study."""
    spec = prepared.spec
    _check_is_the_same(stored, spec)
    _check_system(home, stored, prepared)
    stored = home.update_spec(stored, spec.model_dump(mode="json"))
    home.sweep_evidence(stored)
    return stored


def _check_system(home: Home, stored: StoredStudy, prepared: Prepared) -> None:
    """Raise UserError if engine or host are not those of the stored runs."""
    host, storage = describe_host(), describe_storage(home.path)
    check_same_system(stored, prepared.spec, prepared.facts, host, storage)


def _check_is_the_same(stored: StoredStudy, spec: StudySettings) -> None:
    before = stored.settings
    if not (changed := spec.changed_since(before)):
        return
    then, now = before.lasting(), spec.lasting()
    changes = ", ".join(
        f"{key} was {then.get(key)!r} and is now {now.get(key)!r}" for key in changed
    )
    raise UserError(
        f"study {spec.name!r} exists with other settings ({changes}); choose another ",
        Argument("study"),
    )


def copy_runs(home: Home, source: StoredStudy, target: StoredStudy) -> None:
    """Copy the runs of a study that the other one does not have yet.

    The configs, workload and engine of both studies must be the same.
    """
    known = {trial.started_at for trial in home.trials(target)}
    for trial in home.trials(source):
        usable = trial.role in _COPIED_ROLES and trial.result.status not in _NOT_COPIED
        if not usable or trial.started_at in known:
            continue
        new = NewTrial(
            trial.role,
            trial.config,
            trial.spec,
            trial.result,
            trial.started_at,
            trial.duration_s,
            host=trial.host,
        )
        home.add_trial(target, new, home.evidence_files(trial))
