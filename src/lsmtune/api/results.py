"""The files of a study's result: its page, the file to deploy and the file to undo."""

from dataclasses import dataclass
from pathlib import Path

from lsmtune.analysis.deploy import format_to_deploy
from lsmtune.api.export import Deployment, deployment
from lsmtune.api.online_files import online_files
from lsmtune.api.study_result import Result
from lsmtune.knobs.types import Config
from lsmtune.progress import Observer
from lsmtune.store.home import Home
from lsmtune.system.write import remove_file, write_file


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """Where page and files of a result are.

    `deploy` and `undo` are None without something to deploy. `remark` says what is special about
    the file to deploy; it may be "".
    """

    page: Path
    deploy: Path | None = None
    undo: Path | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Finished:
    """The result of a study after a call, and where page and files of its winner are."""

    result: Result
    files: ResultFiles


def write_results(home: Home, result: Result, observer: Observer) -> ResultFiles:
    """Write the page and the files of a study again, in the home; return where they are.

    A verified study without a proven gain has no file to deploy; an older file of this study is
    removed, because it would not fit the claim any more.
    """
    from lsmtune.report.page import render_page  # noqa: PLC0415 - slow to import

    view, claim = result.view, result.claim
    folder = results_folder(home, result.study)
    page = folder / "report.html"
    with observer.working("writing the page"):
        write_file(page, render_page(view, claim), "page", home.path)
    name = format_to_deploy(view.engine).file_name
    deploy, undo = folder / name, folder / f"{name}.back"
    if view.online is not None:
        write_deployment(home, folder, online_files(result.record, Config(view.online.config)))
        return ResultFiles(page, deploy, undo, "" if view.online.kept else "it equals the baseline")
    if view.best_trial is not None and (claim.gain or claim.status == "not verified"):
        write_deployment(home, folder, deployment(result.record, claim))
        return ResultFiles(page, deploy, undo, "" if claim.gain else "not verified")
    remove_file(deploy)
    return ResultFiles(page)


def results_folder(home: Home, study: str) -> Path:
    """Return the folder of the page and the files of a study."""
    return home.path / "results" / study


def write_deployment(home: Home, folder: Path, files: Deployment) -> None:
    """Write the file to deploy and the file to undo, with the permissions of the user's file."""
    for name, file in ((files.name, files.options), (f"{files.name}.back", files.back)):
        write_file(folder / name, file.text, "options", home.path, file.source)
