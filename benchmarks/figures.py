"""The figures of benchmarks/results in the pages of docs/.

    .venv/bin/python benchmarks/figures.py

A page has a line `<!-- figures: CASE -->`. This command fills the lines after it, up to
`<!-- end of figures -->`. CASE is a case of benchmarks/cases.py, `four loads`, `what to expect`
(see benchmarks/table.py), `false gains`, `null verifications`, `sst size`, `recipe NAME`,
`myrocks repeat`, `optimizers`, `warm start` (these two also with ` real`), `guided real`,
`suggestions`, `simulator`, `simulator summary`, `simulated study`, or a part of the parameter
study (see benchmarks/parameter_study.py).
"""

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import parameter_study
import table

ROOT = Path(__file__).parents[1]
LOADS = {
    "write-heavy": "write-heavy",
    "half-missing": "point reads, half missing",
    "short-scans": "short scans",
    "mixed": "gets and overwrites, 50/50",
}
BUILDS = {
    "7.8.3": "in Debian's build, which is slower because of its assertions. Compare ratios, not "
    "times",
    "11.8.1": "in the Release build that `lsmtune engines install` installs",
}
"""Build of a RocksDB version that figures come from."""
ROCKSDB = f"We measured with RocksDB 7.8.3 {BUILDS['7.8.3']}"
MYROCKS = "For MyRocks, we used MariaDB 10.11.19 with RocksDB 6.29, in Debian's build"
_DASH = "\N{EN DASH}"
RECIPES = ("sst-size", "compaction-style", "db-bench-study", "autotikv")
"""Their --json is kept in results/NAME_recipe.json, with underscores."""
COMPARED = (
    "optimizers", "optimizers real", "warm start", "warm start real", "simulated study",
    "guided real",
)  # fmt: skip
_HIGHER = "throughput_ops_s"
"""The objective of the cases for which higher is better."""
_CLAIMED = {"gain": "a **gain**", "no gain": "**no gain**"}
_LAST = 200
_MOST_SHOWN = 3
_ARMS = {
    "cold": "cold start", "similar": "from a similar workload",
    "misleading": "from a misleading workload",
    "dull": "from a workload where few knobs matter",
}  # fmt: skip
_MARKS = (8, 16, 24, 36, 50, 100)
_BLOCK = re.compile(r"(<!-- figures: ([\w -]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def recorded() -> dict[str, Any]:
    """Return all results that pages show, those of the cases by their names."""
    folder = ROOT / "benchmarks" / "results"
    study = folder / "parameter_study.json"
    results: dict[str, Any] = json.loads((folder / "cases.json").read_text())
    sweep = folder / "sst_size.json"
    compared = {
        name: json.loads(path.read_text())
        for name in COMPARED
        if (path := folder / f"{name.replace(' ', '_')}.json").exists()
    }
    recipes = {
        f"recipe {name}": json.loads(path.read_text())
        for name in RECIPES
        if (path := folder / f"{name.replace('-', '_')}_recipe.json").exists()
    }
    return {
        **results,
        **recipes,
        **compared,
        "myrocks repeat": json.loads((folder / "myrocks_repeat.json").read_text()),
        "parameter study": json.loads(study.read_text()),
        "sst size": json.loads(sweep.read_text()),
        "simulator": json.loads((folder / "simulator.json").read_text()),
        "null verifications": json.loads((folder / "null_verifications.json").read_text()),
        "driver pairs": json.loads((folder / "driver_pairs.json").read_text()),
        "false gains": json.loads((folder / "false_gains.json").read_text()),
        "suggestions": json.loads((folder / "suggestion_cost.json").read_text()),
    }


def pages() -> list[Path]:
    """Return the pages that have figures."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in found if _BLOCK.search(page.read_text())]


def filled(text: str, results: dict[str, Any]) -> str:
    """Return the page with the figures of the results."""
    return _BLOCK.sub(lambda block: block[1] + _figures(block[2], results) + block[3], text)


def _figures(name: str, results: dict[str, Any]) -> str:
    if name in parameter_study.PARTS:
        text = parameter_study.PARTS[name](results["parameter study"])
        return f"{ROCKSDB}.\n\n{text}"
    if name == "four loads":
        return _four_loads(results)
    if name == "what to expect":
        return f"{ROCKSDB}.\n\n{table.table()}"
    if name == "simulator summary":
        return _simulator_summary(results["simulator"])
    if name not in results:
        return "Not measured yet.\n"
    kinds = {"sst size": _sweep, "myrocks repeat": _repeats, "optimizers": _optimizers,
             "warm start": _warm_starts, "suggestions": _suggestions, "false gains": _false_gains,
             "null verifications": _null_verifications,
             "simulator": _simulator, "simulated study": _simulated_study,
             "guided real": _guided, "driver pairs": _driver_pairs}  # fmt: skip
    kind = kinds.get(name) or kinds.get(name.removesuffix(" real"), _case)
    return (_claims if name.startswith("recipe ") else kind)(results[name])


def _driver_pairs(found: dict[str, Any]) -> str:
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
    return f"{about}\n\n{_table(heads, rows)}"


def _ratio_text(ratio: dict[str, float] | None) -> str:
    return (
        ""
        if ratio is None
        else f"{ratio['median']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})"
    )


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in [heads, *rows]]
    lines.insert(1, "|---" * len(heads) + "|")
    return "\n".join(lines) + "\n"


def _sweep(swept: dict[str, Any]) -> str:
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
                _times(change), f"{100 * found['eta_squared']:.0f} %", _p(found["p"]),
                "yes" if proven else "no",
            ])  # fmt: skip
    runs = (
        f"The experiment has {swept['runs']} runs in {swept['blocks']} groups. In "
        "each group, every combination ran once, in random order. "
        f"{swept['failed']} runs failed."
    )
    heads = ["metric", "factor", "sizes", "ratio (95 %)", "share of variance", "p", "proven change"]
    return f"{ROCKSDB}. {runs}\n\n{_table(heads, rows)}"


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.2g}"  # noqa: PLR2004 - the usual bound


def _false_gains(found: dict[str, Any]) -> str:
    low, high = min(found["pairs"]), max(found["pairs"])
    return (
        f"{ROCKSDB}. lsmtune wrongly claimed a gain in {found['claims_of_gain']} of "
        f"{found['verifications']} verifications. Each verification had {low} to {high} "
        "pairs of runs.\n"
    )


def _null_verifications(found: dict[str, Any]) -> str:
    return (
        f"{ROCKSDB}. Of {found['verifications']} verifications of the baseline against itself, "
        f"lsmtune claimed a gain in {found['claims_of_gain']} verifications. In "
        f"{found['with_a_broken_constraint']} verifications, the baseline broke a default "
        "constraint.\n"
    )


def _optimizers(compared: dict[str, Any]) -> str:
    """Return the cost that optimizers reach, and how many trials they need for the target."""
    rows = compared["optimizers"]
    marks = [mark for mark in next(iter(rows.values()))["best_at"] if int(mark) in _MARKS]
    target = f"trials to reach {compared['target_value']:.3f}"
    heads = ["optimizer", *(f"after {mark}" for mark in marks), target]
    cells = [
        [f"`{name}`", *(_interval(row["best_at"][mark]) for mark in marks),
         _count(row["trials_to_target"])]
        for name, row in rows.items()
    ]  # fmt: skip
    repeats = next(iter(rows.values()))["repeats"]
    return (
        f"{ROCKSDB}. Each cost in the table is the median of {repeats} searches, with its 95 % "
        f"interval in brackets. A cost below 1 is a gain.\n\n"
        f"{_table(heads, cells)}"
    )


def _warm_starts(found: dict[str, Any]) -> str:
    """Return how many trials cold and warm starts need to reach what a cold start reaches."""
    marks = {name: row for name, row in found.items() if name.startswith("to what")}
    arms = [arm for arm in _ARMS if all(arm in row for row in marks.values())]
    heads = ["target: a cold start after", *(_ARMS[arm] for arm in arms)]
    rows = [
        [f"{name.split()[-1]} trials", *(_count(row[arm]) for arm in arms)]
        for name, row in marks.items()
    ]
    return (
        f"{ROCKSDB}. For each kind of start, {found['searches']} searches with "
        f"`{found['optimizer']}` ran. The table shows the median number of trials that a search "
        "needed to reach the target, with the 95 % interval in brackets. A search that never "
        f"reached the target counts as {found['trials'] + 1} trials.\n\n"
        f"{_table(heads, rows)}"
    )


def _guided(rows: list[dict[str, Any]]) -> str:
    """Return the cost of the searches' winners, and how many of them keep all constraints."""
    heads = ["workload", "optimizer", "trials", "best cost in the search", "winner measured again",
             "within constraints"]  # fmt: skip
    loads = [*dict.fromkeys(row["load"] for row in rows)]
    searches = dict.fromkeys((row["load"], row["optimizer"]) for row in rows)
    cells = []
    for load, name in sorted(searches, key=lambda search: loads.index(search[0])):
        own = [row for row in rows if (row["load"], row["optimizer"]) == (load, name)]
        again = [row["again"]["median"] for row in own if "again" in row]
        kept = [all(limit["holds"] for limit in row["limits"]) for row in own if "limits" in row]
        cells.append([
            load, f"`{name}`", str(len(own[0]["costs"])), _spread([r["costs"][-1] for r in own]),
            _spread(again), f"{sum(kept)} of {len(kept)}",
        ])  # fmt: skip
    return (
        f"{ROCKSDB}. Each cost in the table is the median of three seeds, with the lowest and the "
        "highest cost in brackets.\n\n"
        f"{_table(heads, cells)}"
    )


def _spread(values: list[float]) -> str:
    if not values:
        return "-"
    return _interval({"median": median(values), "low": min(values), "high": max(values)})


def _suggestions(rows: list[dict[str, Any]]) -> str:
    """Return how long optimizers need for a suggestion after 200 trials."""
    found = {(row["optimizer"], row["knobs"]): row for row in rows if row["trials"] == _LAST}
    counts = sorted({knobs for _, knobs in found})
    cells = []
    for name in dict.fromkeys(name for name, _ in found):
        own = (found[name, knobs] for knobs in counts)
        times = (f"{1000 * r['median_s']:.0f} ms ({1000 * r['longest_s']:.0f} ms)" for r in own)
        cells.append([f"`{name}`", *times])
    return _table(["optimizer", *(f"{knobs} knobs" for knobs in counts)], cells)


_COUNTED = ("write_amp", "live_sst_bytes", "flush_write_bytes", "compact_write_bytes")
_SUMMARY = ("write_amp", "live_sst_bytes", "total_s", "stall_s", "get_p99_us", "scan_p99_us")
_ERROR_HEADS = ["metric", "median error", "90 % of the errors are below", "rank correlation"]


def _errors(metrics: dict[str, Any]) -> str:
    rows = []
    for name, row in metrics.items():
        errors = (100 * row[key] for key in ("median_error", "error_of_nine_in_ten"))
        rows.append([f"`{name}`", *(f"{e:.1f} %" for e in errors), f"{row['spearman']:.2f}"])
    return _table(_ERROR_HEADS, rows)


def _simulator_summary(found: dict[str, Any]) -> str:
    shown = {name: found["metrics"][name] for name in _SUMMARY}
    runs = f"The table compares the simulator's predictions with {found['runs']} real runs."
    return f"{ROCKSDB}. {runs}\n\n{_errors(shown)}"


def _simulator(found: dict[str, Any]) -> str:
    """Return how close predictions are to runs that no constant was fitted to."""
    metrics = ("write_amp", "live_sst_bytes", "total_s")
    rows = []
    places = {
        "styles elsewhere": "second", "codecs elsewhere": "second",
        "codecs and styles on a third machine": "third",
    }  # fmt: skip
    for kind, place in places.items():
        for name, row in found[kind].items():
            errors = [f"{100 * row[metric]['median_error']:.1f} %" for metric in metrics]
            rows.append([place, name, str(row["runs"]), *errors,
                         f"{row['stall_s']['spearman']:.2f}"])  # fmt: skip
    heads = ["machine", "runs with", "runs", *(f"`{m}`" for m in metrics),
             "`stall_s`, rank correlation"]  # fmt: skip
    failed, repeated = found["failed elsewhere"], found["repeated elsewhere"]
    inside = " and ".join(str(times["inside"]) for times in repeated)
    models = [
        [f"`{name}`", f"{100 * row['simulator_error']:.1f} %",
         f"{100 * row['model_error']:.1f} %, {row['model']}"]
        for name, row in found.get("beside models", {}).items()
    ]  # fmt: skip
    return "\n".join([
        f"{ROCKSDB}. The first table compares the simulator's predictions with {found['runs']} "
        "real runs of the first machine.", "",
        _errors(found["metrics"]),
        *(part for version, own in found["versions"].items() for part in _version(version, own)),
        "The next table shows the median errors of predictions per compaction style and codec:", "",
        _table(heads, rows),
        f"**Failed runs.** On the second and third machine, {failed['real']} further runs failed: "
        "writes waited forever, or FIFO compaction dropped records that reads needed. The "
        f"simulator predicted {failed['both']} of the {failed['real']} failed runs. The simulator "
        f"predicted {failed['foretold'] - failed['both']} failures that did not happen.",
        "",
        f"**Noise of real runs.** {repeated[0]['configs']} configs with universal compaction ran "
        "three times, and three times again at another hour. We compared the predicted live space "
        "with the range of three real runs, widened by 5 %. The predicted live space is inside the "
        f"range of the real runs for {inside} of the {repeated[0]['configs']} configs.", "",
        "**Comparison with other models.** We compared the simulator "
        "with models that were fitted to 400 of the measured runs. The table shows the median "
        "error of the simulator and of the best fitted model:", "",
        _table(["metric", "simulator", "best model of 400 runs"], models),
    ])  # fmt: skip


def _version(version: str, found: dict[str, Any]) -> list[str]:
    """Return how close predictions are to the runs of another version.

    Of runs that other programs disturbed, only what does not depend on time is shown.
    """
    failed, metrics = found["failed"], found["metrics"]
    remarks = f"{failed['real']} further runs failed; {failed['both']} of them were predicted."
    if found["disturbed"]:
        metrics = {name: metrics[name] for name in _COUNTED}
        remarks += (
            f" Other programs disturbed {found['disturbed']} of these runs, so the table does not "
            "show times."
        )
    heads = [f"runs on {version} with", "runs", *(f"`{name}`" for name in _COUNTED[:2])]
    rows = [
        [name, str(row["runs"]),
         *(f"{100 * row[metric]['median_error']:.1f} %" for metric in _COUNTED[:2])]
        for name, row in found["styles"].items()
    ]  # fmt: skip
    return [
        f"The next table compares the predictions for RocksDB {version} with {found['runs']} runs "
        f"of random configs on RocksDB {version} {BUILDS[version]}. {remarks}", "",
        _errors(metrics),
        f"The median errors on RocksDB {version} per compaction style:", "",
        _table(heads, rows),
    ]  # fmt: skip


def _simulated_study(found: dict[str, Any]) -> str:
    """Return by how much held-out R² falls without a knob: in real runs and in simulated ones."""
    methods = ("permutation", "mdi", "ped_anova")
    rows = []
    for name, row in found["metrics"].items():
        real, simulated = row["real"], row["simulated"]
        most = sorted(real["permutation"], key=lambda knob: -real["permutation"][knob])
        falls = (f"`{knob}` {_both(real['permutation'], simulated['permutation'], knob)}"
                 for knob in most[:_MOST_SHOWN])  # fmt: skip
        rows.append([f"`{name}`", ", ".join(falls),
                     *(f"{row['spearman'][method]:.2f}" for method in methods)])  # fmt: skip
    heads = ["metric", "R² lost without the knob, real / simulated", "permutation", "forest",
             "PED-ANOVA"]  # fmt: skip
    return (
        f"{ROCKSDB}. The simulator ran {found['configs']:,} configs with {found['num']:,} records "
        f"in {found['seconds']:.0f} s. On the real RocksDB, {found['real_configs']} configs ran "
        "with 200,000 records. The second column of the table shows how much the R² of a model "
        "falls if the model gets shuffled values of one knob. The last three columns compare the "
        "real and the simulated ranking of the knobs that the simulator supports, by their rank "
        f"correlation.\n\n{_table(heads, rows)}"
    )


def _both(real: dict[str, float], simulated: dict[str, float], key: str) -> str:
    return f"{real[key]:.2f} / {f'{simulated[key]:.2f}' if key in simulated else '-'}"


def _interval(found: dict[str, float]) -> str:
    return f"{found['median']:.3f} ({found['low']:.3f}{_DASH}{found['high']:.3f})"


def _times(found: dict[str, float]) -> str:
    return f"{found['median']:.2f} × ({found['low']:.2f}{_DASH}{found['high']:.2f})"  # noqa: RUF001


def _count(found: dict[str, float | None]) -> str:
    ends = ["never" if found[e] is None else f"{found[e]:g}" for e in ("median", "low", "high")]
    return f"{ends[0]} ({ends[1]} to {ends[2]})"


def _repeats(styles: dict[str, list[dict[str, float]]]) -> str:
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
        f"{_table(heads, rows)}"
    )


def _claims(recipe: dict[str, Any]) -> str:
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
    return f"{ROCKSDB}.{on_mysql}{stores}\n\n{''.join(ran)}\n{_table(list(columns.values()), rows)}"


def _case(case: dict[str, Any]) -> str:
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
        lines.append(_table(["metric", "winner / baseline", "95 % interval", "constraint"], rows))
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
        return [*lines, "No config beats the baseline within the constraints."]
    broken = [f"`{limit['limit']}`" for limit in found["limits"] if not limit["holds"]]
    why = f" The winner violated the constraint {', '.join(broken)}." if broken else ""
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


def _four_loads(results: dict[str, Any]) -> str:
    heads = ["workload", "objective", "cost at 1/64", "claim", "cost at 1/8", "claim"]
    rows = []
    for name, title in LOADS.items():
        case = results[name]
        here, there = _own(case), case.get("larger")
        rows.append([title, f"`{case['objective']}`", *_verdict(here), *_verdict(there)])
    return f"{ROCKSDB}.\n\n{_table(heads, rows)}"


def _verdict(found: dict[str, Any] | None) -> list[str]:
    if not found:
        return ["none", "no winner"]
    broken = [f"`{limit['limit']}`" for limit in found["limits"] if not limit["holds"]]
    why = f", violated: {', '.join(broken)}" if broken else ""
    return [_times(found["objective"]), found["claim"] + why]


def _ratio(interval: dict[str, float]) -> list[str]:
    return [f"{interval['median']:.2f}", f"{interval['low']:.2f} to {interval['high']:.2f}"]


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> None:
    """Fill all pages."""
    results = recorded()
    for page in pages():
        page.write_text(filled(page.read_text(), results))


if __name__ == "__main__":
    main()
