"""The work of `lsmtune studies`, `rename` and `delete`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.cli.common import ask
from lsmtune.cli.tables import Column, table_lines
from lsmtune.errors import UserError
from lsmtune.report.words import TIMES, counted
from lsmtune.spec import ALL_STUDIES, StudySpec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredStudy
from lsmtune.system.lock import is_locked, study_lock
from lsmtune.tables import study_name


def study_rows(home: Home) -> list[dict[str, Any]]:
    """Return a JSON object per study, oldest first."""
    return [_row(home, home.study(name)) for name in home.study_names()]


def table_of(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Return the rows as a table."""
    columns = [
        Column("study", at_least=8), Column("kind"), Column("workload", at_least=8),
        Column("engine", drop=2), Column("objective", at_least=8), Column("result", at_least=8),
        Column("runs", drop=1), Column("state"), Column("started", drop=3),
    ]  # fmt: skip
    cells = [
        (
            row["study"], row["kind"], row["workload"], row["engine"],
            ", ".join(row["objective"]), _result_text(row), str(row["runs"]), row["state"],
            row["started"][:10],
        )
        for row in rows
    ]  # fmt: skip
    return list(table_lines(columns, cells)) if rows else ["no studies"]


def _result_text(row: dict[str, Any]) -> str:
    """Return what a study found, and the objective of its winner."""
    value, result = row["value"], str(row["result"])
    return result if value is None else f"{result} {value:.2f} {TIMES}"


def rename_study(home_path: Path, name: str, new: str) -> None:
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


def delete_study(home_path: Path, name: str, *, agreed: bool) -> Iterator[str]:
    """Delete a study after a question; yield what was done."""
    with Home(home_path, create=False) as home:
        study = home.study(name)
        runs = counted(home.count_runs(study), "run")
        with study_lock(home.lock_path(name), f"study {name!r}"):
            _refuse_followers(home, name)
            if not agreed:
                ask(
                    f"Delete study {name!r} with {runs}?",
                    unasked=f"delete {name}: not confirmed; add --yes",
                    refused=f"delete {name}: not confirmed; nothing was deleted",
                )
            home.delete_study(study)
        yield f"deleted: study {name!r} with {runs}"
        results = home.path / "results" / name
        if results.exists():
            yield f"kept:    {results}"


def _refuse_followers(home: Home, name: str) -> None:
    """Raise UserError if another study names this one as its start."""
    for other in (home.study(other) for other in home.study_names()):
        names = other.settings.warm_start or ()
        if other.name != name and names != (ALL_STUDIES,) and name in names:
            raise UserError(
                f"study {name!r}: study {other.name!r} starts from its runs; delete "
                f"{other.name!r} first"
            )


def _row(home: Home, study: StoredStudy) -> dict[str, Any]:
    spec = study.settings
    result, value = _result(home, study)
    return {
        "study": study.name,
        "kind": _kind(spec),
        "workload": spec.workload.name,
        "engine": spec.engine,
        "objective": list(spec.objective),
        "result": result,
        "value": value,
        "runs": home.count_runs(study),
        "state": _state(home, study, spec),
        "started": study.created_at,
    }


def _result(home: Home, study: StoredStudy) -> tuple[str, float | None]:
    """Return the claim of a study and the objective of its winner, if it has one.

    A study that cannot be read does not hide the others; `lsmtune show` says what is wrong.
    """
    try:
        claim = claim_of(read_study(home, study.name))
    except UserError:
        return "cannot be read", None
    return claim.status, claim.value


def _kind(spec: StudySpec) -> str:
    tables = {"screen": spec.screen, "sweep": spec.sweep, "online": spec.online}
    return next((name for name, table in tables.items() if table is not None), "tune")


def _state(home: Home, study: StoredStudy, spec: StudySpec) -> str:
    """Return running, finished or interrupted; "" if the kind of study does not keep its end."""
    if is_locked(home.lock_path(study.name)):
        return "running"
    if _kind(spec) != "tune":
        return ""
    return "interrupted" if study.ended is None else "finished"
