"""The records that hosts exchange: JSON, so that none of lsmtune's objects is pickled."""

import zlib
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lsmtune.errors import LsmtuneError, UserError
from lsmtune.knobs.types import Settings
from lsmtune.pruning import PruneRule
from lsmtune.system.host import HostFacts, StorageFacts
from lsmtune.trials import Base, TrialResult, TrialSpec

ATTEMPT_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
"""Pattern of the names of attempts, which are also names of folders."""

CLOCK_S = 5.0
"""Clocks that differ by less are not remarked: a slow answer can look like that."""
SET_CLOCKS = "set the clocks, for example with NTP"
"""Advice about a clock that is off."""
_HASH_DIGITS = 8
ZIPPED = ".gz"
"""Suffix of a file that a home stores as it is, because it is compressed already."""


def short_hash(sha256: str) -> str:
    """Return the first digits of a SHA-256, which tell two libraries apart."""
    return sha256[:_HASH_DIGITS]


class HostTask(BaseModel):
    """One attempt to run a trial, with all that a host needs for it.

    `attempt` is new for each attempt, also if the same trial runs again. `study` must differ
    between the studies of all homes. `engine` are the settings of the study, from which the host
    makes the engine; `base_settings` are those of the trial spec, which its JSON leaves out.
    `commander` names the process that gives the task, and `title` study and run, both for people.
    """

    model_config = ConfigDict(frozen=True)
    attempt: str = Field(pattern=f"^{ATTEMPT_NAME}$")
    study: str
    engine: dict[str, Any]
    base: Base
    base_settings: Settings
    spec: TrialSpec
    prune: PruneRule | None = None
    commander: str = ""
    title: str = ""

    @property
    def trial(self) -> TrialSpec:
        """The whole trial spec."""
        return self.spec.model_copy(update={"base_settings": self.base_settings})

    def pack(self) -> bytes:
        """Return the task as Dask sends it: short, and not readable in a log."""
        return zlib.compress(self.model_dump_json().encode())

    @classmethod
    def unpack(cls, packed: bytes) -> Self:
        """Return the task; LsmtuneError if another version of lsmtune wrote it."""
        try:
            return cls.model_validate_json(zlib.decompress(packed))
        except (zlib.error, ValidationError) as error:
            # The text of the error would contain the settings of the study.
            raise LsmtuneError(
                "this host cannot read the task; install the same version of lsmtune on all hosts"
            ) from error


class HostResult(BaseModel):
    """The result of an attempt, as its host measured it.

    `library` is the SHA-256 of the RocksDB library that the host loaded; None if the engine loads
    none. `clock_jump_s` says by how many seconds the clock was set meanwhile. `evidence` has the
    files to keep by the engine's names, each compressed by gzip.
    """

    model_config = ConfigDict(frozen=True)
    attempt: str
    study: str
    host: str
    facts: HostFacts
    storage: StorageFacts
    result: TrialResult
    started_at: str
    duration_s: float
    clock_jump_s: float
    library: str | None = None
    evidence: dict[str, bytes] = Field(default={}, exclude=True)

    def write_evidence(self, folder: Path) -> dict[str, Path]:
        """Write the evidence into the folder and return the files for `Home.add_trial`.

        UserError for a name that is not a plain file name.
        """
        files = {}
        for name, content in self.evidence.items():
            if Path(name).name != name:
                raise UserError(f"host {self.host}: evidence {name!r}: not a plain file name")
            files[name] = folder / f"{name}{ZIPPED}"
            files[name].write_bytes(content)
        return files


class Summary(BaseModel):
    """The answer of a host to a task: the result is in its outbox, or a problem prevented it."""

    model_config = ConfigDict(frozen=True)
    attempt: str
    problem: str | None = None


class HostInfo(BaseModel):
    """A host and its state.

    `host` is the same whenever a worker with the same home runs; it is empty if the worker does not
    answer. `address` is that of the worker, which is another one after each new connection.
    `libraries` has the SHA-256 of the installed RocksDB by version.
    `running` is the attempt that runs, `title` its study and run in words, `study` its study.
    `kept` are the attempts, by study, whose results nobody has confirmed. `clock_offset_s` is by
    how much the host's clock is ahead of ours. `problem` says why the host cannot be used.
    """

    model_config = ConfigDict(frozen=True)
    address: str = ""
    host: str = ""
    node: str = ""
    lsmtune: str = ""
    dask: str = ""
    python: str = ""
    facts: HostFacts | None = None
    storage: StorageFacts | None = None
    now_s: float = 0.0
    clock_offset_s: float = 0.0
    libraries: dict[str, str] = {}
    running: str | None = None
    title: str | None = None
    study: str | None = None
    commander: str | None = None
    kept: dict[str, tuple[str, ...]] = {}
    problem: str | None = None

    def document(self) -> dict[str, Any]:
        """The host as JSON."""
        return self.model_dump(mode="json", exclude={"now_s"})

    @property
    def work(self) -> str:
        """Which run of which study the host runs, and for whom, in words."""
        if self.running is None:
            return "free"
        return f"{self.title or self.running} (for {self.commander})"

    @property
    def clock_text(self) -> str | None:
        """By how much the host's clock is off, in words; None if it is right."""
        if abs(self.clock_offset_s) < CLOCK_S:
            return None
        side = "ahead of" if self.clock_offset_s > 0 else "behind"
        return f"{abs(self.clock_offset_s):.0f} s {side} the clock of this machine"

    @property
    def remark(self) -> str | None:
        """What is odd about the host although it can be used, as a sentence; None if nothing."""
        if self.clock_text is None:
            return None
        return f"host {self.host} ({self.node}): its clock is {self.clock_text}; {SET_CLOCKS}"
