"""The result of `lsmtune screen` as text."""

from collections.abc import Iterator

from lsmtune.analysis.measurable import disturbed_text, flushes_text
from lsmtune.api.screen import Screened


def screened_lines(found: Screened) -> Iterator[str]:
    """Give where the runs are, and what to keep in mind about them."""
    yield f"runs: {found.output} ({found.runs} runs, {found.failed} failed)"
    if found.few_flushes:
        yield flushes_text(found.few_flushes, found.runs)
    if found.disturbed_runs:
        yield disturbed_text(found.disturbed_runs)
