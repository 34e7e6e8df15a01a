"""The figures of benchmarks/results in the pages of docs/.

    .venv/bin/python benchmarks/figures.py

A page has a line `<!-- figures: CASE -->`, and behind it what this command writes, up to
`<!-- end of figures -->`. CASE is a case of benchmarks/cases.py, `four loads`, `sst size`, `recipe
NAME`, `myrocks repeat`, `optimizers`, `warm start` (these two also with ` real`), `suggestions`,
`simulator`, `simulated study`, or a part of the parameter study (see
benchmarks/parameter_study.py).
"""

import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import parameter_study

ROOT = Path(__file__).parents[1]
LOADS = {
    "write-heavy": "write-heavy",
    "half-missing": "point reads, half missing",
    "short-scans": "short scans",
    "mixed": "gets and overwrites, 50/50",
}
RECIPES = ("sst-size", "compaction-style", "db-bench-study", "autotikv")
"""Their --json is kept in results/NAME_recipe.json, with underscores."""
COMPARED = (
    "optimizers", "optimizers real", "warm start", "warm start real", "simulated study",
    "guided real", "guided real earlier",
)  # fmt: skip
_LAST = 200
_MOST_SHOWN = 5
_ARMS = {
    "cold": "cold", "similar": "from a similar load", "misleading": "from a misleading one",
    "dull": "from one under which little matters",
}  # fmt: skip
_MARKS = (8, 16, 24, 36, 50, 100)
_BLOCK = re.compile(r"(<!-- figures: ([\w -]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)


def recorded() -> dict[str, Any]:
    """All results that pages show, those of the cases by their names."""
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
        "suggestions": json.loads((folder / "suggestion_cost.json").read_text()),
    }


def pages() -> list[Path]:
    """The pages that have figures."""
    found = sorted((ROOT / "docs").rglob("*.md"))
    return [page for page in found if _BLOCK.search(page.read_text())]


def filled(text: str, results: dict[str, Any]) -> str:
    """The page with the figures of the results."""
    return _BLOCK.sub(lambda block: block[1] + _figures(block[2], results) + block[3], text)


def _figures(name: str, results: dict[str, Any]) -> str:
    if name in parameter_study.PARTS:
        return parameter_study.PARTS[name](results["parameter study"])
    if name == "four loads":
        return _four_loads(results)
    if name not in results:
        return "Not measured yet.\n"
    kinds = {"sst size": _answers, "myrocks repeat": _repeats, "optimizers": _optimizers,
             "warm start": _warm_starts, "suggestions": _suggestions,
             "simulator": _simulator, "simulated study": _simulated_study,
             "guided real": _guided, "guided real earlier": _guided}  # fmt: skip
    kind = kinds.get(name) or kinds.get(name.removesuffix(" real"), _case)
    told = _claims if name.startswith("recipe ") else kind
    return told(results[name])


def _answers(swept: dict[str, Any]) -> str:
    """What a controlled experiment answered: each metric's sentences."""
    told = [answer for metric in swept["metrics"].values() for answer in metric["answers"]]
    runs = f"{swept['runs']} runs in {swept['blocks']} blocks, {swept['failed']} failed."
    return "\n".join([runs, "", *(f"- {answer}." for answer in told)]) + "\n"


def _optimizers(compared: dict[str, Any]) -> str:
    """What optimizers come to after so many trials, and how many they take to the target."""
    rows = compared["optimizers"]
    marks = [mark for mark in next(iter(rows.values()))["best_at"] if int(mark) in _MARKS]
    target = f"trials to {compared['target_value']:.3f}"
    heads = ["optimizer", *(f"after {mark}" for mark in marks), target]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, row in rows.items():
        cells = [_interval(row["best_at"][mark]) for mark in marks]
        lines.append(f"| `{name}` | {' | '.join(cells)} | {_count(row['trials_to_target'])} |")
    repeats = next(iter(rows.values()))["repeats"]
    return f"Medians of {repeats} searches with their 95 % intervals.\n\n" + "\n".join(lines) + "\n"


def _warm_starts(found: dict[str, Any]) -> str:
    """How many trials cold and warm starts take to what a cold start has after so many."""
    marks = {name: row for name, row in found.items() if name.startswith("to what")}
    arms = [arm for arm in _ARMS if all(arm in row for row in marks.values())]
    heads = ["trials to what a cold start has after", *(_ARMS[arm] for arm in arms)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name, row in marks.items():
        cells = [_count(row[arm]) for arm in arms]
        lines.append(f"| {name.split()[-1]} trials | {' | '.join(cells)} |")
    return (
        f"Medians of {found['searches']} searches with `{found['optimizer']}` and their 95 % "
        f"intervals; {found['trials'] + 1} stands for never.\n\n" + "\n".join(lines) + "\n"
    )


def _guided(rows: list[dict[str, Any]]) -> str:
    """What each search has after so many trials: the middle, least and most of its seeds."""
    marks = (1, 2, 8, 36)
    heads = ["load", "optimizer", "searches", *(f"after {mark}" for mark in marks),
             "winners again", "each of them", "within limits"]  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    loads = [*dict.fromkeys(row["load"] for row in rows)]
    searches = dict.fromkeys((row["load"], row["optimizer"]) for row in rows)
    for load, name in sorted(searches, key=lambda search: loads.index(search[0])):
        own = [row for row in rows if (row["load"], row["optimizer"]) == (load, name)]
        cells = [_spread([row["costs"][mark - 1] for row in own if len(row["costs"]) >= mark])
                 for mark in marks]  # fmt: skip
        again = [row["again"] for row in own if "again" in row]
        cells.append(f"{median(winner['median'] for winner in again):.3f}" if again else "-")
        cells.append(", ".join(map(_interval, again)) or "-")
        kept = [all(limit["holds"] for limit in row["limits"]) for row in own if "limits" in row]
        cells.append(f"{sum(kept)} of {len(kept)}" if kept else "not recorded")
        lines.append(f"| {load} | `{name}` | {len(own)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _spread(values: list[float]) -> str:
    if not values:
        return "-"
    return _interval({"median": median(values), "low": min(values), "high": max(values)})


def _suggestions(rows: list[dict[str, Any]]) -> str:
    """How long optimizers take to decide after 200 trials."""
    found = {(row["optimizer"], row["knobs"]): row for row in rows if row["trials"] == _LAST}
    counts = sorted({knobs for _, knobs in found})
    heads = ["optimizer", *(f"{knobs} knobs" for knobs in counts)]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in dict.fromkeys(name for name, _ in found):
        own = (found[name, knobs] for knobs in counts)
        cells = (f"{1000 * r['median_s']:.0f} ms ({1000 * r['longest_s']:.0f} ms)" for r in own)
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _simulator(found: dict[str, Any]) -> str:
    """How close predictions come to held-out runs."""
    lines = [
        f"{found['runs']} real runs that no constant was fitted to.",
        "",
        "| metric | median error | nine in ten within | Spearman |",
        "|---|---|---|---|",
    ]
    for name, row in found["metrics"].items():
        errors = (100 * row[key] for key in ("median_error", "error_of_nine_in_ten"))
        cells = [*(f"{error:.1f} %" for error in errors), f"{row['spearman']:.2f}"]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    metrics = ("write_amp", "live_sst_bytes", "total_s")
    lines += ["", "| on another machine | runs | `write_amp` | `live_sst_bytes` | `total_s` | "
              "`stall_s`, Spearman |", "|---|---|---|---|---|---|"]  # fmt: skip
    third = "codecs and styles on a third machine"
    for kind in ("styles elsewhere", "codecs elsewhere", third):
        where = "on a third: " if kind == third else ""
        for name, row in found[kind].items():
            errors = [f"{100 * row[metric]['median_error']:.1f} %" for metric in metrics]
            cells = [where + name, str(row["runs"]), *errors, f"{row['stall_s']['spearman']:.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
    nothing, repeated = found["failed elsewhere"], found["repeated elsewhere"]
    lines += [
        "",
        f"{nothing['real']} more runs there came to nothing: writes stood still for ever, or FIFO "
        f"compaction dropped what was to be read. The simulator foretold that of "
        f"{nothing['both']} of them, and of {nothing['foretold'] - nothing['both']} that ran. Of "
        f"{repeated[0]['configs']} universal configs that ran three times, and in another hour "
        f"three times again, live space is foretold inside the range of three runs, widened by "
        f"5 %, in {' and '.join(str(times['inside']) for times in repeated)}.",
    ]
    lines += ["", "| metric | the simulator | on the same rows the best model of 400 runs |",
              "|---|---|---|"]  # fmt: skip
    for name, row in found.get("beside models", {}).items():
        model = f"{100 * row['model_error']:.1f} %, {row['model']}"
        lines.append(f"| `{name}` | {100 * row['simulator_error']:.1f} % | {model} |")
    return "\n".join(lines) + "\n"


def _simulated_study(found: dict[str, Any]) -> str:
    """By how much held-out R² falls without a knob: in real runs and in simulated ones."""
    methods = ("permutation", "mdi", "ped_anova")
    lines = [
        f"{found['configs']:,} configs at {found['num']:,} records on the simulator, in "
        f"{found['seconds']:.0f} s; {found['real_configs']} real ones at 200,000. By how much "
        "held-out R² falls without a knob, real / simulated; how alike the methods rank all knobs.",
        "",
        "| metric | the most important knobs | held-out R², permuted | forest | PED-ANOVA | "
        "R² of a forest |",
        "|---|---|---|---|---|---|",
    ]  # fmt: skip
    for name, row in found["metrics"].items():
        real, told = row["real"], row["simulated"]
        most = sorted(real["permutation"], key=lambda knob: -real["permutation"][knob])
        falls = (f"{knob} {_beside(real['permutation'], told['permutation'], knob)}"
                 for knob in most[:_MOST_SHOWN])  # fmt: skip
        cells = [", ".join(falls), *(f"{row['spearman'][method]:.2f}" for method in methods),
                 _beside(real, told, "forest_r2")]  # fmt: skip
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _beside(real: dict[str, float], told: dict[str, float], key: str) -> str:
    return f"{real[key]:.2f} / {f'{told[key]:.2f}' if key in told else '-'}"


def _interval(told: dict[str, float]) -> str:
    return f"{told['median']:.3f} ({told['low']:.3f} to {told['high']:.3f})"


def _count(told: dict[str, float | None]) -> str:
    ends = ["never" if told[end] is None else f"{told[end]:g}" for end in ("median", "low", "high")]
    return f"{ends[0]} ({ends[1]} to {ends[2]})"


def _repeats(styles: dict[str, list[dict[str, float]]]) -> str:
    """How far runs of one config and seed differ, and what a trial adds to a run."""
    lines = ["| style | runs | write amplification | furthest from their mean | a trial adds |",
             "|---|---|---|---|---|"]  # fmt: skip
    for name, runs in styles.items():
        values = [run["write_amp"] for run in runs]
        mean = sum(values) / len(values)
        furthest = max(abs(value / mean - 1) for value in values)
        added = sorted(run["added_s"] for run in runs)[len(runs) // 2]
        lines.append(
            f"| {name} | {len(runs)} | {min(values):.3f} to {max(values):.3f} | "
            f"{100 * furthest:.2f} % | {added:.1f} s |"
        )
    return "\n".join(lines) + "\n"


def _claims(recipe: dict[str, Any]) -> str:
    """What became of the published statements."""
    parts = recipe.get("parts", {"rocksdb": recipe})
    ran = (
        f"{engine}: {part['experiment']['runs']} runs in {part['experiment']['blocks']} blocks, "
        f"{part['experiment']['failed']} failed"
        for engine, part in parts.items()
    )
    # A search recommends something; an experiment only judges.
    columns = {"statement": "published", "here": "recommended here", "finding": "here",
               "evidence": "evidence (95 %)"}  # fmt: skip
    if "here" in recipe["claims"][0]:
        columns["finding"] = "the two"
    else:
        del columns["here"]
    rows = [[claim[key] for key in columns] for claim in recipe["claims"]]
    head, *table = (f"| {' | '.join(cells)} |" for cells in [list(columns.values()), *rows])
    table.insert(0, "|" + "---|" * len(columns))
    return "\n".join(["; ".join(ran) + ".", "", head, *table]) + "\n"


def _case(case: dict[str, Any]) -> str:
    lines = ["```", case["command"], "```", "", _claim(case), ""]
    verification = _own(case)
    if verification:
        lines += ["| metric | winner / base | 95 % interval |", "|---|---|---|"]
        limited = [limit.split()[0] for limit in case["limits"]]
        shown_always = ("throughput_ops_s", "sustained_ops_s", "write_amp")
        wanted = dict.fromkeys([*_asked(case), *limited, *shown_always])
        shown = [name for name in wanted if name in verification["ratios"]]
        lines += [f"| {name} | {_ratio(verification['ratios'][name])} |" for name in shown]
        lines.append("")
    if case["best"]:
        config = ", ".join(f"`{name} = {_value(v)}`" for name, v in case["best"]["config"].items())
        lines += [f"What changed (sizes of the tree at scale {case['scale']}): {config}.", ""]
    return "\n".join(lines)


def _own(case: dict[str, Any]) -> dict[str, Any] | None:
    """The verification at the study's own scale; another one may be newer."""
    return next((v for v in case["verifications"] if v["scale"] == case["scale"]), None)


def _asked(case: dict[str, Any]) -> list[str]:
    made_of = {"balanced": ["write_amp", "live_sst_bytes", "total_s"]}
    return [metric for goal in case["goals"] for metric in made_of.get(goal, [goal])]


def _claim(case: dict[str, Any]) -> str:
    trials, found = case["trials"], _own(case)
    ran = (
        f"RocksDB {case['engine_version']}: {trials['total']} trials, {trials['failed']} failed, "
        f"{trials['cut']} cut early."
    )
    if not found:
        return f"{ran} No trial beat the base within the limits: the base stays."
    broken = [limit["limit"] for limit in found["limits"] if not limit["holds"]]
    why = f"; broken: {', '.join(broken)}" if broken else ""
    cost = _ratio(found["objective"]).replace(" | ", " (")
    return (
        f"{ran} Verified in {found['pairs']} pairs of runs: **{found['claim']}**{why}; "
        f"{case['objective']} as a cost {cost}) of the base."
    )


def _four_loads(results: dict[str, Any]) -> str:
    lines = [
        "| load | objective | at 1/64 | claim | at 1/8, eight times the records | claim |",
        "|---|---|---|---|---|---|",
    ]
    for name, title in LOADS.items():
        case = results[name]
        here, there = _own(case), case.get("larger")
        cells = [title, case["objective"], *_verdict(here), *_verdict(there)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _verdict(found: dict[str, Any]) -> list[str]:
    if not found:
        return ["none", "not verified: no winner"]
    broken = [limit["limit"] for limit in found["limits"] if not limit["holds"]]
    why = f" (broken: {', '.join(broken)})" if broken else ""
    return [_ratio(found["objective"]).replace(" | ", " (") + ")", found["claim"] + why]


def _ratio(interval: dict[str, float]) -> str:
    return f"{interval['median']:.2f} | {interval['low']:.2f} to {interval['high']:.2f}"


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def main() -> None:
    """Fill all pages."""
    results = recorded()
    for page in pages():
        page.write_text(filled(page.read_text(), results))


if __name__ == "__main__":
    main()
