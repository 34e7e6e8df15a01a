"""The loads by name: what each does, and which parameters it has besides those of every load."""

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["write", "read", "mixed"]


@dataclass(frozen=True, slots=True)
class Preset:
    """A load by name.

    `kind` tells what is measured of it: the writes, followed by a probe of reads; the reads; or
    both at once. `prepared` loads run on a database that has been built and has settled before.
    `parameters` are those that only some loads have, with their defaults; a load has no others.
    """

    what: str
    kind: Kind
    prepared: bool = False
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def objective(self) -> str:
        """What is asked for under this load unless the user says otherwise."""
        return "throughput_ops_s" if self.kind == "read" else "balanced"

    @property
    def knobs(self) -> str:
        """The preset of knobs that is searched unless the user says otherwise."""
        return {"write": "core", "read": "reads", "mixed": "mixed"}[self.kind]


_OPERATIONS: dict[str, Any] = {"operations": None}
_STORED: dict[str, Any] = {**_OPERATIONS, "present": 1.0, "direct_reads": True}
_GETS: dict[str, Any] = {**_STORED, "skew": None}
_SCANS: dict[str, Any] = {**_STORED, "scan_length": 10}
_FEWER = {"readrandom": 2, "readhalfmissing": 2, "scanshort": 4, "scanlong": 50}
"""Reads of the device take longer than writes: so many times fewer are run by default."""

PRESETS: dict[str, Preset] = {
    "fillrandom": Preset(
        "random writes over the whole key range into an empty store: write-heavy",
        "write",
        parameters={"operations": None},
    ),
    "fillseq": Preset("writes in the order of the keys into an empty store", "write"),
    "overwrite": Preset(
        "random overwrites of the records of a settled store", "write", True, _OPERATIONS
    ),
    "updaterandom": Preset(
        "read-modify-write of random records of a settled store", "mixed", True, _STORED
    ),
    "deleterandom": Preset(
        "deletes of random records of a settled store", "write", True, _OPERATIONS
    ),
    "rangedelete": Preset(
        "random overwrites with a range tombstone after every `tombstone_every` of them, over "
        "`tombstone_width` keys",
        "write",
        True,
        {**_OPERATIONS, "tombstone_every": 1000, "tombstone_width": 100},
    ),
    "readrandom": Preset("gets of random records that exist", "read", True, _GETS),
    "readhalfmissing": Preset(
        "gets of which half find no record, though its key lies among those that exist",
        "read",
        True,
        {**_GETS, "present": 0.5},
    ),
    "scanshort": Preset("seeks with 10 records read behind each", "read", True, _SCANS),
    "scanlong": Preset(
        "seeks with 1,000 records read behind each",
        "read",
        True,
        {**_SCANS, "scan_length": 1000},
    ),
    "readwhilewriting": Preset(
        "gets while one more thread overwrites `write_rate_bytes_s` a second",
        "mixed",
        True,
        {**_GETS, "write_rate_bytes_s": 4 << 20},
    ),
    "readrandomwriterandom": Preset(
        "gets and overwrites of random records in turn; `get_percent` of the operations are gets",
        "mixed",
        True,
        {**_STORED, "get_percent": 50},
    ),
    "mix": Preset(
        "gets, puts and scans in shares of your own",
        "mixed",
        True,
        {**_GETS, "scan_length": 10, "mix": {"get": 0.5, "put": 0.5, "scan": 0.0}},
    ),
    "mixgraph": Preset(
        "gets, puts and scans as in Facebook's ZippyDB: hot ranges of keys, hot keys, varying "
        "lengths of values and scans",
        "mixed",
        True,
        _STORED,
    ),
    "trace": Preset(
        "your own trace, as RocksDB records it, replayed as fast as it goes on a copy of your "
        "`database`, or on a built one",
        "mixed",
        True,
        {"direct_reads": True, "present": 1.0, "trace": None, "database": None},
    ),
}
"""The workloads by name."""

OPTIONAL = frozenset(name for preset in PRESETS.values() for name in preset.parameters)
"""The parameters that only some loads have."""


def default_operations(name: str, num: int) -> int:
    """Operations of each client where the user names none: as many as records, or fewer reads."""
    return max(1, num // _FEWER.get(name, 1))
