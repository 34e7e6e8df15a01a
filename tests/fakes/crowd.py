"""lsmtune as a process of its own beside the other tests, whose use of the CPU repeats no trial."""

import sys

CROWDED_LSMTUNE = (
    sys.executable,
    "-c",
    "from lsmtune.studies import runner; runner.DISTURBED_PERCENT = 100.0; "
    "from lsmtune.cli import checks; checks._QUIET_S = 0.01; "
    "from lsmtune.cli.main import main; main()",
)
