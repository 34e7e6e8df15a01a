"""How the exported file of a published study differs from the trial at full size."""

from collections.abc import Sequence

from lsmtune.analysis.claim import Claim
from lsmtune.analysis.study_view import Change
from lsmtune.knobs.knob_text import knob_value
from lsmtune.report.text.words import listed


def replaced_texts(claim: Claim) -> list[str]:
    """Return how the exported file differs from the trial at full size; empty if it does not."""
    replaced = [change for change in claim.changes if change.replaced is not None]
    return [_text(claim, replaced)] if replaced else []


def _text(claim: Claim, replaced: Sequence[Change]) -> str:
    values = [
        f"{change.knob.name} is {knob_value(change.knob, change.deployed)} instead of "
        f"{knob_value(change.knob, change.replaced)}"
        for change in replaced
        if change.replaced is not None and change.deployed is not None
    ]
    text = f"The exported file differs from trial {claim.trial} at full size: {listed(values)}."
    if claim.not_deployable:
        text += f" With the values of trial {claim.trial}, {'; '.join(claim.not_deployable)}."
    else:
        text += " The memory limit has space for this block cache."
    if claim.unverified_at_full_scale:
        text += " A part of the measured gain may not exist at full size."
    return text
