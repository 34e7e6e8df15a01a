"""This host as others see it: it runs one attempt at a time and keeps results in its outbox."""

import errno
import gzip
import platform
import re
import secrets
import shutil
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
    suppress,
)
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lsmtune import __version__
from lsmtune.engines.base import Borrowed, Engine, Places, UsesLibrary, Watch
from lsmtune.engines.libraries.installed import library_hashes
from lsmtune.errors import Argument, Cancelled, LsmtuneError, UserError
from lsmtune.hosts.task import ATTEMPT_NAME, ZIPPED, HostInfo, HostResult, HostTask, Summary
from lsmtune.spec import StudySettings
from lsmtune.system.cancelling import cancelled_by, check_cancelled
from lsmtune.system.host import ClockWatch, describe_host, describe_storage
from lsmtune.system.lock import host_lock, study_lock
from lsmtune.system.workdir import (
    MARKER_NAME,
    check_workdir,
    create_workdir,
    keep_workdir,
    remove_workdir,
    sweep_workdirs,
    workdir,
)
from lsmtune.system.write import remove_file, remove_folder, write_whole

MakeEngine = Callable[[StudySettings], Engine]
"""Makes the engine of a study from its settings; UserError if this host cannot run it."""
DEFAULT_ORPHAN_S = 600.0
HOST_ID = "host-id"
"""File in a worker's home with the id of the host."""
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
_TICK_S = 0.5
"""How often a host looks whether its commander has been silent for too long, in seconds."""
_END_S = 30.0
"""How long a host waits for the end of a trial that it has ended, in seconds."""

_RESULT = "result.json"
_EVIDENCE = "evidence"
_ZIPPED_LEVEL = 1
"""Fast, as in a home: logs shrink well at any level."""


@dataclass(slots=True)
class _Running:
    """The attempt that runs. `silent_s` is the time without its commander."""

    task: HostTask
    done: Future[Summary] = field(default_factory=Future)
    wish: threading.Event = field(default_factory=threading.Event)
    why: str = "the host was told to end it"
    silent_s: float = 0.0


class ThisHost:
    """Runs the attempts that commanders give to this host, one at a time.

    A trial runs in a thread of its own. So it goes on when Dask's connection breaks, and its result
    is in the outbox when the host is connected again. If nobody reports for `orphan_s` seconds to
    command its study, the trial is ended and its folder removed.
    """

    def __init__(self, home: Path, make_engine: MakeEngine, orphan_s: float) -> None:
        self._home = home
        self._make_engine = make_engine
        self._orphan_s = orphan_s
        home.mkdir(parents=True, exist_ok=True)
        sweep_workdirs(home / "work")
        self.outbox = Outbox(home / "outbox")
        self.id = _host_id(home / HOST_ID)
        self._running: _Running | None = None
        self._lock = threading.Lock()
        self._engine: tuple[dict[str, Any], Engine] | None = None

    def describe(self) -> HostInfo:
        """Return the facts and the state of this host."""
        running = self._running
        return HostInfo(
            host=self.id,
            node=platform.node(),
            lsmtune=__version__,
            dask=version("distributed"),
            python=platform.python_version(),
            facts=describe_host(),
            storage=describe_storage(self._home),
            libraries=library_hashes(),
            now_s=time.time(),
            running=running and running.task.attempt,
            title=running and running.task.title,
            study=running and running.task.study,
            commander=running and running.task.commander,
            kept=self.outbox.kept(),
        )

    def start(self, task: HostTask) -> Future[Summary]:
        """Begin an attempt and return its future summary; LsmtuneError while another one runs.

        An attempt that runs already, or whose result is kept, does not run again.
        """
        with self._lock:
            if self.outbox.has(task.attempt):
                return _known(Summary(attempt=task.attempt))
            if self._running is not None:
                if self._running.task.attempt == task.attempt:
                    return self._running.done
                raise LsmtuneError(
                    f"host {self.id}: attempt {self._running.task.attempt} of study "
                    f"{self._running.task.study!r} runs here; wait until it ends"
                )
            running = self._running = _Running(task)
        # The kernel kills the programs of a trial when the thread that started them ends.
        threading.Thread(
            target=self._run, args=(running,), name="lsmtune trial", daemon=True
        ).start()
        threading.Thread(target=self._watch, args=(running,), name="lsmtune", daemon=True).start()
        return running.done

    def join(self, attempt: str) -> Future[Summary]:
        """Return the future summary of an attempt that runs here or has ended here."""
        with self._lock:
            if self._running is not None and self._running.task.attempt == attempt:
                return self._running.done
            if self.outbox.has(attempt):
                return _known(Summary(attempt=attempt))
        return _known(Summary(attempt=attempt, problem=f"attempt {attempt} is not on this host"))

    def heard(self, studies: tuple[str, ...]) -> None:
        """Note that somebody commands these studies."""
        running = self._running
        if running is not None and running.task.study in studies:
            running.silent_s = 0.0

    def end(self, attempt: str | None = None, why: str | None = None) -> None:
        """End the attempt, or whichever runs; its trial stops where it waits next."""
        running = self._running
        if running is not None and attempt in (None, running.task.attempt):
            running.why = why or running.why
            running.wish.set()

    def close(self) -> None:
        """End what runs, and wait until it has removed its folder."""
        running = self._running
        if running is not None:
            self.end(why="the worker was stopped")
            with suppress(TimeoutError):
                running.done.result(_END_S)

    def _watch(self, running: _Running) -> None:
        """End the attempt when nobody commands its study any more.

        Steps are counted, not the clock: a host that was frozen has not waited meanwhile.
        """
        while not running.done.done():
            with suppress(TimeoutError):
                running.done.result(_TICK_S)
            running.silent_s += _TICK_S
            if running.silent_s > self._orphan_s:
                self.end(running.task.attempt, "no lsmtune commanded its study any more")

    def _run(self, running: _Running) -> None:
        task = running.task
        try:
            with cancelled_by(running.wish):
                self._measure(task)
            summary = Summary(attempt=task.attempt)
        except Cancelled:
            summary = Summary(attempt=task.attempt, problem=f"ended: {running.why}")
        except LsmtuneError as error:
            summary = Summary(attempt=task.attempt, problem=str(error))
        except Exception as error:
            # A bug keeps its traceback, but it must not end the worker.
            problem = self._disk_problem(error) or traceback.format_exc()
            summary = Summary(attempt=task.attempt, problem=problem)
        with self._lock:
            self._running = None
        running.done.set_result(summary)

    def _measure(self, task: HostTask) -> None:
        """Run the trial as a study on one host does, and put its result into the outbox."""
        engine = self._engine_of(task)
        with self._turn(engine):
            started_at = datetime.now(UTC).isoformat(timespec="milliseconds")
            started, clock = time.monotonic(), ClockWatch()
            with workdir(self._home / "work", task.attempt) as folder:
                places = Places(folder, self._home / "templates")
                watch = _watch(task, clock)
                outcome = engine.run(task.trial, task.base, places, watch)
                check_workdir(folder)  # without it, the result says that the engine failed
                result = HostResult(
                    attempt=task.attempt,
                    study=task.study,
                    host=self.id,
                    facts=describe_host(),
                    storage=describe_storage(self._home),
                    result=outcome.result,
                    started_at=started_at,
                    duration_s=time.monotonic() - started,
                    clock_jump_s=clock.jump_s(),
                    library=engine.library.sha256 if isinstance(engine, UsesLibrary) else None,
                )
                self.outbox.put(result, outcome.evidence)

    def _turn(self, engine: Engine) -> AbstractContextManager[None]:
        """Hold the host while a run measures times."""
        return host_lock(None) if engine.times_matter else nullcontext()

    def _engine_of(self, task: HostTask) -> Engine:
        """Return the engine of the task; the last one is kept, because a library takes a while."""
        if self._engine is None or self._engine[0] != task.engine:
            engine = self._make_engine(_settings(task))
            check_can_be_shared(engine)
            self._engine = task.engine, engine
        return self._engine[1]

    def _disk_problem(self, error: Exception) -> str | None:
        if not isinstance(error, OSError) or error.errno not in _DISK_ERRORS:
            return None
        return (
            f"host {self.id} ({platform.node()}): cannot write to {self._home}: "
            f"{error.strerror}; free space there, or start the worker with another home"
        )


def check_can_be_shared(engine: Engine) -> None:
    """Raise UserError for an engine that all hosts would change at once."""
    if isinstance(engine, Borrowed):
        raise UserError(
            f"engine {engine.name}: it changes one system of yours, so hosts cannot share the "
            "work; remove ",
            Argument("hosts"),
        )


@contextmanager
def this_host(
    home: Path, make_engine: MakeEngine, orphan_s: float = DEFAULT_ORPHAN_S
) -> Iterator[ThisHost]:
    """Make this process the one that runs trials in the home; UserError if another one does."""
    with ExitStack() as held:
        try:
            home.mkdir(parents=True, exist_ok=True)
            held.enter_context(study_lock(home / "worker.lock", f"home {home}"))
            # The programs of a trial run in its folder, so a relative path would be another one.
            host = ThisHost(home.absolute(), make_engine, orphan_s)
        except OSError as error:
            raise UserError(
                Argument("home", home),
                f": cannot use this folder: {error.strerror or error}; name another folder, or "
                "free space",
            ) from error
        held.callback(host.close)
        yield host


def _watch(task: HostTask, clock: ClockWatch) -> Watch:
    """Look at the clock too, because it may be set and set back within a trial."""

    def phase(_: str) -> None:
        check_cancelled()
        clock.jump_s()

    def hopeless(bounds: Mapping[str, float]) -> str | None:
        check_cancelled()
        clock.jump_s()
        return None if task.prune is None else task.prune.reason(bounds)

    return Watch(phase, hopeless)


def _settings(task: HostTask) -> StudySettings:
    try:
        return StudySettings.model_validate(task.engine)
    except ValidationError:
        # Its text contains values, which may be secrets of the study.
        raise LsmtuneError(
            f"study {task.study!r}: this host does not understand the settings of the study; "
            "install the same version of lsmtune on all hosts"
        ) from None


def _host_id(file: Path) -> str:
    """Return the id of the host, which its home keeps."""
    try:
        return file.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        write_whole(file, secrets.token_hex(4))
        return _host_id(file)


def _known(summary: Summary) -> Future[Summary]:
    done: Future[Summary] = Future()
    done.set_result(summary)
    return done


class Outbox:
    """A folder with one folder per finished attempt.

    An entry is complete when it has its result and no marker of a work directory any more. So a
    worker that is killed while it writes leaves no half of a result.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        sweep_workdirs(folder)
        self._studies: dict[str, str] = {}
        for path in folder.iterdir():
            if not re.fullmatch(ATTEMPT_NAME, path.name) or (path / MARKER_NAME).exists():
                continue
            if (path / _RESULT).exists():
                self._studies[path.name] = _read(path / _RESULT).study
            else:
                remove_folder(path)  # it was confirmed, and a kill stopped its removal

    def put(self, result: HostResult, files: dict[str, Path]) -> None:
        """Keep a result and its evidence; OSError, and nothing kept, if the disk is full."""
        path = create_workdir(self._folder, result.attempt)
        try:
            evidence = path / _EVIDENCE
            evidence.mkdir()
            for name, file in files.items():
                _compress(name, file, evidence)
            write_whole(path / _RESULT, result.model_dump_json())
            keep_workdir(path)
            self._studies[result.attempt] = result.study
        except BaseException:
            remove_workdir(path)
            raise

    def kept(self) -> dict[str, tuple[str, ...]]:
        """Return the attempts that are kept, by study."""
        found: dict[str, list[str]] = {}
        for attempt, study in sorted(self._studies.items()):
            found.setdefault(study, []).append(attempt)
        return {study: tuple(attempts) for study, attempts in found.items()}

    def has(self, attempt: str) -> bool:
        """Return whether the result of the attempt is kept."""
        return attempt in self._studies

    def get(self, attempt: str) -> tuple[str, dict[str, bytes]]:
        """Return the JSON of the result, and the compressed evidence by name.

        LsmtuneError if no result of the attempt is kept.
        """
        if not self.has(attempt):
            raise LsmtuneError(f"attempt {attempt}: no result is kept")
        path = self._folder / attempt
        files = sorted((path / _EVIDENCE).iterdir())
        return (path / _RESULT).read_text(), {file.name: file.read_bytes() for file in files}

    def confirm(self, attempt: str) -> None:
        """Remove a result that the commander has stored; one that is gone already is fine."""
        if self._studies.pop(attempt, None) is not None:
            remove_file(self._folder / attempt / _RESULT)
            remove_folder(self._folder / attempt)


def _read(file: Path) -> HostResult:
    try:
        return HostResult.model_validate_json(file.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UserError(
            f"{file}: not a result that this version of lsmtune can read; fetch the results with "
            f"the version that wrote it, or remove the folder {file.parent.name}"
        ) from error


def _compress(name: str, file: Path, folder: Path) -> None:
    """Compress a file as a home does it; one that is compressed already stays as it is."""
    if file.suffix == ZIPPED:
        shutil.copyfile(file, folder / name)
        return
    with (
        file.open("rb") as source,
        closing(gzip.open(folder / name, "wb", _ZIPPED_LEVEL)) as target,
    ):
        shutil.copyfileobj(source, target)
