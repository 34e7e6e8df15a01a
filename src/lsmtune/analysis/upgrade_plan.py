"""The experiment that compares a study's winner and baseline on several versions of RocksDB."""

from collections.abc import Sequence
from typing import Any

from lsmtune.errors import UserError
from lsmtune.experiment import VERSION
from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.types import Config, Settings
from lsmtune.objective import Objective
from lsmtune.spec import MIN_PAIRS, Ground, StudySpec, make_spec
from lsmtune.spec_defaults import NO_MEMORY_LIMIT, WITHOUT_SEARCH
from lsmtune.units import is_version

_KEPT = ("engine", "rocksdb", "base", "family", "cache", "workload", "scale", "seed", "protocol")
"""Settings of the study that the experiment has too."""
_MOST_REPEATS = 100

_CONFIGS = ("baseline", "winner")
"""Levels of the factor config, in their order."""


def upgrade_spec(
    spec: StudySpec,
    ground: Ground,
    config: Config,
    versions: Sequence[str],
    objective: Objective,
) -> StudySpec:
    """Return the settings of the experiment NAME-versions.

    `config` is the study's winner and `ground` its context. `versions` are the versions that the
    user named; the study's own comes first. Both configs have the study's values at its scale.
    UserError if the study does not run an installed version, if no other version is named, or if
    the config is the baseline.
    """
    own = spec.rocksdb
    if own is None:
        raise UserError(
            f"--rocksdb: study {spec.name!r} does not run an installed version of RocksDB "
            "(key rocksdb), so there is no version to compare with"
        )
    for version in versions:
        if not is_version(version):
            raise UserError(f"--rocksdb {version!r}: write three or four numbers, such as 11.8.1")
    others = sorted({*versions} - {own}, key=lambda version: (version_number(version), version))
    if not others:
        raise UserError(f"--rocksdb {own}: study {spec.name!r} ran this version; name another one")
    base = spec.space(ground).default()
    changed = config.differing(base)
    if not changed:
        raise UserError(f"--rocksdb: the config of study {spec.name!r} is that of the baseline")
    fixed = _begun(spec, ground, changed)
    given: dict[str, Any] = {
        **spec.model_dump(mode="json", include=set(_KEPT), exclude_none=True),
        "study": f"{spec.name}-versions",
        "knobs": ",".join((VERSION, *changed, *fixed)),
        "memory": NO_MEMORY_LIMIT, **WITHOUT_SEARCH,
        "sweep": {
            "factors": {
                "version": {VERSION: (own, *others)},
                "config": {name: (base[name], value) for name, value in changed.items()},
            },
            "labels": {"config": _CONFIGS},
            "fixed": fixed,
            "repeats": min(_MOST_REPEATS, max(MIN_PAIRS, spec.pairs)),
            "metrics": objective.metrics,
        },
    }  # fmt: skip
    return make_spec(given, "lsmtune verify", {VERSION: "--rocksdb"})


def _begun(spec: StudySpec, ground: Ground, changed: Settings) -> Settings:
    """Return what the preset of the study changes in the baseline, at the study's scale."""
    base = spec.space(ground).base
    return {name: base[name] for name in spec.begun(ground) if name not in changed}
