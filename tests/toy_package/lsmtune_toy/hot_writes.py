"""The workload hotwrites: writes of which a part goes to few records."""

from pydantic import Field

from lsmtune.workloads import Definition, Parameters, defaults

HOT_RECORDS = 0.1
"""Share of the records that are hot."""


class HotParameters(Parameters):
    """What lsmtune's workloads do not have."""

    hot_share: float = Field(default=0.9, ge=0, le=1, description="Share of writes to hot records.")


class HotWrites(Definition):
    """Writes over the whole key range, of which a part goes to the first records."""

    name = "hotwrites"
    what = "writes of which `hot_share` go to a tenth of the records"
    kind = "write"
    of_records = defaults(num=4000)
    own = HotParameters

    @property
    def written_bytes(self) -> int | None:
        """A write of every record on average."""
        return self.load.num * self.load.record_bytes
