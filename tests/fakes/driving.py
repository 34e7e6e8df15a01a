"""The driver as a process of its own, with a plan and a library."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import Any

import pytest

_SOURCE = Path(__file__).with_name("fake_store.c")
_PROGRAM = "import sys; sys.path.append(sys.argv[1]); import lsmsim; lsmsim.drive()"
_PATIENCE_S = 120

NEEDS_DRIVER = pytest.mark.skipif(
    find_spec("lsmsim") is None, reason="the native core is not built here"
)
NEEDS_COMPILER = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Driven:
    """What the driver said, and its exit code."""

    events: list[Json]
    returncode: int
    stderr: str

    def of(self, event: str, **fields: object) -> list[Json]:
        """The events of that kind that have these fields."""
        return [
            each
            for each in self.events
            if each["event"] == event and fields.items() <= each.items()
        ]

    def one(self, event: str, **fields: object) -> Json:
        """The only event of that kind that has these fields."""
        (found,) = self.of(event, **fields)
        return found

    @property
    def names(self) -> list[str]:
        """The kinds of all events but those of seconds, in their order."""
        return [each["event"] for each in self.events if each["event"] != "second"]


Do = Callable[..., Driven]
"""Carries out the phases of a plan, with further fields of the plan."""
Plan = Callable[..., Json]
"""Makes a plan of phases and further fields."""


def build(folder: Path, fault: str = "NOTHING") -> Path:
    """Compile the stand-in that has this fault."""
    library = folder / f"{fault}.so"
    if not library.exists():
        command = ["cc", "-shared", "-fPIC", "-pthread", f"-DFAULT={fault}"]
        subprocess.run([*command, "-o", library, _SOURCE], check=True)
    return library


def start(cwd: Path) -> subprocess.Popen[str]:
    """Start the driver as lsmtune does: without the user's environment and site."""
    package = find_spec("lsmsim")
    assert package is not None
    assert package.origin is not None
    found = Path(package.origin).parent.parent
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM, str(found)],
        cwd=cwd, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def drive(plan: Mapping[str, object] | str, cwd: Path) -> Driven:
    """Carry out a plan."""
    text = plan if isinstance(plan, str) else json.dumps(plan)
    with start(cwd) as process:
        try:
            stdout, stderr = process.communicate(text, timeout=_PATIENCE_S)
        finally:
            process.kill()
    return Driven([json.loads(line) for line in stdout.splitlines()], process.returncode, stderr)


class Talk:
    """A driver that runs, to which commands can be sent."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def send(self, line: Json | str) -> None:
        """Send a line."""
        assert self.process.stdin is not None
        self.process.stdin.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
        self.process.stdin.flush()

    def hear(self, event: str, **fields: object) -> Json:
        """Wait for the next event of that kind that has these fields."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told: Json = json.loads(line)
            if told["event"] == event and fields.items() <= told.items():
                return told
        raise AssertionError(f"the driver has ended without the event {event} {fields}")


@contextmanager
def talk(plan: Mapping[str, object], cwd: Path) -> Iterator[Talk]:
    """Start the driver with a plan on the first line, and kill it in the end."""
    with start(cwd) as process:
        patience = Timer(_PATIENCE_S, process.kill)
        patience.start()
        try:
            talking = Talk(process)
            talking.send(dict(plan))
            yield talking
        finally:
            patience.cancel()
            process.kill()


def group(operation: str = "put", **fields: object) -> Json:
    """Clients of one kind of operation, 1,000 each on uniform keys."""
    usual: Json = {"operations": 1000, "seed": 7, "keys": {"kind": "uniform"}}
    return usual | {"mix": {operation: 1}} | fields


def run(name: str, *groups: Json, **fields: object) -> Json:
    """A phase of clients on 1,000 keys."""
    usual: Json = {"num": 1000, "key_size": 16, "value_size": 100, "compression_ratio": 0.5}
    return {"do": "run", "name": name} | usual | {"groups": list(groups)} | fields


SETTLE: Json = {"do": "settle", "quiet_s": 0.05, "limit_s": 60}
FLUSH: Json = {"do": "flush"}
REPORT: Json = {"do": "report"}
