"""The rule by which a study sizes its trials, stored with the study."""

from pydantic import BaseModel, ConfigDict, Field


class SizeRule(BaseModel):
    """All sizes of a trial scale with the tree, and each config must be legal at full size.

    `cores` are those that the deployed store may use. They bound the numbers of threads. A search
    tries only values that a store of the baseline survives (see knobs/existing.py).

    A study that repeats a published one has no rule: a block cache that is not given does not
    scale, the memory limit applies at the scale of the trials, and numbers of threads have the
    ranges of the catalogue. Nor has a study whose trials have full size.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    cores: int = Field(ge=1)
