"""A study as an Optuna storage."""

from dataclasses import dataclass
from pathlib import Path

from lsmtune.report.optuna_storage import export_study, storage_url
from lsmtune.store.home import Home


@dataclass(frozen=True, slots=True)
class OptunaStorage:
    """An SQLite file that optuna-dashboard can show, with its address and its number of trials."""

    file: Path
    url: str
    trials: int


def write_storage(study: str, home: Path, file: Path | None = None) -> OptunaStorage:
    """Write the storage, by default into the results of the study; it replaces an earlier one."""
    with Home(home, create=False) as opened:
        path = (file or opened.path / "results" / study / "optuna.sqlite3").absolute()
        trials = export_study(opened, study, path)
    return OptunaStorage(path, storage_url(path), trials)
