"""Checks of outcomes that are the same for several engines."""

from lsmtune.engines.base import Outcome
from lsmtune.trials import Status


def check_fault(outcome: Outcome, status: Status, words: str, files: set[str]) -> None:
    """Check status, reason and evidence of a trial that failed."""
    result = outcome.result
    assert result.status is status, result.reason
    assert result.measurement is None
    assert result.reason is not None
    assert words in result.reason
    assert "\n" not in result.reason
    assert len(result.reason) < 400
    assert files <= set(outcome.evidence)
