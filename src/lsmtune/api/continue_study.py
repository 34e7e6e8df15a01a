"""What `lsmtune tune` does with a study that exists: continue it, or start a new one from it."""

from collections.abc import Callable
from contextlib import ExitStack
from functools import cached_property
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any, Self

from lsmtune.analysis.continuing import FLAGS
from lsmtune.api.consent import Consent, ask_for_home, nobody_to_ask
from lsmtune.errors import Argument, Message, UserError
from lsmtune.spec import StudySettings
from lsmtune.spec_defaults import SYSTEM_KEYS
from lsmtune.store.database import is_home
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.study.earlier import can_guide
from lsmtune.study_keys import VERSION

_GOALS = {"objective", "limits"}
"""Settings that change what the stored runs are worth, but not how they ran."""

_OF_SYSTEM = {*SYSTEM_KEYS, "measure", "rate", "early_stop"}
"""Settings that name the RocksDB that runs, and those whose defaults follow from it."""


class StoredStudies:
    """The stored studies as `resolve` reads them: a context that opens the home at most once."""

    def __init__(self, path: Path, consent: Consent = nobody_to_ask) -> None:
        self.path = path
        self._consent = consent
        self._studies: dict[str, StoredStudy | None] = {}
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @cached_property
    def home(self) -> Home | None:
        """The home, opened for reading; None if there is none yet."""
        if not is_home(self.path):
            return None
        return self._open.enter_context(Home(self.path, create=False))

    def find(self, name: str) -> StoredStudy | None:
        """Return the study of that name, if there is one."""
        if name not in self._studies:
            self._studies[name] = None if self.home is None else self.home.find_study(name)
        return self._studies[name]

    def settings(self, name: str | None) -> dict[str, Any]:
        """Return the settings of a stored study that the user names; empty if there is none.

        UserError if somebody else made the home, and the user does not agree to run what it names.
        """
        study = None if name is None else self.find(name)
        if study is None:
            return {}
        ask_for_home(self.path, study.spec, self._consent)
        return {**study.settings.model_dump(mode="json", exclude_none=True), "study": name}


def _tell_other_system(
    spec: StudySettings, stored: StoredStudies, tell: Callable[[str], None]
) -> None:
    """Say if a new study without a name has the settings of one that ran on another RocksDB.

    The name of a study follows from its settings, so the same command does not continue it.
    """
    if spec.study is not None or stored.home is None:
        return
    names = stored.home.study_names()
    if spec.name in names:
        return
    for name in (n for n in reversed(names) if n.startswith(f"{spec.workload.name}-")):
        study = stored.home.study(name)
        if study.engine_name != spec.engine:
            continue
        before = study.settings
        is_unnamed = before.study is None and before.name == name
        if is_unnamed and set(spec.changed_since(before)) <= _OF_SYSTEM:
            tell(_other_system_text(before, study.engine.version))
            return


def _other_system_text(before: StudySettings, version: str) -> Message:
    key = next((key for key in (VERSION, "library") if getattr(before, key)), "program")
    system = before.program if key == "program" else "RocksDB"
    value = quote(getattr(before, key))
    return Message(
        f"study {before.name!r} has these settings, but ran on {system} {version}; add `",
        Argument(key, value, f"{FLAGS[key]} {value}"),
        "` to continue it",
    )


def followed(
    spec: StudySettings,
    stored: StoredStudies,
    tell: Callable[[str], None],
    *,
    new_baseline: bool,
    chosen: bool = False,
) -> tuple[StudySettings, str | None]:
    """Continue a stored study of this name, or start a study NAME-2 from it.

    Returns the settings of the study to run, and the study whose runs it starts from.
    A new study is needed if the objective or a limit changed: the stored runs count for it.
    Those of online tuning do not, because it judges each change by the objective when it runs.
    With `new_baseline`, its baseline is measured again, and the stored runs only guide its search,
    if there are enough.
    `chosen`: lsmtune chose the RocksDB, so the user may not know that another one ran before.
    """
    if chosen:
        _tell_other_system(spec, stored, tell)
    if spec.online is not None and new_baseline:
        raise UserError(
            Argument("new_baseline", True),
            ": not allowed with [online], because each call of online tuning measures the "
            "baseline; remove ",
            Argument("new_baseline", flag="the flag"),
        )
    home, study = stored.home, stored.find(spec.name)
    if home is None or study is None:
        return _not_there(spec, new_baseline), None
    changed = set(spec.changed_since(study.settings))
    guides = new_baseline and can_guide(home, study.name, spec)
    if new_baseline:
        update: dict[str, Any] = {"warm_start": (study.name,)} if guides else {}
    elif changed and changed <= _GOALS:
        update = {}
    else:
        return spec, None
    new = _next(stored, spec.model_copy(update=update))
    if new_baseline:
        guide = "guide" if guides else "are too few to guide"
        tell(
            f"study {new.name!r} measures the baseline again; the runs of {study.name!r} {guide} "
            "its search"
        )
        return new, None
    names = " and ".join(sorted(changed))
    if spec.online is not None:
        tell(f"changed: {names}; the new study is {new.name!r}")
        return new, None
    tell(f"changed: {names}; study {new.name!r} starts from the runs of {study.name!r}")
    return new, study.name


def _not_there(spec: StudySettings, new_baseline: bool) -> StudySettings:
    if new_baseline:
        raise UserError(
            Argument("new_baseline", True),
            f": no study {spec.name!r} exists; name one with ",
            Argument("study"),
        )
    return spec


def _next(stored: StoredStudies, spec: StudySettings) -> StudySettings:
    """Return the settings with the first name NAME-2, NAME-3 … that is free or is this study."""

    def is_usable(new: StudySettings) -> bool:
        study = stored.find(new.name)
        return study is None or not new.changed_since(study.settings)

    named = (spec.model_copy(update={"study": f"{spec.name}-{n}"}) for n in count(2))
    return next(filter(is_usable, named))
