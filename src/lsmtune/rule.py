"""The rule by which a study sizes its trials, stored with the study."""

from pydantic import BaseModel, ConfigDict, Field

FULL_SIZE = {"full_size": True}
"""What is stored in place of a rule if trials always have full size. An older lsmtune stored
nothing."""


class SizeRule(BaseModel):
    """All sizes of a trial scale with the tree, and each config must be legal at full size.

    `cores` are those that the deployed store may use. They bound the numbers of threads. With
    `existing_store`, a search tries only values that a store of the baseline survives (see
    knobs/existing.py); studies that began before this rule have it not.

    A study without a rule began with lsmtune 0.2 or older, or repeats a published study: a block
    cache that is not given does not scale, the memory limit applies at the scale of the trials,
    and numbers of threads have the ranges of the catalogue.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    cores: int = Field(ge=1)
    existing_store: bool = False
