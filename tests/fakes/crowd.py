"""lsmtune as a process of its own beside the other tests, whose use of the CPU repeats no trial.

It does not look at other programs for a second, and calibrates itself with short runs.
"""

import sys

CROWDED_LSMTUNE = (
    sys.executable,
    "-c",
    "from lsmtune.studies import runner; runner.DISTURBED_PERCENT = 100.0; "
    "from lsmtune.cli import checks; checks._QUIET_S = 0.01; "
    "from lsmtune.studies import calibration; calibration._RECORDS = 10_000; "
    "from lsmtune.cli.main import main; main()",
)
