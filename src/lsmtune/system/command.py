"""A command of the user's that is run to its end and whose work stays: a restart of a server."""

import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from lsmtune.system.deadline import ProcessTimeout
from lsmtune.system.launch import Streams, start

_POLL_S = 0.02


def run_command(argv: Sequence[str], *, output: Path, limit_s: float) -> int:
    """Run the command here and return its exit code, minus the signal's number if one ended it.

    What it prints is appended to `output`. Nothing that it has started is ended, and an
    interruption is raised only once it is over: a restart must not stop half way. Raises UserError
    when it cannot be executed, ProcessTimeout when it takes longer than the limit; then it alone
    is killed.
    """
    limit = time.monotonic() + limit_s
    with output.open("ab") as told, Path(os.devnull).open("rb") as nothing:
        streams = Streams(nothing, told, told)
        process = start(argv, Path.cwd(), os.environ, streams, outlives=True)
    interrupted = False
    while process.poll() is None:
        if time.monotonic() >= limit:
            _end(process)
            raise ProcessTimeout("wall", limit_s)
        try:
            time.sleep(_POLL_S)
        except KeyboardInterrupt:
            interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return int(process.returncode)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
