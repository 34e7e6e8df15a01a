"""A commander as a process: the simplest way to give out trials until all are stored.

Each free host gets the next trial, and a lost one runs again. Results are lines of a file, so that
the next process goes on after a kill. Arguments: address, folder of the certificates, file, number
of trials.
"""

import json
import os
import sys
import time
from collections import deque
from pathlib import Path

from fakes.host_processes import STUDY, host_task
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.commander import Finished, Hosts
from lsmtune.hosts.connect import connect
from lsmtune.hosts.task import HostInfo, HostResult

SECONDS = 2.0
FIRST_SEED = 100


class Pool:
    """The trials that are open, and the hosts that run some of them."""

    def __init__(self, hosts: Hosts, file: Path, trials: int) -> None:
        self._hosts = hosts
        self._file = file
        self._stored = {line["trial"] for line in read(file)}
        self._open = deque(trial for trial in range(trials) if trial not in self._stored)
        self._running: dict[str, str] = {}

    @property
    def is_done(self) -> bool:
        return not self._open and not self._running

    def step(self) -> None:
        """Give out what is open, and take what has ended."""
        infos = self._hosts.hosts()
        for info in infos:
            if info.problem is None and info.host not in self._running.values():
                self._use(info)
        for event in self._hosts.wait(1):
            del self._running[event.attempt]
            if isinstance(event, Finished):
                self._store(event.result)
            elif trial_of(event.attempt) not in self._stored:
                self._open.append(trial_of(event.attempt))
        if any(info.kept.get(STUDY) for info in infos):
            for result in self._hosts.collect(STUDY):
                self._store(result)

    def _use(self, info: HostInfo) -> None:
        """Wait for what runs on the host already, or give it the next trial."""
        if info.running is not None:
            attempt = info.running
            self._hosts.rejoin(info.address, attempt, STUDY)
            if trial_of(attempt) in self._open:
                self._open.remove(trial_of(attempt))
        elif self._open:
            trial = self._open.popleft()
            attempt = f"t-{trial}-{time.time_ns()}"
            task = host_task(attempt, value=trial + 1.0, seconds=SECONDS, seed=trial + FIRST_SEED)
            self._hosts.start(info.address, task)
        else:
            return
        self._running[attempt] = info.host

    def _store(self, result: HostResult) -> None:
        """Keep the first result of a trial; further ones are late."""
        trial = trial_of(result.attempt)
        line = {
            "attempt": result.attempt,
            "trial": trial,
            "value": result.result.metrics["write_amp"],
            "late": trial in self._stored,
        }
        known = {each["attempt"] for each in read(self._file)}
        if result.attempt not in known:  # an earlier process was killed before it confirmed
            with self._file.open("a") as file:
                file.write(f"{json.dumps(line)}\n")
                file.flush()
                os.fsync(file.fileno())
        self._stored.add(trial)
        if trial in self._open:
            self._open.remove(trial)
        self._hosts.confirm([result.attempt])


def trial_of(attempt: str) -> int:
    return int(attempt.split("-")[1])


def read(file: Path) -> list[dict[str, object]]:
    """The whole lines of the file."""
    text = file.read_text() if file.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def main(address: str, keys: str, file: str, trials: str) -> None:
    with connect(address, Path(keys), alive_s=0.5) as hosts:
        pool = Pool(hosts, Path(file), int(trials))
        while not pool.is_done:
            pool.step()
        print("done", flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except LsmtuneError as error:
        sys.exit(f"lsmtune: {error}")
