"""The values of exported files in the user's TiKV: those of the winner, then the baseline's.

TiKV keeps its data, and lsmtune has no copy of them. So no store is opened with the files.
"""

import time

from lsmtune.engines.base import Deployed, TrialFailedError
from lsmtune.engines.libraries.steps import StepFailedError
from lsmtune.engines.rehearsing import Failure, failed_fields, rehearsed
from lsmtune.engines.tikv.measure import version
from lsmtune.engines.tikv.node import Node
from lsmtune.engines.tikv.options import read_settings
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.tikv_toml import parse_file
from lsmtune.rehearsal import Rehearsal
from lsmtune.trials import Base, TrialSpec

_RAN = "TiKV ran with the new value of each changed option, and lsmtune read the values back"
_BACK = "then TiKV ran with the values of the baseline again, which lsmtune read back, too"
_NOT_SHOWN = "not shown: that a TiKV starts with these files, and what it does to its data"


def rehearse(
    node: Node, catalogue: Catalogue, spec: TrialSpec, base: Base, files: Deployed
) -> Rehearsal:
    """Bring the values of both files into force, one after the other, and read them back."""
    started = time.monotonic()

    def take(text: str) -> None:
        given = read_settings(catalogue, parse_file(text, "exported file"))
        changed = {name: given[name] for name in files.changed if name in given}
        try:
            node.take(base, spec.base_settings | changed)
        except TrialFailedError as failure:
            if node.is_lost():
                raise
            raise StepFailedError("options", str(failure)) from failure

    def tried(exported: str) -> Failure | None:
        try:
            take(exported)
        except StepFailedError as failure:
            return "exported", failure
        try:
            take(files.undo)
        except StepFailedError as failure:
            return "undo", failure
        return None

    failed, causes = rehearsed(files, lambda: take(files.undo), tried)
    return Rehearsal(
        version=version(node.status.metrics()),
        reader="lsmtune",
        opened=False,
        seconds=time.monotonic() - started,
        remarks=(f"{_RAN}; {_BACK}", _NOT_SHOWN) if failed is None else (_NOT_SHOWN,),
        **failed_fields(failed, causes),
    )
