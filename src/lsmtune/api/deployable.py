"""The files of a winner as `lsmtune export` writes them, for their rehearsal."""

from collections.abc import Collection

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import view_of
from lsmtune.api.export import deployment, with_changes
from lsmtune.engines.base import Deployed
from lsmtune.study.session import Session


def files_of(study: Session, trial: int | None = None) -> Deployed:
    """Return the files of the winner, or of the trial of this number."""
    record = study.record
    view = view_of(study.home, record, trial)
    claim = claim_of(view)
    files = deployment(record, view, claim)

    def only(names: Collection[str]) -> str:
        return with_changes(record, view, claim, names)

    return Deployed(
        exported=files.options.text,
        undo=files.back.text,
        changed=files.changed,
        only=only,
        family=study.spec.family,
        new_store=bool(study.spec.new_store),
    )
