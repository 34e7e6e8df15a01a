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


class Measurement(BaseModel):
    """The metrics of a trial by name, the tree it left, and the engine that really ran.

    `stalls` counts them by cause, as the engine names it. `as_run` holds the options that
    were read back from the engine, by knob name and in the engine's own spelling.
    """

    model_config = ConfigDict(frozen=True)
    metrics: dict[str, float]
    levels: tuple[Level, ...]
    stalls: dict[str, int]
    engine_version: str
    assertions_enabled: bool
    as_run: dict[str, str]
