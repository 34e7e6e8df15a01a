"""Notes at the top of an exported file: lines about a claim, in ASCII."""

from lsmtune.analysis.claim import GAINS, Claim
from lsmtune.analysis.measurable import disturbed_text
from lsmtune.report.text.claim_text import SIMULATED, failure_text, ratio_words
from lsmtune.report.text.memory_text import small_tree_text
from lsmtune.report.text.words import counted

_ASCII = str.maketrans({
    "\N{MULTIPLICATION SIGN}": "x", "\N{EN DASH}": "-", "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=", "\N{MICRO SIGN}": "u", "\N{PLUS-MINUS SIGN}": "+-",
})  # fmt: skip


def ascii_text(text: str) -> str:
    """Return the text with its signs in ASCII, for files that old parsers read."""
    return text.translate(_ASCII)


def export_notes(claim: Claim) -> list[str]:
    """Return the lines about the claim at the top of an exported file."""
    return [
        *_result_notes(claim),
        SIMULATED if claim.view.is_simulated else _engine_note(claim),
        *([] if claim.view.scale == "1" else [_scale_note(claim)]),
        *([disturbed] if (disturbed := disturbed_text(claim.view.kept_disturbed)) else []),
    ]


def _engine_note(claim: Claim) -> str:
    view = claim.view
    origin = "" if view.origin is None else f" ({view.origin.text})"
    return f"Measured on {view.engine} {view.engine_version}{origin}."


def _result_notes(claim: Claim) -> list[str]:
    if claim.status == "not verified":
        return ["This config is not verified in pairs of runs."]
    gains = {status: f"Verified {status}" for status in (*GAINS, "loss")}
    result = gains.get(claim.status, "No gain")
    rows = [ratio_words(row) for row in claim.rows if row.role == "objective"]
    return [
        f"{result}: {counted(claim.pairs, 'pair')} of runs at scale {claim.scale}.",
        f"Metrics of the objective, this config / baseline (95 % interval): {', '.join(rows)}.",
        *(failure_text(claim, check) for check in claim.failed),
    ]


def _scale_note(claim: Claim) -> str:
    view = claim.view
    proof = "Verified at scale 1, a full-size tree."
    if claim.unverified_at_full_scale:
        larger = claim.larger_scale
        proof = (
            "UNVERIFIED at scale 1, a full-size tree."
            if larger is None
            else f"Verified at {larger}, not at full size (scale 1)."
        )
    return (
        f"{proof} The search ran at scale {view.scale}, "
        f"{small_tree_text(all_sizes_scale=view.all_sizes_scale)}. The sizes in this file are for "
        "scale 1."
    )
