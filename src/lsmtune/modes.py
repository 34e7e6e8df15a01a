"""What makes a study something else than a search between runs: tables of its settings."""

from pydantic import BaseModel, ConfigDict, Field

from lsmtune.knobs.design import DesignName


class Screen(BaseModel):
    """What makes a study a screening: many configs spread over the whole space, none preferred.

    The trials are points of a `design`, or the lines of a `batch` file. Of the first `replicated`
    configs each runs `runs` times in all: how far runs of one config differ bounds what any
    model can explain. Every run has a workload seed of its own.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    design: DesignName = "sobol"
    batch: str | None = None
    replicated: int = Field(default=20, ge=0, le=10_000)
    runs: int = Field(default=3, ge=2, le=100)


class Online(BaseModel):
    """What makes a study one of a running engine, whose options are changed while it serves.

    A change is judged by `windows` of `window_s` seconds before it and under it, and as many after
    it was taken back where it seems to gain.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    window_s: float = Field(default=10.0, ge=0.5, le=3600)
    windows: int = Field(default=5, ge=3, le=100)
