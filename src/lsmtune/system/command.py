"""A command of the user's that is run to its end and whose work stays: a restart of a server."""

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from lsmtune.system.deadline import ProcessTimeout
from lsmtune.system.launch import Streams, start


def run_command(argv: Sequence[str], *, output: Path, limit_s: float) -> int:
    """Run the command here and return its exit code, minus the signal's number if one ended it.

    What it prints is appended to `output`. Nothing that it has started is ended, and an
    interruption is raised only once it is over: a restart must not stop half way. Raises UserError
    when it cannot be executed, ProcessTimeout when it takes longer than the limit; then it alone
    is killed.
    """
    interrupted = False
    # Only the main thread is interrupted, at any moment; so another one starts and awaits it.
    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(_run, argv, output, limit_s)
        while not ended.done():
            try:
                wait([ended])
            except KeyboardInterrupt:
                interrupted = True
    if interrupted:
        raise KeyboardInterrupt
    return ended.result()


def _run(argv: Sequence[str], output: Path, limit_s: float) -> int:
    with output.open("ab") as told, Path(os.devnull).open("rb") as nothing:
        streams = Streams(nothing, told, told)
        process = start(argv, Path.cwd(), os.environ, streams, outlives=True)
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise ProcessTimeout("wall", limit_s) from None
