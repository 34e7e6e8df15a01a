"""The one way to open a study: describe engine and host, check, lock, then run.

    prepared = prepare(settings, home_path, observer)
    with Home(home_path, create=True) as home, open_session(home, prepared, observer) as study:
        measure_baseline(study)

`prepare` starts the engine once to read its version and options, and finds mistakes before
anything is written. `open_session` holds the lock of the study while it is open.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from lsmtune.engines.base import Engine, EngineFacts
from lsmtune.engines.registry import engine_of
from lsmtune.errors import UserError
from lsmtune.rule import SizeRule
from lsmtune.spaces import knob_space, with_fitting_scale
from lsmtune.spec import Ground, StudySettings
from lsmtune.store.home import Home, is_home
from lsmtune.study.busy import busy_remark
from lsmtune.study.copied_runs import copy_runs
from lsmtune.study.description import describe, rule_of_new
from lsmtune.study.disk_space import check_space
from lsmtune.study.observer import Observer
from lsmtune.study.online import check_objective
from lsmtune.study.same_system import check_same_system
from lsmtune.study.session import Session, open_study
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.system.workdir import scratch


@dataclass(frozen=True, slots=True)
class Prepared:
    """A study that can be opened: its settings, its engine, and what the engine reported.

    `source` names a study whose runs count for this one too.
    """

    spec: StudySettings
    engine: Engine
    facts: EngineFacts
    ground: Ground
    source: str | None = None


def prepare(
    spec: StudySettings,
    home_path: Path,
    observer: Observer,
    *,
    source: str | None = None,
    source_rule: str | None = None,
    published: bool = False,
) -> Prepared:
    """Start the engine once to read its version and options, and fit the scale to the baseline.

    The runs of the study `source` also count for this one. A new study has the rule of sizes of
    the study `source_rule`; a `published` one keeps the sizes of a paper and has no rule. Nothing
    is written outside a temporary folder.
    UserError if engine, baseline, knobs, memory, scale or optimizer cannot be used.
    """
    engine = engine_of(spec)
    rule = rule_of(spec, home_path, source or source_rule, published=published)
    if spec.online is not None:
        check_objective(spec)
    starting = f"starting {spec.engine} to read its version and options"
    with scratch() as folder, observer.working(starting):
        facts, ground = describe(spec, engine, folder, rule)
    if spec.memory is not None and spec.screen is None and spec.sweep is None and rule is None:
        _check_full_size(spec, ground)
    fitting, remark = with_fitting_scale(spec, ground)
    if remark is not None:
        observer.remark(remark)
    return Prepared(fitting, engine, facts, ground, source)


@contextmanager
def open_session(
    home: Home,
    prepared: Prepared,
    observer: Observer,
    *,
    accept_noise: bool = False,
    check_disk: bool = True,
) -> Iterator[Session]:
    """Open a study for runs, new or as an earlier call left it, and hold its lock.

    With `accept_noise`, runs that other programs disturb are marked and not repeated. The observer
    hears if other programs use too much CPU time. UserError if the disk may be too small, if
    another process works on the study, or if the study exists with other settings or ran on
    another system. Without `check_disk`, the caller checks the disk for the runs that it plans.
    """
    spec = prepared.spec
    if prepared.source is not None:
        host, storage = describe_host(), describe_storage(home.path)
        check_same_system(home.study(prepared.source), spec, prepared.facts, host, storage)
    if check_disk:
        check_space(spec, home)
    found = (prepared.facts, prepared.ground)
    with (
        observer.running(spec) as listener,
        open_study(
            home, spec, prepared.engine, listener, found, accept_noise=accept_noise
        ) as study,
    ):
        if prepared.source is not None:
            copy_runs(home, home.study(prepared.source), study.stored)
        listener.recall(study.trials())
        if (remark := busy_remark(spec, accept_noise=accept_noise)) is not None:
            observer.remark(remark)
        yield study


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


def _check_full_size(spec: StudySettings, ground: Ground) -> None:
    """Raise UserError if the memory limit does not fit the full-size tree of the exported file."""
    try:
        knob_space(spec, ground, Fraction(1))
    except UserError as error:
        raise UserError(
            error.message,
            "; the file to deploy has options for scale 1, so the limit applies there too",
        ) from error
