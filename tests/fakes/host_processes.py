"""Schedulers and workers as processes, with faults: killed, frozen, ended politely."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fakes.forks import Fork
from fakes.patience import PATIENCE_S, eventually
from fakes.scripted_host import KEPT, RAN
from lsmtune.hosts.certificates import make
from lsmtune.hosts.commander import Event, Finished, Hosts
from lsmtune.hosts.connect import connect
from lsmtune.hosts.task import HostInfo, HostTask
from lsmtune.spec import make_spec
from lsmtune.system.launch import Streams, start
from lsmtune.trials import Base, Protocol, TrialSpec

TESTS = Path(__file__).parents[1]
SETTINGS = make_spec({"workload": {"name": "fillrandom"}}, "test").model_dump(mode="json")
STUDY = "study-1"
_AT_THE_START = ("DASK_", "LD_PRELOAD")
"""Beginnings of variables that act only when a program starts. Others act in a fork, too."""


def host_task(attempt: str, *, value: float = 2.0, seconds: float = 0.0, seed: int = 1) -> HostTask:
    """A task for the scripted engine."""
    workload = make_spec({"workload": {"name": "fillrandom"}}, "test").workload
    spec = TrialSpec(
        settings={"value": value, "seconds": seconds},
        workload=workload,
        protocol=Protocol(),
        seed=seed,
    )
    return HostTask(
        attempt=attempt,
        study=STUDY,
        engine=SETTINGS,
        base=Base(options="", settings={}),
        base_settings={},
        spec=spec,
    )


@dataclass
class HostProcess:
    """A process of a host; its output is in `log`."""

    home: Path
    popen: "subprocess.Popen[bytes] | Fork"
    log: Path

    @property
    def host(self) -> str:
        return (self.home / "host-id").read_text()

    @property
    def text(self) -> str:
        return self.log.read_text()

    @property
    def ran(self) -> list[str]:
        """Lines of the scripted engine."""
        return _lines(self.home / RAN)

    @property
    def kept(self) -> list[str]:
        """Attempts whose results were in the outbox."""
        return _lines(self.home / KEPT)

    def send(self, number: signal.Signals) -> None:
        self.popen.send_signal(number)

    def kill(self) -> None:
        """End the process at once, as a power failure would."""
        self.send(signal.SIGKILL)
        self.popen.wait(PATIENCE_S)

    def end(self) -> int:
        """End the process politely, whatever its state is, and return its exit code."""
        self.send(signal.SIGCONT)
        self.send(signal.SIGTERM)
        return self.popen.wait(PATIENCE_S)


def _lines(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


@dataclass
class Cluster:
    """A scheduler on the loopback interface and its workers, with certificates of their own."""

    folder: Path
    keys: Path
    scheduler: HostProcess | None = None
    workers: list[HostProcess] = field(default_factory=list)
    prefix: dict[str, list[str]] = field(default_factory=dict)
    """Words in front of the command of a process, for example to run it in a network namespace."""

    @property
    def address(self) -> str:
        return (self.folder / "scheduler" / "address").read_text()

    def start_scheduler(self, address: str = "tls://127.0.0.1:0", **env: str) -> None:
        home = self.folder / "scheduler"
        (home / "address").unlink(missing_ok=True)
        self.scheduler = self._process("scheduler", address, self.keys, env)
        assert eventually((home / "address").exists), self.scheduler.text

    def start_worker(
        self,
        name: str,
        *,
        keys: Path | None = None,
        address: str | None = None,
        **env: str,
    ) -> HostProcess:
        worker = self._process("worker", address or self.address, keys or self.keys, env, name)
        self.workers.append(worker)
        return worker

    def start_commander(self, seconds: float, *attempts: str) -> HostProcess:
        """Start a commander that gives one attempt to each host, in the order of their ids."""
        program = ["fakes.scripted_commander", self.address, str(self.keys), str(seconds)]
        commander = self._run("commander", [*program, *attempts], {})
        self.workers.append(commander)
        assert eventually(lambda: "started" in commander.text), commander.text
        return commander

    def start_tune(self, home: Path, trials: int, pairs: int = 0) -> HostProcess:
        """Start a study on the hosts, or go on with it."""
        return self._start_study("tune", home, trials, pairs)

    def start_simplify(self, home: Path, trials: int) -> HostProcess:
        """Simplify the winner of a study on the hosts."""
        return self._start_study("simplify", home, trials)

    def _start_study(self, what: str, home: Path, trials: int, pairs: int = 0) -> HostProcess:
        place = [self.address, str(self.keys), str(home)]
        program = ["fakes.scripted_tune", what, *place, str(trials), str(pairs)]
        study = self._run("tune", program, {})
        self.workers.append(study)
        return study

    @contextmanager
    def connect(self, alive_s: float = 0.5) -> Iterator[Hosts]:
        with connect(self.address, self.keys, alive_s=alive_s) as hosts:
            yield hosts

    def end_workers(self) -> None:
        for worker in self.workers:
            if worker.popen.poll() is None:
                worker.send(signal.SIGCONT)
                worker.send(signal.SIGTERM)
        for worker in self.workers:
            worker.popen.wait(PATIENCE_S)
        self.workers.clear()

    def end(self) -> None:
        self.end_workers()
        if self.scheduler is not None:
            self.scheduler.end()

    def _process(
        self, role: str, address: str, keys: Path, env: Mapping[str, str], name: str = "scheduler"
    ) -> HostProcess:
        program = ["fakes.scripted_host", role, address, str(self.folder / name), str(keys)]
        return self._run(name, program, env)

    def _run(self, name: str, program: list[str], env: Mapping[str, str]) -> HostProcess:
        home = self.folder / name
        (home / "tmp").mkdir(parents=True, exist_ok=True)
        log = home.with_suffix(".log")
        path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
        given = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(home / "tmp"), **env}
        with Path(os.devnull).open("rb") as nothing, log.open("ab") as output:
            if not self.prefix and not any(each.startswith(_AT_THE_START) for each in env):
                files = (output.fileno(), output.fileno())
                fork = Fork("fakes.host_forks", program, home, given, files)
                return HostProcess(home, fork, log)
            argv = [*self.prefix.get(name, ()), sys.executable, "-m", *program]
            popen = start(argv, home, given, Streams(nothing, output, output))  # type: ignore[arg-type]
        return HostProcess(home, popen, log)


def new_cluster(folder: Path) -> Cluster:
    """A folder with certificates, in which nothing runs yet."""
    made = make(folder / "keys")
    return Cluster(folder, made.folder)


def joined(hosts: Hosts, *workers: HostProcess) -> list[HostInfo]:
    """Wait until the workers can be used, and return their hosts in this order."""
    found: dict[str, HostInfo] = {}

    def all_there() -> bool:
        found.clear()
        found.update({info.host: info for info in hosts.hosts() if info.problem is None})
        return all((each.home / "host-id").exists() and each.host in found for each in workers)

    assert eventually(all_there), [worker.text for worker in workers]
    return [found[worker.host] for worker in workers]


def events(hosts: Hosts, number: int = 1) -> list[Event]:
    """The next events."""
    found: list[Event] = []
    assert eventually(lambda: bool(found.extend(hosts.wait(1))) or len(found) >= number)
    return found


def finished(event: Event) -> Finished:
    assert isinstance(event, Finished), event
    return event
