"""`lsmtune show`: what a study has found."""

from lsmtune.cli.common import DEFAULT_HOME, Json, StudyName, print_json, say
from lsmtune.cli.common import Home as HomePath


def show(study: StudyName, home: HomePath = DEFAULT_HOME, as_json: Json = False) -> None:
    """Show a study: best config, gain with interval, failed trials and why."""
    from lsmtune.analysis.read_study import read_study
    from lsmtune.cli.showing import show_document, summary_lines
    from lsmtune.store.home import Home

    with Home(home, create=False) as opened:
        view = read_study(opened, study)
    if as_json:
        print_json(show_document(view))
        return
    for line in summary_lines(view):
        say(line)
    for trial in view.failed:
        say(
            f"trial {trial.number} {trial.status.value}: {trial.status.meaning}"
            + (f": {trial.reason}" if trial.reason else "")
        )
