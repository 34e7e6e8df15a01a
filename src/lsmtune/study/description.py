"""What a study starts from: the facts of the engine, its baseline and its knobs."""

from pathlib import Path

from lsmtune.engines.base import Engine, EngineFacts, OwnBase
from lsmtune.engines.option_files import base_text, check_readable
from lsmtune.engines.rocksdb.own_families import check_default_family
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.optimizers.registry import is_removed, make_optimizer
from lsmtune.reading import read_text
from lsmtune.rule import SizeRule
from lsmtune.spaces import knob_space, new_rule, with_fitting_scale
from lsmtune.spec import Ground, StudySettings
from lsmtune.study.version_spaces import version_spaces
from lsmtune.system.cores import usable_cores
from lsmtune.system.host import describe_host
from lsmtune.system.workdir import workdir
from lsmtune.workloads import Workload

_WITH_FAMILIES = ("rocksdb", "simulated")
"""Engines that tune one column family of the user's OPTIONS file."""


def check_files(load: Workload) -> None:
    """Raise UserError if a file or folder that the workload names cannot be read."""
    for path in load.file_paths:
        try:
            path.stat()
        except OSError as error:
            raise UserError(f"workload: cannot read the file {path}: {error.strerror}") from error


def rule_of_new(spec: StudySettings) -> SizeRule | None:
    """Return the rule of sizes of a new study on this host."""
    return new_rule(spec, spec.deploy_cores or usable_cores())


def describe(
    spec: StudySettings, engine: Engine, folder: Path, rule: SizeRule | None = None
) -> tuple[EngineFacts, Ground]:
    """Return the facts of the engine and the context of a study with this rule of sizes.

    It works in a folder of its own in `folder`. UserError where the engine, the user's base, the
    knobs, the memory, the scale or the optimizer cannot be used. A stored study whose optimizer was
    removed can be described, because most of its runs need no optimizer.
    """
    if not is_removed(spec.optimizer):
        make_optimizer(spec.optimizer)
    check_files(spec.workload)
    own = _own_base(spec)
    with workdir(folder, f"{spec.name}-describe") as directory:
        facts = engine.describe(directory)
        base = engine.base(facts, own, directory)
    catalogue = engine.catalogue.with_families(spec.workload.column_families)
    ground = Ground(catalogue, base, describe_host().max_open_files, rule)
    fitting, _ = with_fitting_scale(spec, ground)
    version_spaces(fitting, ground)
    knob_space(fitting, ground)
    return facts, ground


def _own_base(spec: StudySettings) -> OwnBase | None:
    _check_family(spec)
    if spec.base is None:
        return None
    text = read_text(Path(spec.base), f"base: {spec.base}")
    check_readable(text, spec.base, spec.engine)
    options, notes = base_text(text, spec.base)
    if spec.engine in _WITH_FAMILIES and "family" not in spec.model_fields_set:
        check_default_family(options, Path(spec.base), spec.family)
    return OwnBase(options, spec.family, notes)


def _check_family(spec: StudySettings) -> None:
    """Raise UserError for a column family that the study cannot tune."""
    if spec.family == DEFAULT_FAMILY:
        return
    if spec.engine not in _WITH_FAMILIES:
        raise UserError(
            f"family: not used by engine {spec.engine}; remove ",
            Argument("family", flag="--family (key family)"),
        )
    if spec.base is None:
        raise UserError(
            f"family: {spec.family!r} is not in any file; name your OPTIONS file with ",
            Argument("base", flag="--base (key base)"),
        )
