"""What a simplification found: the winner with fewer changes. It is stored with the study."""

from pydantic import BaseModel, ConfigDict


class Without(BaseModel):
    """A change that was needed, or changes that belong together, and a trial without them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    names: tuple[str, ...]
    trial: int


class Simplified(BaseModel):
    """The result of a simplification, by numbers of trials.

    `raw` is the winner of the search. `simple` is the first run of the config with fewer changes;
    None if no change was taken back. `needed` are the changes that were taken back alone, and had
    to stay. `ended_early` is the number of the study's last trial if disturbed runs ended the
    simplification.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    raw: int
    simple: int | None
    needed: tuple[Without, ...] = ()
    ended_early: int | None = None
