"""What came out of one trial, in named units."""

from pydantic import BaseModel, ConfigDict


class Level(BaseModel):
    """One level of the tree at the end, and what was written into it; None: not stated."""

    model_config = ConfigDict(frozen=True)
    level: str
    files: int
    size_bytes: int
    read_bytes: int | None
    write_bytes: int | None
    w_amp_table: float | None


class Moment(BaseModel):
    """A running store at one moment of the window of a trial.

    second        since the begin of the window
    write_bytes_s key and value bytes that the clients have written per second since the moment
                  before
    level0_files  number of files of level 0
    live_bytes    size of live table files and blob files
    """

    model_config = ConfigDict(frozen=True)
    second: float
    write_bytes_s: float
    level0_files: int
    live_bytes: int


class Measurement(BaseModel):
    """The metrics of a trial by name, the tree it left, and the engine that really ran.

    `stalls` counts them by cause, as the engine names it. `as_run` holds the options that
    were read back from the engine, by knob name and in the engine's own spelling. `window` is the
    course of the window of a running trial.
    """

    model_config = ConfigDict(frozen=True)
    metrics: dict[str, float]
    levels: tuple[Level, ...]
    stalls: dict[str, int]
    engine_version: str
    assertions_enabled: bool
    as_run: dict[str, str]
    window: tuple[Moment, ...] = ()
