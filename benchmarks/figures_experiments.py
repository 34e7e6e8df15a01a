"""Figures of experiments: pairs of runs, sweeps, repeated runs, published studies."""

import json
from dataclasses import asdict
from statistics import median
from typing import Any

from figures_text import BUILDS, MYROCKS, ROCKSDB, table_text, times_text

from lsmtune.report.text.metric_words import metric_value
from lsmtune.stats import ratio_interval


def driver_pairs(found: dict[str, Any]) -> str:
    """Return the ratios driver / db_bench of each workload."""
    rows = []
    for load, compared in found["loads"].items():
        # Loads that read share built databases, so their write amplification is not compared.
        ratios = (compared["ratios"].get(name) for name in ("throughput_ops_s", "write_amp"))
        rows.append([f"`{load}`", str(compared["pairs"]), *map(_ratio_text, ratios)])
    heads = ["workload", "pairs", "throughput", "exact write amplification"]
    about = (
        f"We measured with RocksDB 11.8.1 {BUILDS['11.8.1']} and {found['records']:,} records. The "
        "table shows the ratio driver / db_bench with its 95 % interval."
    )
    return f"{about}\n\n{table_text(heads, rows)}"


_SHOWN = {
    "write_amp": "write amplification", "live_sst_bytes": "live space, mean",
    "cpu_us_per_op": "CPU per operation", "scan_sorted_runs": "sorted runs, mean",
    "get_p50_us": "p50 of gets", "scan_p50_us": "p50 of scans",
    "write_p99_us": "p99 of writes", "capacity_ops_s": "capacity",
}  # fmt: skip


def running_winners(found: dict[str, Any]) -> str:
    """Return what the winners of both ways do in a running store, and what their studies said."""
    sides: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(found["side_by_side"], key=lambda row: row["run"]):
        sides.setdefault(row["side"], []).append(row["metrics"])
    complete = min(len(sides.get(side, ())) for side in ("baseline", "filled", "running"))
    if complete < 2:  # noqa: PLR2004 - an interval needs two runs
        return "Not measured yet.\n"
    studies = {one["study"]: one for one in found["studies"]}
    verified = {"filled": studies["filled"], "running": studies["running-1"]}
    rows = [
        [text, metric_value(name, median(run[name] for run in sides["baseline"])),
         *(cell for side, study in verified.items()
           for cell in (_verified_text(study, name), _beside(sides, side, name, complete)))]
        for name, text in _SHOWN.items()
        if all(name in run for runs in sides.values() for run in runs)
    ]  # fmt: skip
    rate = found["side_by_side"][0]["rate"]
    about = (
        f"We measured with RocksDB 11.8.1 {BUILDS['11.8.1']} and {found['records']:,} records, at "
        f"{rate:,.0f} writes per second, {complete} runs of each config. A ratio is winner / "
        "baseline, with its 95 % interval. A study of a filled store does not measure the metrics "
        "without a ratio."
    )
    heads = ["metric", "baseline", "filled: as verified", "filled: in the running store",
             "running: as verified", "running: in the running store"]  # fmt: skip
    return f"{about}\n\n{table_text(heads, rows)}\n{_running_studies(found['studies'])}"


def _verified_text(study: dict[str, Any], name: str) -> str:
    """Return the ratio that the verification of the study itself has found."""
    if name not in study["ratios"]:
        return ""
    return times_text(dict(zip(("median", "low", "high"), study["ratios"][name], strict=True)))


def _beside(sides: dict[str, list[dict[str, Any]]], side: str, name: str, runs: int) -> str:
    winner, base = ([run[name] for run in sides[one][:runs]] for one in (side, "baseline"))
    return times_text(asdict(ratio_interval(winner, base)))


def _running_studies(studies: list[dict[str, Any]]) -> str:
    """Return a row per study of benchmarks/running_tune.py."""
    rows = [
        [one["study"], one["claim"], times_text(one["objective"]) if one["objective"] else "",
         str(one["runs"]), f"{one['minutes']:.0f}"]
        for one in studies
    ]  # fmt: skip
    return table_text(["study", "claim", "`balanced`", "runs", "minutes"], rows)


def _ratio_text(ratio: dict[str, float] | None) -> str:
    return (
        ""
        if ratio is None
        else f"{ratio['median']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})"
    )


def sweep(swept: dict[str, Any]) -> str:
    """Return what each factor of a controlled experiment does to each metric."""
    rows = []
    for name, metric in swept["metrics"].items():
        for factor, found in metric["factors"].items():
            last = found["contrasts"][-1]
            levels = swept["factors"][factor]["levels"]
            change = last["change"]
            proven = change["low"] > 1 or change["high"] < 1
            rows.append([
                f"`{name}`", factor, f"{levels[last['level']]} / {levels[found['reference']]}",
                times_text(change), f"{100 * found['eta_squared']:.0f} %", _p(found["p"]),
                "yes" if proven else "no",
            ])  # fmt: skip
    runs = (
        f"The experiment has {swept['runs']} runs in {swept['blocks']} groups. In "
        "each group, every combination ran once, in random order. "
        f"{swept['failed']} runs failed."
    )
    heads = ["metric", "factor", "sizes", "ratio (95 %)", "share of variance", "p", "proven change"]
    return f"{ROCKSDB}. {runs}\n\n{table_text(heads, rows)}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.2g}"  # noqa: PLR2004 - the usual bound


def false_gains(found: dict[str, Any]) -> str:
    low, high = min(found["pairs"]), max(found["pairs"])
    return (
        f"{ROCKSDB}. lsmtune wrongly claimed a gain in {found['claims_of_gain']} of "
        f"{found['verifications']} verifications. Each verification had {low} to {high} "
        "pairs of runs.\n"
    )


def null_verifications(found: dict[str, Any]) -> str:
    return (
        f"{ROCKSDB}. Of {found['verifications']} verifications of the baseline against itself, "
        f"lsmtune claimed a gain in {found['claims_of_gain']} verifications. In "
        f"{found['with_a_broken_constraint']} verifications, the baseline broke a default "
        "limit.\n"
    )


def read_counts(found: dict[str, Any]) -> str:
    """Return how far counts and latencies of reads differ between runs of the baseline."""
    loads = found["deviations"]
    rows = [
        [f"`{name}`", *(_deviation_text(deviations[name]) for deviations in loads.values())]
        for name in next(iter(loads.values()))
    ]
    runs = min(found["runs"].values())
    about = (
        f"We measured with RocksDB 11.8.1 {BUILDS['11.8.1']} and {found['records']:,} records. "
        f"The table shows the standard deviation of the log over {runs} runs: 0.1 means that a run "
        "usually differs by 10 % from the mean."
    )
    verified = (
        f"Of {found['verifications']} verifications of the baseline against itself with these "
        f"runs, lsmtune claimed a gain in {found['with_a_gain']} verifications. In "
        f"{found['with_a_broken_constraint']} verifications, the baseline broke a default "
        f"limit. In {found['with_an_undecided_constraint_of_the_probe']} verifications, 12 "
        "pairs did not decide a limit on the reads after the workload."
    )
    heads = ["metric", *(f"`{load}`" for load in loads)]
    return f"{about}\n\n{table_text(heads, rows)}\n{verified}\n"


def _deviation_text(deviation: float | None) -> str:
    return "always 0" if deviation is None else f"{deviation:.2g}"


def repeats(styles: dict[str, list[dict[str, float]]]) -> str:
    """Return how far runs of one config and seed differ, and what a trial adds to a run."""
    rows = []
    for name, runs in styles.items():
        values = [run["write_amp"] for run in runs]
        mean = sum(values) / len(values)
        furthest = max(abs(value / mean - 1) for value in values)
        added = sorted(run["added_s"] for run in runs)[len(runs) // 2]
        rows.append([name, str(len(runs)), f"{min(values):.3f} to {max(values):.3f}",
                     f"{100 * furthest:.2f} %", f"{added:.1f} s"])  # fmt: skip
    heads = ["compaction style", "runs", "write amplification", "largest difference from the mean",
             "overhead of a trial"]  # fmt: skip
    return (
        f"{MYROCKS}. The overhead of a trial does not include load, settling and building.\n\n"
        f"{table_text(heads, rows)}"
    )


def published(recipe: dict[str, Any]) -> str:
    """Return the published statements with what was found here."""
    parts = recipe.get("parts", {"rocksdb": recipe})
    ran = (
        f"- {part}: {one['experiment']['runs']} runs in {one['experiment']['blocks']} groups, "
        f"{one['experiment']['failed']} failed\n"
        for part, one in parts.items()
    )
    # A search recommends a value; an experiment only judges.
    columns = {"statement": "published statement", "here": "recommended here",
               "finding": "our result",
               "evidence": "evidence (95 %)"}  # fmt: skip
    if "here" in recipe["claims"][0]:
        columns["finding"] = "verdict"
    else:
        del columns["here"]
    rows = [[claim[key] for key in columns] for claim in recipe["claims"]]
    stores = (
        " The stores are RocksDB 7.8.3, LevelDB 1.23 and LMDB 0.9.24." if "stores" in recipe else ""
    )
    on_mysql = f" {MYROCKS}." if "MariaDB" in json.dumps(recipe) else ""
    claims = table_text(list(columns.values()), rows)
    return f"{ROCKSDB}.{on_mysql}{stores}\n\n{''.join(ran)}\n{claims}"
