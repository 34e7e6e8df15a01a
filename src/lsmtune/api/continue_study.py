"""What `lsmtune tune` does with a study that exists: continue it, or start a new one from it."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any, NamedTuple

from lsmtune.analysis.continuing import FLAGS, other_optimizer_command
from lsmtune.analysis.deploy import home_flag
from lsmtune.api.consent import Consent, ask_for_home
from lsmtune.errors import UserError
from lsmtune.optimizers.registry import check_not_removed, is_removed
from lsmtune.report.text.words import counted
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import SYSTEM_KEYS
from lsmtune.store.home import Home, is_home
from lsmtune.store.records import StoredStudy, StoredTrial, complete_trials
from lsmtune.trials import Role

_GOALS = {"objective", "limits"}
"""Settings that change what the stored runs are worth, but not how they ran."""


class Followed(NamedTuple):
    """The settings of the study to run, and the study whose runs it starts from."""

    spec: StudySettings
    source: str | None = None


def stored_settings(home: Path, study: str | None, consent: Consent) -> dict[str, Any]:
    """Return the settings of a stored study that the user names; empty if there is none."""
    if study is None or not is_home(home):
        return {}
    with Home(home, create=False) as opened:
        stored = opened.find_study(study)
    if stored is None:
        return {}
    ask_for_home(home, stored.spec, consent)
    kept = stored.settings.model_dump(mode="json", exclude_none=True)
    return {**kept, "study": study}


def _tell_other_system(spec: StudySettings, home: Path, tell: Callable[[str], None]) -> None:
    """Say if a new study without a name has the settings of one that ran on another RocksDB.

    The name of a study follows from its settings, so the same command does not continue it.
    """
    if spec.study is not None or not is_home(home):
        return
    with Home(home, create=False) as opened:
        names = opened.study_names()
        if spec.name in names:
            return
        for name in (n for n in reversed(names) if n.startswith(f"{spec.workload.name}-")):
            stored = opened.study(name)
            before = stored.settings
            is_unnamed = before.study is None and before.name == name
            if is_unnamed and set(spec.changed_since(before)) <= set(SYSTEM_KEYS):
                tell(_other_system_text(before, str(stored.engine.get("version"))))
                return


def _other_system_text(before: StudySettings, version: str) -> str:
    key = next((key for key in ("rocksdb", "library") if getattr(before, key)), "program")
    system = before.program if key == "program" else "RocksDB"
    return (
        f"study {before.name!r} has these settings, but ran on {system} {version}; add "
        f"`{FLAGS[key]} {quote(getattr(before, key))}` to continue it"
    )


def followed(
    spec: StudySettings,
    home: Path,
    tell: Callable[[str], None],
    *,
    new_baseline: bool,
    chosen: bool = False,
) -> Followed:
    """Continue a stored study of this name, or start a study NAME-2 from it.

    A new study is needed if the objective or a limit changed, or if lsmtune no longer has the
    optimizer: the stored runs count for it. Those of online tuning do not, because it judges each
    change by the objective when it runs.
    With `new_baseline`, its baseline is measured again, and the stored runs only guide its search.
    `chosen`: lsmtune chose the RocksDB, so the user may not know that another one ran before.
    """
    if chosen:
        _tell_other_system(spec, home, tell)
    if spec.online is not None and new_baseline:
        raise UserError(
            "--new-baseline: not allowed with [online], because each call of online tuning "
            "measures the baseline; remove the flag"
        )
    if not is_home(home):
        return _not_there(spec, new_baseline)
    with Home(home, create=False) as opened:
        stored = opened.find_study(spec.name)
        if stored is None:
            return _not_there(spec, new_baseline)
        _check_optimizer(spec, stored, opened.path)
        changed = set(spec.changed_since(stored.settings))
        if new_baseline:
            update: dict[str, Any] = {"warm_start": (stored.name,)}
        elif changed and changed <= (_GOALS | _replaced(stored)):
            update = {}
        else:
            return Followed(spec)
        new = _next(opened, spec.model_copy(update=update))
    if new_baseline:
        tell(
            f"study {new.name!r} measures the baseline again; the runs of {stored.name!r} guide "
            "its search"
        )
        return Followed(new)
    names = " and ".join(sorted(changed))
    if spec.online is not None:
        tell(f"changed: {names}; the new study is {new.name!r}")
        return Followed(new)
    tell(f"changed: {names}; study {new.name!r} starts from the runs of {stored.name!r}")
    return Followed(new, stored.name)


def _not_there(spec: StudySettings, new_baseline: bool) -> Followed:
    if new_baseline:
        raise UserError(f"--new-baseline: no study {spec.name!r} exists; name one with --study")
    check_not_removed(spec.optimizer)
    return Followed(spec)


def _replaced(stored: StoredStudy) -> set[str]:
    """Return the settings that a new study must change: an optimizer that was removed."""
    begun = stored.settings
    return {"optimizer"} if _searches(begun) and is_removed(begun.optimizer) else set()


def _searches(spec: StudySettings) -> bool:
    """Whether the optimizer of a study is used: those that only measure have one too."""
    return spec.screen is None and spec.sweep is None


def _check_optimizer(spec: StudySettings, stored: StoredStudy, home: Path) -> None:
    """Raise UserError if lsmtune no longer has the optimizer.

    If it is that of the stored study, the message names the command that starts a new study. A
    study without a search needs no optimizer.
    """
    if not _searches(spec):
        return
    begun = stored.settings.optimizer
    is_given = "optimizer" in spec.model_fields_set and spec.optimizer != begun
    if is_removed(begun) and not is_given:
        raise UserError(
            f"study {stored.name!r}: lsmtune 0.3 removed its optimizer {begun!r}; to tune with the "
            f"other settings, run `{other_optimizer_command(stored.name)}{home_flag(home)}`"
        )
    check_not_removed(spec.optimizer)


def _next(home: Home, spec: StudySettings) -> StudySettings:
    """Return the settings with the first name NAME-2, NAME-3 … that is free or is this study."""

    def is_usable(new: StudySettings) -> bool:
        stored = home.find_study(new.name)
        return stored is None or not new.changed_since(stored.settings)

    named = (spec.model_copy(update={"study": f"{spec.name}-{n}"}) for n in count(2))
    return next(filter(is_usable, named))


def new_text(name: str, home: Path) -> str:
    """Return the name of a new study, and the command that shows how far it is."""
    return f"study {name!r}: starts now; `lsmtune show {quote(name)}{home_flag(home)}` shows it"


def old_rule_text(name: str) -> str:
    """Return how an older study differs from a new one, and how to start a new one."""
    return (
        f"study {name!r}: an older lsmtune started this study, and it goes on as before: a block "
        "cache that you did not give keeps its full size, and the memory limit applies at the "
        "scale of the trials. Add --new-baseline to start a study in which all sizes scale"
    )


def done_text(name: str, trials: Sequence[StoredTrial]) -> str:
    """Return what earlier calls have done of a study."""
    base, searched = (len(complete_trials(trials, role)) for role in (Role.BASE, Role.TRIAL))
    return (
        f"study {name!r}: already done: {counted(base, 'run')} of the baseline, "
        f"{counted(searched, 'complete trial')}"
    )
