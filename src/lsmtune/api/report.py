"""Pages about studies."""

from collections.abc import Sequence
from pathlib import Path

from lsmtune.analysis.read_study import read_study
from lsmtune.errors import Argument, UserError
from lsmtune.progress import Observer
from lsmtune.report.overview_page import render_overview
from lsmtune.report.page import render_page
from lsmtune.store.home import Home
from lsmtune.system.write import write_file


def report(
    studies: Sequence[str],
    home: Path,
    observer: Observer | None = None,
    *,
    output: Path | None = None,
    trial: int | None = None,
) -> Path:
    """Write a page about a study, or an overview of several; return its path.

    Without `output`, the page is in the folder of results in the home. `trial` is shown instead of
    the winner. UserError for a study that is named twice.
    """
    if len(set(studies)) < len(studies):
        raise UserError("report: a study is named twice; name each study once")
    if trial is not None and len(studies) > 1:
        raise UserError(Argument("trial"), ": not allowed with several studies; name one study")
    watch = observer or Observer()
    with Home(home, create=False) as opened, watch.working("writing the page"):
        views = [read_study(opened, study, trial) for study in studies]
        page = output or opened.path / "results" / _usual_page(studies, trial)
        text = render_page(views[0]) if len(views) == 1 else render_overview(views)
        write_file(page, text, "page", opened.path)
    return page


def _usual_page(studies: Sequence[str], trial: int | None) -> Path:
    """Return where the page is without --output; a picked trial and an overview have their own."""
    if len(studies) > 1:
        return Path("overview.html")
    return Path(studies[0], "report.html" if trial is None else f"report-trial-{trial}.html")
