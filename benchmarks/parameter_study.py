"""What docs/measurements/parameter-study.md states, from the recipe's own output.

.venv/bin/lsmtune reproduce jin2022 --configs 0 --seeds 3 --home FOLDER --json > FILE
.venv/bin/python benchmarks/parameter_study.py FILE [FILE ...]
.venv/bin/python benchmarks/figures.py

Of several files, such as one of another --num, the searches are shown together. Without a file, it
keeps the searches and analyses the runs that ship again, as is needed when the models change.
"""

import json
import sys
from pathlib import Path
from typing import Any

from lsmtune.analysis.importance import find_importance, importance_document, runs_of
from lsmtune.knobs.catalogue import load
from lsmtune_reproductions.recipes.jin2022.study import (
    METRICS,
    MODE_NAMES,
    MODES,
    Mode,
    Plan,
    shipped_screening,
)

RESULTS = Path(__file__).parent / "results" / "parameter_study.json"
_MOST_KNOBS = 6


def kept(document: dict[str, Any]) -> dict[str, Any]:
    """Return the part of the recipe's output that the page shows."""
    screenings = {
        mode: {
            **{key: found[key] for key in ("runs", "configs", "failed", "top")},
            "metrics": {name: _metric(metric) for name, metric in found["metrics"].items()},
        }
        for mode, found in document["screenings"].items()
    }
    return {**document, "screenings": screenings}


def _metric(metric: dict[str, Any]) -> dict[str, Any]:
    names = ("model", "r2_holdout", "r2_holdout_forest", "r2_oob", "noise", "r2_ceiling")
    knobs = [
        {key: knob[key] for key in ("knob", "mdi", "permutation", "anova_multi_p", "effect")}
        for knob in metric["knobs"][:_MOST_KNOBS]
    ]
    return {**{name: metric[name] for name in names}, "knobs": knobs}


def _accuracy(study: dict[str, Any]) -> str:
    """Return how well each metric can be predicted, with the paper's value."""
    honest, published = (study["screenings"][mode] for mode in ("honest", "published"))
    lines = [
        f"With a fixed workload, we measured {honest['configs']} configs in {honest['runs']} runs; "
        f"{honest['failed']} runs failed. With a varied workload, we measured "
        f"{published['configs']} configs in {published['runs']} runs; {published['failed']} runs "
        "failed. Some configs ran more than once.",
        "",
        "| metric | paper | forest, varied workload | forest, fixed workload | best model, fixed "
        "workload | limit by noise |",
        "|---|---|---|---|---|---|",
    ]
    for name, metric in honest["metrics"].items():
        paper = study["paper"]["r_squared"].get(name)
        other = published["metrics"][name]["r2_holdout_forest"]
        cells = [
            name, f"{paper:.3f}" if paper else "", _r2(other), _r2(metric["r2_holdout_forest"]),
            f"{_r2(metric['r2_holdout'])}, {metric['model']}", _r2(metric["r2_ceiling"]),
        ]  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _r2(interval: dict[str, float]) -> str:
    return f"{interval['median']:.2f} ({interval['low']:.2f}\N{EN DASH}{interval['high']:.2f})"


def _knobs(study: dict[str, Any]) -> str:
    """Return the first knobs of each metric with a fixed workload."""
    lines = ["| metric | knob | lost R² | lowest at | highest at | difference |",
             "|---|---|---|---|---|---|"]  # fmt: skip
    for name, metric in study["screenings"]["honest"]["metrics"].items():
        for knob in metric["knobs"][:3]:
            groups = sorted(knob["effect"], key=lambda group: group["modelled"])
            least, most = groups[0], groups[-1]
            apart = most["modelled"] / least["modelled"] - 1
            cells = [name, f"`{knob['knob']}`", f"{knob['permutation']:.2f}", least["values"],
                     most["values"], f"{100 * apart:.0f} %"]  # fmt: skip
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _searches(study: dict[str, Any]) -> str:
    """Return the verified results of the genetic searches."""
    lines = ["| search | records | best of 36 single runs | verified fitness (95 %) | pairs |",
             "|---|---|---|---|---|"]  # fmt: skip
    shares = []
    for search in study["searches"]:
        found, name = search["verified"], f"{MODE_NAMES[search['mode']]}, seed {search['seed']}"
        verified = f"{_fitness(found['exact'])} | {found['pairs']}" if found else "no gain |"
        best = f"{search['num']:,} | {search['best_so_far'][-1]:.0f}"
        lines.append(f"| {name} | {best} | {verified} |")
        if search["data_share"] is not None:
            shares.append(search)
    lines.append("")
    if median := study["honest_fitness"]:
        lines.append(
            f"With a fixed workload, the winners of the searches have a median fitness of "
            f"{median['median']:.0f} ({median['low']:.0f} to {median['high']:.0f}). The best "
            "config of the paper, in its Table 2, has a fitness of "
            f"{study['paper']['fitness_of_table_2']:.0f}."
        )
    lines += [
        f"With a varied workload and {search['num']:,} records, the winner's fitness is "
        f"{_fitness(search['verified']['exact'])} with the winner's `compression_ratio`. "
        "With the baseline's `compression_ratio`, the winner's fitness is "
        f"{_fitness(search['on_base_data']['exact'])}. This means that "
        f"{100 * search['data_share']:.0f} % of the winner's fitness comes from the changed "
        "`compression_ratio` of the data, not from better options."
        for search in shares
    ]
    return "\n".join(lines) + "\n"


def _fitness(interval: dict[str, float]) -> str:
    return f"{interval['median']:.0f} ({interval['low']:.0f}\N{EN DASH}{interval['high']:.0f})"


PARTS = {
    "parameter study accuracy": _accuracy,
    "parameter study knobs": _knobs,
    "parameter study searches": _searches,
}
"""The parts that a page can show."""


def analysed_again() -> dict[str, Any]:
    """Return the recorded results with a new analysis of the runs that ship."""
    screenings = {mode: _analysed(mode) for mode in MODES}
    return {**json.loads(RESULTS.read_text()), "screenings": screenings}


def _analysed(mode: Mode) -> dict[str, Any]:
    runs = runs_of(shipped_screening(mode), load("rocksdb"))
    return importance_document(find_importance(runs, METRICS, Plan().repeats))


def main() -> None:
    """Write the results."""
    documents = [json.loads(Path(path).read_text()) for path in sys.argv[1:]]
    documents = documents or [analysed_again()]
    searches = [search for document in documents for search in document["searches"]]
    merged = kept({**documents[0], "searches": searches})
    RESULTS.write_text(json.dumps(merged, indent=1) + "\n")


if __name__ == "__main__":
    main()
