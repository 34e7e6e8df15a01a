"""The studies of a home: list, rename and delete them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.api.consent import Consent
from lsmtune.errors import UserError
from lsmtune.report.text.words import counted
from lsmtune.spec import ALL_STUDIES, StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.system.lock import is_locked, study_lock
from lsmtune.tables import study_name

_UNREADABLE: dict[str, Any] = {
    "study": "", "kind": "", "workload": "", "engine": "", "objective": [],
    "result": "cannot be read", "value": None, "runs": 0, "state": "", "started": "",
}  # fmt: skip
"""The row of a study that cannot be read: it hides no other study."""


def studies(home_path: Path) -> list[dict[str, Any]]:
    """Return a JSON object per study of a home, oldest first."""
    with Home(home_path, create=False) as home:
        return [_row(home, name) for name in home.study_names()]


def rename(home_path: Path, name: str, new: str) -> None:
    """Rename a study; UserError if the new name is taken or the study is in use."""
    with Home(home_path, create=False) as home:
        study = home.study(name)
        try:
            study_name(new)
        except ValueError as error:
            raise UserError(f"rename {new!r}: {error}") from error
        if home.find_study(new) is not None:
            raise UserError(f"rename {new!r}: a study of this name exists; choose another name")
        with study_lock(home.lock_path(name), f"study {name!r}"):
            _refuse_followers(home, name)
            home.rename_study(study, new)


@dataclass(frozen=True, slots=True)
class Deleted:
    """A deleted study with its number of runs, and the folder of its files, which stays."""

    study: str
    runs: int
    results: Path | None


def delete(home_path: Path, name: str, consent: Consent | None = None) -> Deleted:
    """Delete the runs of a study; the files of its results stay.

    `consent` is asked before. UserError if the study is in use, or if another study needs it.
    """
    with Home(home_path, create=False) as home:
        study = home.study(name)
        runs = home.count_runs(study)
        with study_lock(home.lock_path(name), f"study {name!r}"):
            _refuse_followers(home, name)
            if consent is not None:
                consent(
                    f"Delete study {name!r} with {counted(runs, 'run')}?",
                    unasked=f"delete {name}: not confirmed; add --yes",
                    refused=f"delete {name}: not confirmed; nothing was deleted",
                )
            home.delete_study(study)
        results = home.path / "results" / name
        return Deleted(name, runs, results if results.exists() else None)


def _refuse_followers(home: Home, name: str) -> None:
    """Raise UserError if another study names this one as its start."""
    for other in (home.study(other) for other in home.study_names()):
        names = other.spec.get("warm_start") or []
        if other.name != name and names != [ALL_STUDIES] and name in names:
            raise UserError(
                f"study {name!r}: study {other.name!r} starts from its runs; delete "
                f"{other.name!r} first"
            )


def _row(home: Home, name: str) -> dict[str, Any]:
    try:
        study = home.study(name)
    except UserError:
        return {**_UNREADABLE, "study": name}
    load, objective = study.spec.get("workload"), study.spec.get("objective")
    row = {
        **_UNREADABLE, "study": name, "engine": study.engine_name,
        "workload": str(load.get("name")) if isinstance(load, dict) else "",
        "objective": list(map(str, objective)) if isinstance(objective, list) else [],
        "runs": home.count_runs(study), "started": study.created_at,
        "state": "running" if is_locked(home.lock_path(name)) else "",
    }  # fmt: skip
    try:
        spec = study.settings
    except UserError:  # such as without the package of its engine
        return row
    result, value = _result(home, study)
    state = row["state"] or _state(study, spec)
    return {**row, "kind": _kind(spec), "result": result, "value": value, "state": state}


def _result(home: Home, study: StoredStudy) -> tuple[str, float | None]:
    """Return the claim of a study and the objective of its winner, if it has one."""
    try:
        claim = claim_of(read_study(home, study.name))
    except UserError:
        return _UNREADABLE["result"], None
    return claim.status, claim.value


def _kind(spec: StudySettings) -> str:
    tables = {"screen": spec.screen, "sweep": spec.sweep, "online": spec.online}
    return next((name for name, table in tables.items() if table is not None), "tune")


def _state(study: StoredStudy, spec: StudySettings) -> str:
    """Return finished or interrupted; "" if the kind of study does not keep its end."""
    if _kind(spec) != "tune":
        return ""
    return "interrupted" if study.ended is None else "finished"
