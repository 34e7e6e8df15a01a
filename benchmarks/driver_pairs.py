"""Compare lsmtune's driver with db_bench: same library, same options, same workloads, in pairs.

    .venv/bin/python benchmarks/build_db_bench.py FOLDER
    .venv/bin/python benchmarks/driver_pairs.py FOLDER/db_bench [RECORDS]

Each workload runs in 8 to 16 pairs, until the 95 % intervals are narrow enough: ± 8 % for
throughput, ± 3 % for the write amplification of loads that write. The order in a pair alternates.
Both run the OPTIONS file that db_bench writes, with the tree at scale 1/64. Writes
results/driver_pairs.jsonl after every run and skips what it contains; prints the ratios driver /
db_bench as a table and writes them to results/driver_pairs.json. Nothing else may run on the
machine. With 300,000 records it takes at most 40 minutes on two cores.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Places, Watch
from lsmtune.engines.libraries.installed import loaded_library
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.driver import library_engine
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import parse_options
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings
from lsmtune.stats import Interval, ratio_interval
from lsmtune.study.opening import describe
from lsmtune.system.workdir import workdir
from lsmtune.trials import Protocol, TrialSpec
from lsmtune.workloads import Workload

FOLDER = Path(__file__).parent / "results"
RUNS, RESULTS = FOLDER / "driver_pairs.jsonl", FOLDER / "driver_pairs.json"
VERSION = "11.8.1"
RECORDS = 300_000
WRITES = ("fillrandom", "overwrite")
LOADS = (*WRITES, "readrandom", "readwhilewriting")
DRIVER, DB_BENCH = "driver", "db_bench"
FEWEST, MOST = 8, 16
HALF_WIDTHS = {"throughput_ops_s": 0.08, "write_amp": 0.03}
COMPARED = (
    "throughput_ops_s", "write_amp", "cpu_s", "settle_s", "live_sst_bytes", "flushes",
    "write_mean_us", "write_p99_us", "get_mean_us", "get_p99_us", "get_missing_mean_us",
    "scan_mean_us", "peak_rss_bytes", "stall_percent",
)  # fmt: skip
OF_THE_PROGRAM = {
    "create_if_missing", "error_if_exists", "create_missing_column_families", "listeners",
}  # fmt: skip
"""Options that each program sets for itself. They do not change what RocksDB does here."""
CACHE: Settings = {"cache_type": "hyper_clock_cache"}
"""The default of this db_bench. The catalogue has that of 7.8, for which db_bench gets no flag."""
Row = dict[str, Any]


def main() -> None:
    """Run what is missing, and write the comparison."""
    records = int(sys.argv[2]) if len(sys.argv) > 2 else RECORDS  # noqa: PLR2004
    FOLDER.mkdir(exist_ok=True)
    RUNS.touch()
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        bench = Pairs(sys.argv[1], records, Path(folder))
        for load in LOADS:
            for pair in range(MOST):
                bench.run(load, pair)
                if is_enough(runs(records, load)):
                    break
            print(table(load, runs(records, load)), flush=True)
    found = {load: comparison(runs(records, load)) for load in LOADS}
    RESULTS.write_text(json.dumps({"records": records, "loads": found}, indent=1) + "\n")


class Pairs:
    """Both programs, and the options that they share."""

    def __init__(self, db_bench: str, records: int, folder: Path) -> None:
        self._engines: dict[str, RocksDB] = {
            DRIVER: library_engine(loaded_library(VERSION, None)),
            DB_BENCH: RocksDB(DbBench(db_bench)),
        }
        self._records = records
        self._folder = folder

    def run(self, load: str, pair: int) -> None:
        """Run what is missing of a pair, and check that both had the same options."""
        order = [DRIVER, DB_BENCH] if pair % 2 == 0 else [DB_BENCH, DRIVER]
        known = {run["program"] for run in runs(self._records, load) if run["pair"] == pair}
        options = [self._run(load, pair, name) for name in order if name not in known]
        for one, other in pairwise(options):
            if differing := differences(one, other):
                raise SystemExit(f"{load}: the options differ: {differing}")

    def _run(self, load: str, pair: int, program: str) -> dict[tuple[str, str], str]:
        spec = StudySettings(workload=Workload(name=load, num=self._records))
        _, ground = describe(spec, self._engines[DB_BENCH], self._folder)
        space = knob_space(spec, ground)
        settings = {**space.settings(space.default()), **CACHE}
        trial = TrialSpec(
            settings=settings, base_settings=settings, workload=spec.workload,
            protocol=Protocol(), seed=pair + 1,
        )  # fmt: skip
        with workdir(self._folder, "trial") as directory:
            places = Places(directory, self._folder / "templates")
            outcome = self._engines[program].run(trial, ground.base, places, Watch(lambda _: None))
            options = parse_options(outcome.evidence["OPTIONS"].read_text()).sections
        if outcome.result.reason is not None:
            raise SystemExit(f"{program}: {load}: {outcome.result.reason}")
        row = {"records": self._records, "load": load, "pair": pair, "program": program}
        with RUNS.open("a") as file:
            file.write(json.dumps(row | {"metrics": outcome.result.metrics}) + "\n")
        return {(name, key): text for name, keys in options.items() for key, text in keys.items()}


def differences(
    one: dict[tuple[str, str], str], other: dict[tuple[str, str], str]
) -> dict[str, tuple[str | None, str | None]]:
    """Return the options that differ, with both values."""
    return {
        key: (one.get((section, key)), other.get((section, key)))
        for section, key in one | other
        if key not in OF_THE_PROGRAM and one.get((section, key)) != other.get((section, key))
    }


def runs(records: int, load: str) -> list[Row]:
    """Return the runs of a workload that are stored."""
    rows = map(json.loads, RUNS.read_text().splitlines())
    return [row for row in rows if (row["records"], row["load"]) == (records, load)]


def pairs(rows: Sequence[Row], metric: str) -> Iterator[tuple[float, float]]:
    """Yield the values of driver and db_bench for each pair that has both."""
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        # The other loads have the write amplification of the few databases that they share.
        if metric == "write_amp" and row["load"] not in WRITES:
            continue
        if row["metrics"].get(metric, 0) > 0:
            found.setdefault(row["pair"], {})[row["program"]] = row["metrics"][metric]
    for values in found.values():
        if values.keys() == {DRIVER, DB_BENCH}:
            yield values[DRIVER], values[DB_BENCH]


def ratio(rows: Sequence[Row], metric: str) -> Interval | None:
    """Return driver / db_bench with its 95 % interval; None with fewer than two pairs."""
    values = list(pairs(rows, metric))
    if len(values) < 2:  # noqa: PLR2004 - an interval needs two pairs
        return None
    return ratio_interval([driver for driver, _ in values], [other for _, other in values])


def is_enough(rows: Sequence[Row]) -> bool:
    """Whether the pairs suffice."""
    if len(list(pairs(rows, "throughput_ops_s"))) < FEWEST:
        return False
    found = [(ratio(rows, metric), most) for metric, most in HALF_WIDTHS.items()]
    return all(one is None or one.relative_half_width <= most for one, most in found)


def comparison(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the ratios of a workload by metric, and the number of pairs."""
    found = {metric: ratio(rows, metric) for metric in COMPARED}
    ratios = {metric: asdict(one) for metric, one in found.items() if one is not None}
    return {"pairs": len(list(pairs(rows, "throughput_ops_s"))), "ratios": ratios}


def table(load: str, rows: Sequence[Row]) -> str:
    """Return the ratios of a workload as a table in Markdown."""
    found = comparison(rows)
    lines = [
        f"\n{load}, {found['pairs']} pairs",
        "| metric | driver | db_bench | ratio | 95 % interval | contains 1 |",
        "|---|---|---|---|---|---|",
    ]
    for metric, one in found["ratios"].items():
        means = (sum(values) / len(values) for values in zip(*pairs(rows, metric), strict=True))
        low, high = one["low"], one["high"]
        texts = [
            metric, *(f"{mean:.5g}" for mean in means), f"{one['median']:.3f}",
            f"{low:.3f} to {high:.3f}", "yes" if low <= 1 <= high else "no",
        ]  # fmt: skip
        lines.append(f"| {' | '.join(texts)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
