"""The figures of benchmarks/results in the pages of docs/.

    .venv/bin/python benchmarks/figures.py

A page has a line `<!-- figures: CASE -->`. This command fills the lines after it, up to
`<!-- end of figures -->`. CASE is a case of benchmarks/cases.py, `four loads`, `what to expect`
(see benchmarks/table.py), `running winners`, `five studies`, `full size`, `simplified winners`,
`mixed example`, `larger scale`, `false gains`, `null verifications`,
`driver pairs`, `sst size`, `recipe NAME`, `myrocks repeat`, `optimizers`, `warm start` (these two
also with ` real`), `guided real`, `parallel asks`, `suggestions`, `simulator`, `simulator summary`,
`simulated study`, or a part of the parameter study (see benchmarks/parameter_study.py).
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import figures_experiments
import figures_optimizers
import figures_simulator
import figures_studies
import parameter_study
import table
from figures_text import ROCKSDB

ROOT = Path(__file__).parents[1]
RECIPES = ("sst-size", "compaction-style", "db-bench-study", "autotikv")
"""Their --json is kept in results/NAME_recipe.json, with underscores."""
MEASURED_LATER = (
    "optimizers", "optimizers real", "warm start", "warm start real", "simulated study",
    "guided real", "read counts", "five studies", "full size",
    "simplified winners", "mixed example", "larger scale", "parallel asks",
    "running winners",
)  # fmt: skip
_NAMED = {"running winners": "running tune"}
"""Files that are not named after their case."""
_BLOCK = re.compile(r"(<!-- figures: ([\w -]+) -->\n).*?(<!-- end of figures -->)", re.DOTALL)
_MAKERS: dict[str, Callable[[Any], str]] = {
    "driver pairs": figures_experiments.driver_pairs,
    "false gains": figures_experiments.false_gains,
    "five studies": figures_studies.each_seed,
    "full size": figures_studies.full_size,
    "simplified winners": figures_studies.simplified,
    "mixed example": figures_studies.mixed_example,
    "larger scale": figures_studies.larger_scale,
    "guided real": figures_optimizers.guided,
    "myrocks repeat": figures_experiments.repeats,
    "null verifications": figures_experiments.null_verifications,
    "optimizers": figures_optimizers.costs,
    "optimizers real": figures_optimizers.costs,
    "parallel asks": figures_optimizers.parallel,
    "read counts": figures_experiments.read_counts,
    "running winners": figures_experiments.running_winners,
    "simulated study": figures_simulator.knob_ranking,
    "simulator": figures_simulator.accuracy,
    "sst size": figures_experiments.sweep,
    "suggestions": figures_optimizers.suggestions,
    "warm start": figures_optimizers.warm_starts,
    "warm start real": figures_optimizers.warm_starts,
    **{f"recipe {name}": figures_experiments.published for name in RECIPES},
}
"""Function that returns the figures of a CASE. The other cases are studies."""


def recorded() -> dict[str, Any]:
    """Return all results that pages show, those of the cases by their names."""
    folder = ROOT / "benchmarks" / "results"
    study = folder / "parameter_study.json"
    results: dict[str, Any] = json.loads((folder / "cases.json").read_text())
    sweep = folder / "sst_size.json"
    compared = {
        name: json.loads(path.read_text())
        for name in MEASURED_LATER
        if (path := folder / f"{_NAMED.get(name, name).replace(' ', '_')}.json").exists()
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
        return figures_studies.four_loads(results)
    if name == "what to expect":
        return f"{table.builds()}.\n\n{table.table()}"
    if name == "simulator summary":
        return figures_simulator.summary(results["simulator"])
    if name not in results:
        return "Not measured yet.\n"
    return _MAKERS.get(name, figures_studies.study)(results[name])


def main() -> None:
    """Fill all pages."""
    results = recorded()
    for page in pages():
        page.write_text(filled(page.read_text(), results))


if __name__ == "__main__":
    main()
