"""The files of a study's result: its page, the file to deploy and the file to undo."""

from collections.abc import Callable
from pathlib import Path

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.deploy import FILES, FORMATS
from lsmtune.analysis.study_view import StudyView
from lsmtune.api.export import Deployment, deployment
from lsmtune.api.online_files import online_files
from lsmtune.cli.progress import working
from lsmtune.knobs.types import Config
from lsmtune.report.page import render_page
from lsmtune.store.home import Home
from lsmtune.system.remove import remove_file
from lsmtune.system.write import write_file


def write_results(home: Home, view: StudyView, tell: Callable[[str], None]) -> None:
    """Write the page and the files of a study again, and print where they are.

    A study that did not prove a gain has no file to deploy; an older file of this study is
    removed, because it would not fit the claim any more.
    """
    folder = results_folder(home, view)
    with working("writing the page"):
        write_file(folder / "report.html", render_page(view), "page", home.path)
    tell(f"page:            {folder / 'report.html'}")
    name = FILES[FORMATS[view.engine][0]]
    claim = claim_of(view)
    if view.online is not None:
        write_deployment(home, folder, online_files(home, view.name, Config(view.online.config)))
        unchanged = "" if view.online.kept else " (it equals the baseline)"
        tell(f"file to deploy:  {folder / name}{unchanged}")
        tell(f"file to undo:    {folder / f'{name}.back'}")
        return
    if view.best_trial is not None and claim.status in ("gain", "not verified"):
        files = deployment(home, view)
        write_deployment(home, folder, files)
        proof = "" if claim.gain else " (not verified)"
        tell(f"file to deploy:  {folder / name}{proof}")
        tell(f"file to undo:    {folder / f'{name}.back'}")
    else:
        remove_file(folder / name)


def results_folder(home: Home, view: StudyView) -> Path:
    """Return the folder of the page and the files of a study."""
    return home.path / "results" / view.name


def write_deployment(home: Home, folder: Path, files: Deployment) -> None:
    """Write the file to deploy and the file to undo, with the permissions of the user's file."""
    for name, file in ((files.name, files.options), (f"{files.name}.back", files.back)):
        write_file(folder / name, file.text, "options", home.path, file.source)
