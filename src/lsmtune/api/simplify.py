"""Take back changes of a winner that do not matter, and verify what is left."""

from pathlib import Path

from lsmtune.analysis.read_study import check_searches
from lsmtune.api.consent import Consent, ask_for_home, nobody_to_ask
from lsmtune.api.export import files_of
from lsmtune.api.on_hosts import OnHosts, opened_hosts, session_on
from lsmtune.api.results import Finished, write_results
from lsmtune.api.study_result import result_of
from lsmtune.progress import Observer
from lsmtune.store.home import Home
from lsmtune.study.opening import prepare
from lsmtune.study.rehearse import verify_deployable
from lsmtune.study.simplify import simplify_winner


def simplify(
    study: str,
    home: Path,
    observer: Observer | None = None,
    *,
    consent: Consent = nobody_to_ask,
    accept_noise: bool = False,
    hosts: OnHosts | None = None,
) -> Finished:
    """Simplify the winner of a study and verify it; UserError if there is no winner.

    With `hosts`, runs go to them.
    """
    observer = observer or Observer()
    with Home(home, create=False) as opened:
        spec = opened.study(study).settings
        check_searches(spec)
        ask_for_home(opened.path, spec.model_dump(), consent)
        prepared = prepare(spec, opened.path, observer)
        with (
            opened_hosts(hosts, prepared.engine, observer) as used,
            session_on(used, opened, prepared, observer, accept_noise=accept_noise) as session,
        ):
            simplify_winner(session)
            verify_deployable(session, files_of, observer)
        result = result_of(opened, session.record)
        return Finished(result, write_results(opened, result, observer))
