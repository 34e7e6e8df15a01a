"""`lsmtune show`: print the result of a study."""

from lsmtune.cli.flags import DEFAULT_HOME, Home, Json, OtherTrial, StudyName
from lsmtune.cli.output import print_json, say_all


def show(
    study: StudyName,
    trial: OtherTrial = None,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Show a study: gain with interval, changed options, next steps, failed trials."""
    from lsmtune.api.study_result import stored_result
    from lsmtune.cli.result_lines import ended_lines, summary_lines

    found = stored_result(study, home, trial)
    if as_json:
        print_json(found.document())
        return
    say_all(summary_lines(found.view, found.claim))
    say_all(ended_lines(found.view))
