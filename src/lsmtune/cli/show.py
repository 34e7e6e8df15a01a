"""`lsmtune show`: print the result of a study."""

from lsmtune.cli.common import DEFAULT_HOME, Json, OtherTrial, StudyName, print_json, say
from lsmtune.cli.common import Home as HomePath


def show(
    study: StudyName,
    trial: OtherTrial = None,
    home: HomePath = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Show a study: gain with interval, changed options, next steps, failed trials."""
    from lsmtune.analysis.read_study import read_study
    from lsmtune.cli.showing import ended_lines, summary_lines
    from lsmtune.report.study_document import show_document
    from lsmtune.store.home import Home

    with Home(home, create=False) as opened:
        view = read_study(opened, study, trial)
    if as_json:
        print_json(show_document(view))
        return
    for line in summary_lines(view):
        say(line)
    for line in ended_lines(view):
        say(line)
