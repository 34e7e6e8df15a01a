"""The engine toy: a key-value store in memory with three knobs.

Writes go to a buffer. A full buffer becomes a sorted run, and too many runs are merged into one.
The costs are counted, not timed, so equal runs give equal metrics.
"""

import json
import random
from pathlib import Path

from lsmtune.engines.base import EngineFacts, Outcome, OwnBase, Places, TrialFailedError, Watch
from lsmtune.engines.checks import Check
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.exports import TOML
from lsmtune.knobs.catalogue import Catalogue, Preset
from lsmtune.knobs.types import Knob
from lsmtune.metrics.definitions import Metric
from lsmtune.metrics.measurement import Measurement
from lsmtune.trials import Base, Status, TrialResult, TrialSpec
from lsmtune_toy.ini import INI, Ini, read_ini

from .hot_writes import HOT_RECORDS, HotParameters, HotWrites

VERSION = "1.0"
METRICS = (
    "write_amp", "read_amp", "live_sst_bytes",
    Metric("merged_runs", "runs", "lower", "sorted runs that merges have read"),
)  # fmt: skip
_MOST_RECORDS = 20_000

CATALOGUE = Catalogue(
    engine="toy",
    knobs=(
        Knob.integer(
            "buffer_records", 16, 4096, default=64, log=True, area="writes",
            trade="A larger buffer means fewer runs, but needs more memory.",
        ),
        Knob.integer(
            "most_runs", 2, 16, default=4, area="merges",
            trade="More runs mean fewer merges, but a read looks into more runs.",
        ),
        Knob.choice(
            "merge", ("all", "newest"), default="all", area="merges",
            trade="A merge of all runs drops all old values. A merge of the newest two is cheaper.",
        ),
    ),
    presets=(Preset(name="all", title="all knobs"),),
)  # fmt: skip


class Toy:
    """The engine contract on the store."""

    name = "toy"
    times_matter = False
    catalogue = CATALOGUE

    def describe(self, workdir: Path) -> EngineFacts:
        """Return the version of the store."""
        return EngineFacts(VERSION, self.name, False, "", None)

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the defaults, or the options of the user's file."""
        given = {} if own is None else read_ini(own.options, CATALOGUE)
        settings = CATALOGUE.defaults(1) | given
        return Base(options="", settings=settings, given=own and own.options)

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        """Write records, and keep what the store looks like as evidence."""
        watch.phase("load")
        store = Store(spec)
        tree = places.workdir / "tree.json"
        try:
            metrics = store.load(spec)
        except TrialFailedError as failure:
            return Outcome(TrialResult(status=failure.status, reason=str(failure)), {})
        tree.write_text(json.dumps([len(run) for run in store.runs]))
        measurement = Measurement(
            metrics=metrics, levels=(), stalls={}, engine_version=VERSION,
            assertions_enabled=False, as_run={n: str(v) for n, v in spec.settings.items()},
        )  # fmt: skip
        result = TrialResult(status=Status.COMPLETE, measurement=measurement)
        return Outcome(result, {"tree.json": tree})


class Store:
    """The store: a buffer and sorted runs, the newest last."""

    def __init__(self, spec: TrialSpec) -> None:
        """Take the knobs of a trial."""
        self.buffer_records = int(spec.settings["buffer_records"])
        self.most_runs = int(spec.settings["most_runs"])
        self.merges_all = spec.settings["merge"] == "all"
        self.buffer: set[int] = set()
        self.runs: list[set[int]] = []
        self.written = self.merged = 0

    def load(self, spec: TrialSpec) -> dict[str, float]:
        """Run the workload and return the metrics."""
        records = min(spec.workload.num, _MOST_RECORDS)
        if self.buffer_records > records:
            raise TrialFailedError(Status.REFUSED, "the buffer is larger than the data")
        order = random.Random(spec.seed)
        hot = own.hot_share if isinstance(own := spec.workload.own, HotParameters) else 0.0
        for _ in range(records):
            is_hot = hot > 0 and order.random() < hot
            self.put(order.randrange(max(1, round(HOT_RECORDS * records)) if is_hot else records))
        self.flush()
        return {
            "write_amp": self.written / records,
            "read_amp": float(len(self.runs)) + self.buffer_records / records,
            "merged_runs": float(self.merged),
            "live_sst_bytes": float(sum(map(len, self.runs)) * spec.workload.record_bytes),
        }

    def put(self, key: int) -> None:
        """Write one record."""
        self.buffer.add(key)
        if len(self.buffer) >= self.buffer_records:
            self.flush()

    def flush(self) -> None:
        """Make the buffer a sorted run, and merge runs if there are too many."""
        self.runs.append(self.buffer)
        self.written += len(self.buffer)
        self.buffer = set()
        while len(self.runs) > self.most_runs:
            merged = self.runs if self.merges_all else self.runs[-2:]
            kept = [] if self.merges_all else self.runs[:-2]
            self.merged += len(merged)
            self.runs = [*kept, set[int]().union(*merged)]
            self.written += len(self.runs[-1])


TOY = EngineEntry(
    name="toy",
    summary="a key-value store in memory",
    program="toy",
    workloads=("fillrandom", "fillseq", HotWrites),
    catalogue=lambda: CATALOGUE,
    defaults={"knobs": "all", "objective": "write_amp"},
    metrics=METRICS,
    base_files=(INI,),
    uses=frozenset({"base"}),
    exports=(Ini(), TOML),
    checks=lambda _: [Check("toy", True, "in memory")],
    runs_here=False,
    make=lambda _: Toy(),
)
"""The entry of the engine."""
