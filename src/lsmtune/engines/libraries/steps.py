"""Steps on a store of RocksDB, carried out by another process; see `system/store_steps.py`."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lsmtune.errors import LsmtuneError
from lsmtune.system import store_steps
from lsmtune.system.cancelling import Deadline, ProcessTimeout
from lsmtune.system.process import ChildProcess, ExitStatus, NoLine

Event = dict[str, Any]
"""A line that the program printed."""

_TICK_S = 0.2
_END_S = 30.0


class StepFailedError(LsmtuneError):
    """A step that failed: its name (`options`, `open`, `flush` …), and RocksDB's own message."""

    def __init__(self, step: str, message: str) -> None:
        super().__init__(message)
        self.step = step


class StepTimeoutError(StepFailedError):
    """A step that did not end within the time limit."""


def carry_out(plan: Mapping[str, Any], folder: Path, name: str, limit_s: float) -> list[Event]:
    """Carry out a plan and return the events; `folder` gets the files of the process, by `name`.

    StepFailedError if a step fails, if the process crashes, or if it runs longer than `limit_s`.
    """
    events: list[Event] = []
    try:
        status = run_program(
            store_steps.__file__, plan, folder, name, limit_s=limit_s, events=events
        )
    except ProcessTimeout as timeout:
        step = _step_after(plan, events)
        raise StepTimeoutError(step, f"it does not end: {timeout}") from timeout
    last = events[-1] if events else {}
    if last.get("event") == "failed":
        raise StepFailedError(last["step"], last["message"])
    if last.get("event") != "closed":
        stderr = folder / f"{name}-stderr.txt"
        lines = stderr.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
        how = status.signal_name or f"exit code {status.returncode}"
        words = ": ".join([f"its process ended with {how}", *lines])
        raise StepFailedError(_step_after(plan, events), words)
    return events


def run_program(
    program: str,
    plan: Mapping[str, Any],
    folder: Path,
    name: str,
    *,
    limit_s: float,
    events: list[Event],
) -> ExitStatus:
    """Run a program of `system` that reads a plan and prints events, and return how it ended.

    The events are added to `events` as they come. ProcessTimeout if it runs longer than `limit_s`.
    """
    files = {part: folder / f"{name}-{part}" for part in ("plan.json", "stdout.txt", "stderr.txt")}
    files["plan.json"].write_text(json.dumps(plan), encoding="utf-8", errors="surrogateescape")
    deadline = Deadline(wall_s=limit_s, silence_s=limit_s)
    with ChildProcess(
        # -I: no module of the user, or next to the program, replaces a module of Python.
        [sys.executable, "-I", program],
        cwd=folder,
        stdin_path=files["plan.json"],
        stdout_path=files["stdout.txt"],
        stderr_path=files["stderr.txt"],
        env={},
    ) as child:
        while (line := child.read_line(_TICK_S)) is not NoLine.END:
            if isinstance(line, str) and line.startswith("{"):
                events.append(json.loads(line))
            deadline.check()
        return child.wait(_END_S)


def result_of(events: list[Event], step: str) -> Any:
    """Return the result of the last step of this name."""
    return next(event["result"] for event in reversed(events) if event["event"] == step)


def _step_after(plan: Mapping[str, Any], events: list[Event]) -> str:
    """Return the name of the step that did not end."""
    names = ["open", *(step["do"] for step in plan.get("steps", ())), "close"]
    return str(names[min(len(events), len(names) - 1)])
