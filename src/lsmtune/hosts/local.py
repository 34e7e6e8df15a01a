"""Local hosts: worker processes on this machine, for engines whose times do not matter.

`python -m lsmtune.hosts.local ROLE FOLDER NAME` is one of these processes.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lsmtune.errors import LsmtuneError
from lsmtune.hosts.address import parse_address
from lsmtune.hosts.certificates import make, security
from lsmtune.hosts.commander import Hosts
from lsmtune.hosts.connect import connect
from lsmtune.hosts.extra import need_extra, silence_dask
from lsmtune.hosts.scheduler import run_scheduler
from lsmtune.hosts.this_host import HOST_ID
from lsmtune.hosts.worker import run_worker
from lsmtune.system.launch import Streams, end, start
from lsmtune.system.workdir import scratch
from lsmtune.system.write import write_whole

_KEYS, _ADDRESS, _LOG = "keys", "address", "log.txt"
_START_S = 120.0
_END_S = 40.0
"""Longer than a worker waits for the end of its trial, in seconds."""
_POLL_S = 0.05
_ANY_PORT = "tls://127.0.0.1:0"


@contextmanager
def local_hosts(number: int) -> Iterator[Hosts]:
    """Start this number of workers on this machine, command them, and end them after the block.

    They use certificates that only they have, because other users of the machine could connect to
    a port without. They also end when the calling thread ends. LsmtuneError if they do not start.
    """
    need_extra()
    with scratch() as folder, ExitStack() as processes:
        keys = make(folder / _KEYS).folder
        processes.enter_context(_process("scheduler", folder, "scheduler"))
        _await((folder / _ADDRESS).exists, folder)
        for index in range(number):
            processes.enter_context(_process("worker", folder, f"worker-{index}"))
        with connect((folder / _ADDRESS).read_text(), keys) as hosts:
            _await(lambda: len(hosts.hosts()) == number, folder)
            yield hosts


@contextmanager
def _process(role: str, folder: Path, name: str) -> Iterator[None]:
    """Run one of the processes; it ends with the block, and also if this process is killed."""
    argv = [sys.executable, "-m", "lsmtune.hosts.local", role, str(folder), name]
    with Path(os.devnull).open("rb") as nothing, (folder / _LOG).open("ab") as log:
        process = start(argv, folder, os.environ, Streams(nothing, log, log))
    try:
        yield
    finally:
        end(process, _END_S)


def _await(is_done: Callable[[], bool], folder: Path) -> None:
    limit_s = time.monotonic() + _START_S
    while not is_done():
        if time.monotonic() > limit_s:
            raise LsmtuneError(
                f"the local hosts did not start within {_START_S:g} s: "
                f"{(folder / _LOG).read_text(errors='replace')[-2000:]}"
            )
        time.sleep(_POLL_S)


def _run(role: str, folder: Path, name: str) -> None:
    """Be a scheduler or a worker."""
    silence_dask()
    keys = folder / _KEYS
    if role == "scheduler":
        run_scheduler(
            parse_address(_ANY_PORT),
            security(keys, "scheduler"),
            lambda address, _: write_whole(folder / _ADDRESS, address.text),
        )
    else:
        address = parse_address((folder / _ADDRESS).read_text())
        # The next call has other folders, but its hosts are the same.
        (folder / name).mkdir()
        write_whole(folder / name / HOST_ID, name)
        run_worker(address, folder / name, security(keys, "worker"), lambda _: None)


if __name__ == "__main__":
    _run(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
