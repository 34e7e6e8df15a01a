"""The loads: everything about a run that is not the store's to choose."""

from pydantic import BaseModel, ConfigDict, Field

from lsmtune.errors import UserError


class Workload(BaseModel):
    """A load and its data, with every parameter explicit.

    `num` records are written by each of `threads` clients under keys of `key_size` bytes, with
    values of `value_size` bytes that compress to `compression_ratio` of their size. Keys are
    drawn from `num` different ones, so that with one thread about 63 % are distinct.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = "fillrandom"
    num: int = Field(default=1_000_000, ge=1000, le=10**12)
    key_size: int = Field(default=16, ge=8, le=1024)
    value_size: int = Field(default=1024, ge=1, le=1 << 24)
    threads: int = Field(default=1, ge=1, le=1024)
    compression_ratio: float = Field(default=0.5, gt=0, le=1)

    @property
    def operations(self) -> int:
        """Writes of all threads together."""
        return self.num * self.threads

    @property
    def user_bytes(self) -> int:
        """Key and value bytes that the clients write."""
        return self.operations * (self.key_size + self.value_size)

    @property
    def distinct_bytes(self) -> float:
        """Expected logical size of the distinct records that uniform random keys leave."""
        missed = (1 - 1 / self.num) ** self.operations
        return self.num * (1 - missed) * (self.key_size + self.value_size)


PRESETS: dict[str, str] = {
    "fillrandom": "random writes over the whole key range into an empty store: write-heavy",
}
"""The workloads by name, each with what it does."""


def preset(name: str, where: str) -> Workload:
    """The workload of that name with its default parameters; UserError where there is none."""
    if name not in PRESETS:
        raise UserError(f"{where}: no workload {name!r}; known are {', '.join(PRESETS)}")
    return Workload(name=name)
