"""Describe engine and baseline before a study is opened, and choose the sizes of its trials."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from lsmtune.cli.progress import working
from lsmtune.engines.base import Engine, EngineFacts
from lsmtune.errors import UserError
from lsmtune.rule import SizeRule
from lsmtune.spaces import knob_space, with_fitting_scale
from lsmtune.spec import Ground, StudySpec
from lsmtune.store.home import Home, is_home
from lsmtune.studies.description import describe, rule_of_new
from lsmtune.studies.online import check_objective
from lsmtune.system.workdir import scratch


def described(spec: StudySpec, engine: Engine, rule: SizeRule | None) -> tuple[EngineFacts, Ground]:
    """Describe engine and baseline for a rule of sizes; UserError for what cannot be used."""
    if spec.online is not None:
        check_objective(spec)
    starting = f"starting {spec.engine} to read its version and options"
    with scratch() as folder, working(starting):
        facts, ground = describe(spec, engine, folder, rule)
    if spec.memory is not None and spec.screen is None and spec.sweep is None and rule is None:
        _check_full_size(spec, ground)
    return facts, ground


def rule_of(spec: StudySpec, home_path: Path, source: str | None = None) -> SizeRule | None:
    """Return the rule of sizes of the stored study, else that of its source, else a new one.

    A study whose runs another study copies must have the same rule.
    """
    if is_home(home_path):
        with Home(home_path, create=False) as home:
            for name in (spec.name, source):
                stored = None if name is None else home.find_study(name)
                if stored is not None:
                    return stored.rule
    return rule_of_new(spec)


def fitted(spec: StudySpec, ground: Ground, tell: Callable[[str], None]) -> StudySpec:
    """Return the settings with a scale that the baseline can have; say if it is another one."""
    fitting, remark = with_fitting_scale(spec, ground)
    if remark is not None:
        tell(remark)
    return fitting


def _check_full_size(spec: StudySpec, ground: Ground) -> None:
    """Raise UserError if the memory limit does not fit the full-size tree of the exported file."""
    try:
        knob_space(spec, ground, Fraction(1))
    except UserError as error:
        raise UserError(
            f"{error}; the file to deploy has options for scale 1, so the limit applies there too"
        ) from error
