"""Is the window of a running store long enough to put configs into the right order?

    .venv/bin/python benchmarks/running_windows.py [--records 200000]

Runs twelve configs with overwrites at half of what the baseline can take: the baseline, five random
ones of level style, three with universal compaction and three with blob files. Each runs with the
usual window and with one of 60 s, those of universal style with one of 180 s. The noise is that of
results/running_noise.json. Pairs of configs that differ by more than twice the noise in the long
windows should have the same order in the usual ones. Configs that cannot keep the rate are left
out: their trees grow all the time, and a limit excludes them. Writes results/running_windows.jsonl
after every run and continues there, then results/running_windows.json. It takes about half an hour
on two cores. Counts do not depend on other programs, but p50 does.
"""

import argparse
import json
from collections.abc import Iterator, Mapping
from itertools import combinations
from math import log
from typing import Any

import numpy as np
from running import RESULTS, WORKLOADS, Bed, add_row, bed, rounded, rows

from lsmtune.knobs.types import Config
from lsmtune.trials import Running

ROWS, SUMMARY, NOISE = (
    RESULTS / name for name in ("running_windows.jsonl", "running_windows.json",
                                "running_noise.json")
)  # fmt: skip
KNOBS = (
    "compaction_style", "universal_max_size_amplification_percent", "universal_size_ratio",
    "universal_min_merge_width", "enable_blob_files", "enable_blob_garbage_collection",
    "blob_file_size", "blob_compression_type", "blob_garbage_collection_age_cutoff",
    "min_blob_size", "write_buffer_size",
    "max_write_buffer_number", "target_file_size_base", "max_bytes_for_level_base",
    "max_bytes_for_level_multiplier", "level0_file_num_compaction_trigger", "compression_type",
    "level0_slowdown_writes_trigger", "level0_stop_writes_trigger", "max_background_jobs",
    "compaction_pri", "bloom_bits", "block_size", "cache_size",
)  # fmt: skip
LEVEL, UNIVERSAL = 0, 1
UNIVERSALS: tuple[Mapping[str, Any], ...] = (
    {},
    {"universal_max_size_amplification_percent": 100},
    {"universal_size_ratio": 20, "universal_min_merge_width": 4},
)
BLOBS: tuple[Mapping[str, Any], ...] = (
    {},
    {"blob_garbage_collection_age_cutoff": 0.5},
    {"min_blob_size": 512, "compression_type": "none"},
)
RANDOM, SEED = 5, 7
LONG_S, LONGEST_S = 60.0, 180.0
JUDGED = ("write_amp", "live_sst_bytes", "scan_sorted_runs", "get_p50_us")


def configs(one: Bed) -> Iterator[tuple[str, Config]]:
    """Yield the configs with their names."""
    yield "baseline", one.space.default()
    rng = np.random.default_rng(SEED)
    fixed = {"compaction_style": LEVEL, "enable_blob_files": False}
    for number in range(RANDOM):
        yield f"random {number + 1}", one.space.legalise({**one.space.sample(rng), **fixed})
    for number, changes in enumerate(UNIVERSALS):
        yield f"universal {number + 1}", one.config({"compaction_style": UNIVERSAL, **changes})
    collected = {"enable_blob_files": True, "enable_blob_garbage_collection": True,
                 "blob_compression_type": "lz4"}  # fmt: skip
    for number, changes in enumerate(BLOBS):
        yield f"blobs {number + 1}", one.config({**collected, **changes})


def measure(records: int) -> None:
    """Run what is not stored yet."""
    done = {(row["config"], row["window_s"]) for row in rows(ROWS)}
    with bed(WORKLOADS["overwrite"], records, knobs=",".join(KNOBS)) as one:
        rate = next((row["rate"] for row in rows(ROWS)), None) or one.half_rate()
        usual_s = Running(rate=rate).window_s
        for name, config in configs(one):
            long_s = LONGEST_S if name.startswith("universal") else LONG_S
            for seed, window_s in enumerate((usual_s, long_s), start=1):
                if (name, window_s) in done:
                    continue
                found = one.run(config, seed, Running(rate=rate, window_s=window_s))
                row = {"config": name, "window_s": window_s, "usual": window_s == usual_s}
                metrics = rounded(found.metrics)
                add_row(ROWS, {**row, "rate": rate, "values": dict(config), "metrics": metrics})


def summary() -> dict[str, Any]:
    """Return by metric how many pairs differ, and how many of them have the same order."""
    noise = json.loads(NOISE.read_text())["running"]["overwrite"]
    usual = {row["config"]: row["metrics"] for row in rows(ROWS) if row["usual"]}
    long = {row["config"]: row["metrics"] for row in rows(ROWS) if not row["usual"]}
    late = {row["config"] for row in rows(ROWS) if row["metrics"]["overload"] > 1}
    found: dict[str, Any] = {}
    for metric in JUDGED:
        pairs, wrong = 0, []
        for one, other in combinations(sorted((long.keys() & usual.keys()) - late), 2):
            far = log(long[one][metric] / long[other][metric])
            if abs(far) <= 2 * noise[metric]:
                continue
            pairs += 1
            if far * log(usual[one][metric] / usual[other][metric]) <= 0:
                wrong.append([one, other])
        share = None if not pairs else round(1 - len(wrong) / pairs, 3)
        found[metric] = {"pairs": pairs, "same_order": share, "other_order": wrong}
    table = {
        name: {
            metric: [usual[name][metric], long[name][metric]]
            for metric in (*JUDGED, "old_percent", "overload")
        }
        for name in usual
        if name in long
    }
    return {"order": found, "cannot_keep": sorted(late), "usual_and_long": table}


def main() -> None:
    """Measure, then summarise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=200_000)
    measure(parser.parse_args().records)
    SUMMARY.write_text(json.dumps(summary(), indent=1) + "\n")


if __name__ == "__main__":
    main()
