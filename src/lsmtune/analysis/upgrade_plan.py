"""The experiment that compares a study's winner and baseline on several versions of RocksDB."""

from collections.abc import Sequence
from shlex import quote
from typing import Any

from lsmtune.errors import Argument, UserError
from lsmtune.experiment import Sweep
from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.types import Config, Settings
from lsmtune.objective import Objective
from lsmtune.spaces import KnobSpaces, preset_start
from lsmtune.spec import MIN_PAIRS, StudySettings, make_spec
from lsmtune.spec_defaults import NO_MEMORY_LIMIT, WITHOUT_SEARCH
from lsmtune.store.home import Home
from lsmtune.store.records import complete_trials
from lsmtune.study.record import read_record
from lsmtune.study_keys import VERSION
from lsmtune.trials import Role
from lsmtune.units import VERSION_FORM, is_version

_KEPT = ("engine", VERSION, "base", "family", "cache", "workload", "scale", "seed", "protocol")
"""Settings of the study that the experiment has too."""
_MOST_REPEATS = 100
_SUFFIX = "-versions"
"""End of the name of the experiment; the name of its study comes before."""

_FACTOR = "config"
_CONFIGS = ("baseline", "winner")
"""Levels of the factor config, in their order."""


def upgrade_spec(
    spaces: KnobSpaces, config: Config, versions: Sequence[str], objective: Objective
) -> StudySettings:
    """Return the settings of the experiment NAME-versions.

    `spaces` are those of the study, and `config` is its winner. `versions` are those that the user
    named; the study's own comes first. Both configs have the study's values at its scale.
    UserError if the study does not run an installed version, if no other version is named, or if
    the config is the baseline.
    """
    spec = spaces.spec
    own = spec.rocksdb
    if own is None:
        raise UserError(
            Argument(VERSION),
            f": study {spec.name!r} does not run an installed version of RocksDB "
            "(key rocksdb), so there is no version to compare with; tune in another study with "
            "`lsmtune tune --rocksdb VERSION`",
        )
    for version in versions:
        if not is_version(version):
            raise UserError(Argument(VERSION, repr(version)), f": {VERSION_FORM}")
    others = sorted({*versions} - {own}, key=lambda version: (version_number(version), version))
    if not others:
        raise UserError(
            Argument(VERSION, own),
            f": study {spec.name!r} ran this version; name another one "
            "(`lsmtune engines` lists the installed versions)",
        )
    base = spaces.at().default()
    changed = config.differing(base)
    if not changed:
        raise UserError(
            Argument(VERSION), f": the config of study {spec.name!r} is that of the baseline"
        )
    fixed = _begun(spaces, changed)
    given: dict[str, Any] = {
        **spec.model_dump(mode="json", include=set(_KEPT), exclude_none=True),
        "study": f"{spec.name}{_SUFFIX}",
        "knobs": ",".join((VERSION, *changed, *fixed)),
        "memory": NO_MEMORY_LIMIT, **WITHOUT_SEARCH,
        "sweep": {
            "factors": {
                "version": {VERSION: (own, *others)},
                _FACTOR: {name: (base[name], value) for name, value in changed.items()},
            },
            "labels": {_FACTOR: _CONFIGS},
            "fixed": fixed,
            "repeats": min(_MOST_REPEATS, max(MIN_PAIRS, spec.pairs)),
            "metrics": objective.metrics,
        },
    }  # fmt: skip
    return make_spec(given, "lsmtune verify", {VERSION: "--rocksdb"})


def compares_winner(table: Sweep) -> bool:
    """Return whether an experiment compares a winner on several versions, as `upgrade_spec`."""
    return bool(table.versions) and table.labels.get(_FACTOR) == _CONFIGS


def upgrade_command(home: Home, spec: StudySettings) -> str | None:
    """Return the command that made an experiment of `upgrade_spec`; it continues and shows it.

    None if no study of the home has the name and the config, for example after `lsmtune rename`.
    """
    name = spec.name.removesuffix(_SUFFIX)
    if spec.sweep is None or name == spec.name or home.find_study(name) is None:
        return None
    study = read_record(home, name)
    base, trials = study.spaces.at().default(), study.history.runs
    changed = {name: values[-1] for name, values in spec.sweep.factors[_FACTOR].items()}
    measured = [t for role in (Role.TRIAL, Role.SIMPLIFY) for t in complete_trials(trials, role)]
    same = [t.number for t in measured if t.config.differing(base) == changed]
    if not same:
        return None
    best = study.history.winner()
    is_best = best is not None and best.trial.number in same
    words = ["lsmtune verify", quote(name), *([] if is_best else [f"--trial {same[0]}"])]
    return " ".join((*words, *(f"--rocksdb {version}" for version in spec.versions[1:])))


def _begun(spaces: KnobSpaces, changed: Settings) -> Settings:
    """Return what the preset of the study changes in the baseline, at the study's scale."""
    base, begun = spaces.at().base, preset_start(spaces.spec, spaces.ground)
    return {name: base[name] for name in begun if name not in changed}
