"""Errors that RocksDB tells."""

from collections.abc import Iterator

from lsmtune.analysis.inspect.inspection import Finding, Inspection
from lsmtune.analysis.inspect.needs import EVENTS
from lsmtune.analysis.inspect.rule import FirstSteps, Rule, noticed, quoted
from lsmtune.metrics.log_notices import Notices


def _errors(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for lines of errors."""
    if log.troubles:
        yield Finding(
            "errors", "The LOG contains errors: check the errors before any option",
            f"Number of error lines in the LOG: {log.trouble_lines}. The first error line is: "
            f"{log.troubles[0]}",
            (), 1.0,
        )  # fmt: skip


def _background_error(log: Inspection) -> Iterator[Finding]:
    """Yield a finding for a failed flush or compaction.

    ErrorHandler::SetBGError in db/error_handler.cc; RocksDB wiki, Background-Error-Handling.
    """
    if "background error" in log.notices:
        resumed = log.facts.count("auto_resumes")
        after = f" RocksDB recovered by itself {resumed:,} times." if resumed else ""
        yield Finding(
            "background-error", "A flush or a compaction failed: RocksDB may refuse writes",
            f"{quoted(log, 'background error')}{after} Correct the cause, then call Resume or "
            "open the database again.",
            (), 0.97,
        )  # fmt: skip


NOTICES: Notices = {
    "no space": "No space left on device",
    "background error": "ErrorHandler: Set regular background error",
}
ORDER = 10
RULES = (
    Rule(_errors, ()),
    # db/error_handler.cc; facebook/rocksdb#919
    noticed("no space", EVENTS, Finding(
        "disk-full", "The disk was full: RocksDB may refuse writes until it is opened again",
        "", (), 0.99)),
    Rule(_background_error, (EVENTS,)),
)  # fmt: skip
FIRST_STEPS: FirstSteps = {
    "errors": "correct the cause of the first error before you change options",
    "disk-full": "free disk space, then call Resume or open the database again",
    "background-error": "correct the cause, then call Resume or open the database again",
}
CHECKS = {
    "errors": "no new line of an error",
    "disk-full": "no line “No space left on device”",
    "background-error": "no line of a background error",
}
