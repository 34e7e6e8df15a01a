"""The result of a study, made once: text, page, JSON document and exported files render it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsmtune.analysis.claim import Claim, claim_of
from lsmtune.analysis.read_study import view_of
from lsmtune.analysis.study_view import ONLINE, StudyView, TrialView
from lsmtune.api.arguments import PATH, SWITCH, TEXT, check
from lsmtune.api.export import Exported, exported
from lsmtune.api.online_files import online_export
from lsmtune.report.study_document import show_document, trials_document
from lsmtune.store.home import Home
from lsmtune.study.record import StudyRecord, read_record
from lsmtune.system.write import write_file

__all__ = ["Claim", "StudyView", "TrialView", "trials_document"]

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


@dataclass(frozen=True, repr=False)
class Result:
    """The result of a study as it is stored in the folder `home`.

    `view` has its trials and verifications. `trial` is the number of the trial that the caller
    chose instead of the winner, if any.
    """

    home: Path
    view: StudyView
    record: StudyRecord  # what exports need; no part of the public interface
    trial: int | None = None

    def __repr__(self) -> str:
        """Return study and claim; all trials would be pages of text."""
        value = self.claim.value
        objective = "" if value is None else f", objective {value:.3f} of the baseline"
        return f"<lsmtune.Result of study {self.study!r}: {self.claim.status}{objective}>"

    @property
    def study(self) -> str:
        """The name of the study."""
        return self.view.name

    @cached_property
    def claim(self) -> Claim:
        """What verification has shown: `claim.gain` is true if a gain is proven."""
        return claim_of(self.view)

    def document(self) -> dict[str, Any]:
        """Return the result as `lsmtune show --json` prints it."""
        return show_document(self.view, self.claim)

    def export(
        self,
        path: str | Path | None = None,
        *,
        form: str | None = None,
        base: str | Path | None = None,
        back: bool = False,
    ) -> str:
        """Return the file to deploy, or with `back` the file to undo it; write it to `path`.

        `form` is a format of `lsmtune export --format`, by default the one to deploy. Only tuned
        options change in the file `base`, by default the file of the baseline. UserError if there
        is nothing to export. A file that exists is kept as FILE.old.
        """
        check(PATH, path=path, base=base)
        check(TEXT, form=form)
        check(SWITCH, back=back)
        file = self.exported(form, None if base is None else Path(base), back=back)
        if path is not None:
            file.write(Path(path))
        return file.text

    def exported(self, form: str | None, base: Path | None, *, back: bool) -> Exported:
        """Return text and source of the exported file; see `export`."""
        if self.view.no_search == ONLINE:
            return online_export(self.record, self.view, form, base, back=back)
        return exported(self.record, self.claim, form, base, back=back)

    def page(self, path: str | Path | None = None) -> str:
        """Return the HTML page of the study, which needs no network; write it to `path`."""
        from lsmtune.report.page import render_page  # noqa: PLC0415 - slow to import

        check(PATH, path=path)
        text = render_page(self.view, self.claim)
        if path is not None:
            write_file(Path(path), text, "page")
        return text

    def figure(self, name: str = "convergence") -> "Figure":
        """Return a chart of the page as a plotly figure.

        UserError for an unknown name, or for "comparison" if the study has no winner.
        """
        from lsmtune.api.figures import figure  # noqa: PLC0415 - slow to import

        return figure(self.claim, name)


def read_result(home: Home, study: str, trial: int | None = None) -> Result:
    """Return the result of a stored study; UserError if it does not exist."""
    return result_of(home, read_record(home, study), trial)


def result_of(home: Home, record: StudyRecord, trial: int | None = None) -> Result:
    """Return the result of a study of the home that was read before."""
    return Result(home.path, view_of(home, record, trial), record, trial)


def stored_result(study: str, home: Path, trial: int | None = None) -> Result:
    """Return the result of a study in a home; UserError if it does not exist."""
    with Home(home, create=False) as opened:
        return read_result(opened, study, trial)
