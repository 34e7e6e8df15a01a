"""Figures of studies: the cases of benchmarks/cases.py, and four of them in one table."""

from typing import Any

from figures_text import BUILDS, ROCKSDB, table_text, times_text

_LOADS = {
    "write-heavy": "write-heavy",
    "half-missing": "point reads, half missing",
    "short-scans": "short scans",
    "mixed": "gets and overwrites, 50/50",
}
_HIGHER = "throughput_ops_s"
"""The objective of the cases for which higher is better."""
_CLAIMED = {
    "gain": "a **gain**", "gain with a price": "a **gain with a price**", "no gain": "**no gain**",
}  # fmt: skip


def study(case: dict[str, Any]) -> str:
    lines = ["<!-- run: benchmarks/cases.py -->", "```", case["command"], "```", "",
             *_claim(case), ""]  # fmt: skip
    verification = _own(case)
    if verification:
        kept = {limit["limit"].split()[0]: limit for limit in verification["limits"]}
        shown_always = ("throughput_ops_s", "sustained_ops_s", "write_amp")
        wanted = dict.fromkeys([*_asked(case), *kept, *shown_always])
        shown = [name for name in wanted if name in verification["ratios"]]
        rows = [[f"`{name}`", *_ratio(verification["ratios"][name]), _constraint(kept.get(name))]
                for name in shown]  # fmt: skip
        heads = ["metric", "winner / baseline", "95 % interval", "limit"]
        lines.append(table_text(heads, rows))
    if case["best"]:
        config = ", ".join(f"`{name} = {_value(v)}`" for name, v in case["best"]["config"].items())
        lines += [
            f"The winner has the following changed options, with the sizes of a tree at scale "
            f"{case['scale']}: {config}. `lsmtune export {case['study']}` writes the changed "
            "options with full sizes.", "",
        ]  # fmt: skip
    return "\n".join(lines)


def _constraint(limit: dict[str, Any] | None) -> str:
    if limit is None:
        return ""
    bound = limit["limit"].split(maxsplit=1)[1]
    return f"`{bound}` {'kept' if limit['holds'] else '**violated**'}"


def _own(case: dict[str, Any]) -> dict[str, Any] | None:
    """Return the verification at the study's own scale; another one may be newer."""
    return next((v for v in case["verifications"] if v["scale"] == case["scale"]), None)


def _asked(case: dict[str, Any]) -> list[str]:
    made_of = {"balanced": ["write_amp", "live_sst_bytes", "total_s"]}
    return [metric for goal in case["goals"] for metric in made_of.get(goal, [goal])]


def _claim(case: dict[str, Any]) -> list[str]:
    trials, found = case["trials"], _own(case)
    version = case["engine_version"]
    lines = [
        f"We measured with RocksDB {version} {BUILDS[version]}. The study ran {trials['total']} "
        f"trials; {trials['failed']} trials failed and {trials['cut']} trials were pruned."
    ]
    if not found:
        return [*lines, "No config beats the baseline within the limits."]
    broken = [f"`{limit['limit']}`" for limit in found["limits"] if not limit["holds"]]
    why = f" The winner violated the limit {', '.join(broken)}." if broken else ""
    times, low, high = _objective_ratio(case, found["objective"])
    return [
        *lines,
        f"lsmtune claims {_CLAIMED[found['claim']]} after {found['pairs']} pairs of runs. A pair "
        f"is one run of the winner and one of the baseline, with the same seed.{why}",
        f"The winner's objective `{case['objective']}` is {times} the value of the baseline "
        f"(95 % interval {low} to {high}).",
    ]


def _objective_ratio(case: dict[str, Any], cost: dict[str, float]) -> tuple[str, str, str]:
    """Return the objective, winner / baseline: for throughput, the inverse of the stored cost."""
    values = [cost["median"], cost["low"], cost["high"]]
    if case["objective"] == _HIGHER:
        values = [1 / cost["median"], 1 / cost["high"], 1 / cost["low"]]
    median, low, high = (f"{value:.2f}" for value in values)
    return f"{median} ×", low, high  # noqa: RUF001


def four_loads(results: dict[str, Any]) -> str:
    heads = ["workload", "objective", "cost at 1/64", "claim", "cost at 1/8", "claim"]
    rows = []
    for name, title in _LOADS.items():
        case = results[name]
        here, there = _own(case), case.get("larger")
        rows.append([title, f"`{case['objective']}`", *_verdict(here), *_verdict(there)])
    return f"{ROCKSDB}.\n\n{table_text(heads, rows)}"


def _verdict(found: dict[str, Any] | None) -> list[str]:
    if not found:
        return ["none", "no winner"]
    broken = [f"`{limit['limit']}`" for limit in found["limits"] if not limit["holds"]]
    why = f", violated: {', '.join(broken)}" if broken else ""
    return [times_text(found["objective"]), found["claim"] + why]


def _ratio(interval: dict[str, float]) -> list[str]:
    return [f"{interval['median']:.2f}", f"{interval['low']:.2f} to {interval['high']:.2f}"]


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def each_seed(results: dict[str, Any]) -> str:
    """Return a row per study of benchmarks/five_studies.py, also of those without a gain."""
    heads = ["seed", "claim", "balanced", "write amplification", "sustained ops/s", "live space",
             "changed options", "pairs"]  # fmt: skip
    rows = [_seed_row(study) for study in results["studies"]]
    ran = _measured_with(results["studies"][0])
    return f"{ran} Each ratio is winner / baseline.\n\n{table_text(heads, rows)}"


def _measured_with(study: dict[str, Any]) -> str:
    version = study["engine_version"]
    return f"We measured with RocksDB {version} {BUILDS[version]}."


def _seed_row(study: dict[str, Any]) -> list[str]:
    found = _own(study)
    seed = study["study"].removeprefix("seed-")
    if not found:
        return [seed, "no winner", "", "", "", "", "", ""]
    ratios = [found["ratios"][n] for n in ("write_amp", "sustained_ops_s", "live_sst_bytes")]
    changed = str(len(study["best"]["config"]))
    return [seed, found["claim"], times_text(found["objective"]), *map(times_text, ratios),
            changed, str(found["pairs"])]  # fmt: skip


def full_size(results: dict[str, Any]) -> str:
    """Return the verification of one winner at scale 1 next to that at the scale of its search."""
    study = results["study"]
    here, there = _own(study), _at_full_size(study)
    names = ("write_amp", "sustained_ops_s", "throughput_ops_s", "live_sst_bytes",
             "peak_space_bytes", "memory_bytes", "get_data_blocks", "scan_sorted_runs")  # fmt: skip
    rows = [["`balanced`", *(times_text(found["objective"]) for found in (here, there) if found)]]
    for name in names:
        ratios = [found["ratios"].get(name) for found in (here, there) if found]
        if all(ratios):
            rows.append([f"`{name}`", *(times_text(ratio) for ratio in ratios if ratio)])
    heads = ["winner / baseline", f"at scale {study['scale']}", "at scale 1"]
    pairs = [str(found["pairs"]) for found in (here, there) if found]
    claims = [found["claim"] for found in (here, there) if found]
    rows += [["pairs of runs", *pairs], ["claim", *claims]]
    records = f"{results['records']:,} records at scale 1."
    return f"{_measured_with(study)} {records}\n\n{table_text(heads, rows)}"


def _at_full_size(case: dict[str, Any]) -> dict[str, Any] | None:
    return next((v for v in case["verifications"] if v["scale"] == "1"), None)


def simplified(results: dict[str, Any]) -> str:
    """Return a row per search of benchmarks/simplified_winners.py."""
    heads = ["search", "claim", "`balanced`", "changes found", "changes left",
             "share of the gain kept", "more runs", "more seconds"]  # fmt: skip
    rows = [_simplified_row(found) for found in results["found"]]
    summary = results["summary"]
    return (
        f"{results['records']:,} records. In the median, {summary['median_changes']:g} of "
        f"{summary['median_raw_changes']:g} changes are left.\n\n{table_text(heads, rows)}"
    )


def _simplified_row(found: dict[str, Any]) -> list[str]:
    kept = found["simplified"]["kept_gain"]
    share = (
        "all, nothing taken back"
        if kept is None
        else " (".join(
            [f"{kept['median']:.2f}", f"{kept['low']:.2f}\N{EN DASH}{kept['high']:.2f})"]
        )
    )
    return [found["study"], found["status"], times_text(found["objective"]),
            str(found["raw_changes"]), str(found["changes"]), share, str(found["more_runs"]),
            f"{found['more_seconds']:.0f}"]  # fmt: skip


def mixed_example(results: dict[str, Any]) -> str:
    """Return a row per seed of benchmarks/mixed_example.py."""
    heads = ["seed", "records", "claim", "`balanced`", "operations/s", "p99 of gets", "pairs",
             "runs", "minutes"]  # fmt: skip
    return table_text(heads, [_mixed_row(found) for found in results["studies"]])


def _mixed_row(found: dict[str, Any]) -> list[str]:
    verified = found["verification"]
    starts = [str(found["seed"]), f"{found['records']:,}", found["status"]]
    ends = [str(found["runs"]), f"{found['seconds'] / 60:.0f}"]
    if verified is None:
        return [*starts, "", "", "", "0", *ends]
    ratios = [verified["ratios"][name] for name in ("throughput_ops_s", "get_p99_us")]
    return [*starts, times_text(verified["objective"]),
            *map(times_text, ratios), str(verified["pairs"]), *ends]  # fmt: skip


def larger_scale(results: dict[str, Any]) -> str:
    """Return a row per verification of benchmarks/larger_scale.py."""
    heads = ["winner of", "scale", "claim", "`balanced`", "write amplification", "live space",
             "operations/s", "pairs"]  # fmt: skip
    names = ("write_amp", "live_sst_bytes", "throughput_ops_s")
    rows = [
        [found["study"], one["scale"], one["claim"], times_text(one["objective"]),
         *(times_text(one["ratios"][name]) for name in names), str(one["pairs"])]
        for found in results["found"]
        for one in found["verifications"]
    ]  # fmt: skip
    return table_text(heads, rows)
