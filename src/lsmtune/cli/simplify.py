"""`lsmtune simplify`: the winner with fewer changed options."""

from lsmtune.cli.common import (
    DEFAULT_HOME,
    AcceptNoise,
    Json,
    StudyName,
    note,
    print_json,
    say,
    say_all,
)
from lsmtune.cli.common import Home as HomePath


def simplify(
    study: StudyName,
    accept_noise: AcceptNoise = False,
    home: HomePath = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Take back changes of a study's winner that do not matter, and verify what is left.

    lsmtune takes back first what is predicted to have no effect, then one change after the other.
    A change stays out if the rest keeps nine tenths of the gain. It needs at most 12 runs. Then the
    config with fewer changes is verified in pairs of runs, next to the winner with all changes.
    `lsmtune tune` does the same, unless the flag --no-simplify forbids it.
    """
    from lsmtune.analysis.read_study import check_searches, read_study
    from lsmtune.api.consent import ask_for_home
    from lsmtune.api.results import write_results
    from lsmtune.cli.progress import progress
    from lsmtune.cli.showing import show_document, summary_lines
    from lsmtune.cli.tuning import check_space, say_if_busy
    from lsmtune.engines.registry import engine_of
    from lsmtune.store.home import Home
    from lsmtune.studies.simplify import simplify_winner
    from lsmtune.studies.study import open_study
    from lsmtune.studies.verify import verify_contenders

    with Home(home, create=False) as opened:
        spec = opened.study(study).settings
        check_searches(spec)
        check_space(spec, opened)
        ask_for_home(opened.path, spec.model_dump())
        with (
            progress(spec) as listener,
            open_study(opened, spec, engine_of(spec), listener, accept_noise=accept_noise) as work,
        ):
            say_if_busy(spec, accept_noise=accept_noise)
            simplify_winner(work)
            verify_contenders(work)
        view = read_study(opened, study)
        if as_json:
            print_json(show_document(view))
        else:
            say_all(summary_lines(view))
        write_results(opened, view, note if as_json else say)
