"""Compare searches on four hosts with searches on one host, on the model of the shipped runs.

    .venv/bin/python benchmarks/parallel_asks.py [OPTIMIZER ...]

Each search has 24 trials. Hosts have virtual clocks. The model predicts how long a trial takes from
the times of the shipped runs: load and settling of 200,000 records, with the noise of repeats. The
times are multiplied by 5, because several hosts are for longer trials. The commander asks for one
config at a time. The CPU time of the ask passes on its clock, and the host waits. At each ask, the
history has the runs that have ended by then, and the others as pending. The runs of the baseline
and the transport are left out. Both searches of a seed have the same optimizer, which keeps its
simulated configs: the second search pays for those before the first trial as the first search did,
and saves a few seconds of later ones.

Writes benchmarks/results/parallel_asks.json after each seed of an optimizer and skips what it
contains. The summary has two figures per optimizer: the cost of the best config with four hosts
divided by that with one host, over the seeds; and the elapsed time divided by the sum of the times
of the trials, also for trials that take as long as the shipped ones, or 10 times as long. Asks are
those for the shipped workload: the simulator takes longer for more records at the same scale.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import asdict, dataclass
from functools import cache
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np

from lsmtune.analysis.screened import shipped
from lsmtune.learning.threads import one_thread
from lsmtune.optimizers.base import Observation, Optimizer, with_pending
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.stats import ratio_interval
from lsmtune.study.foretelling import Simulated, foretelling
from lsmtune_reproductions.comparison.compare import shipped_model
from lsmtune_reproductions.comparison.model import Modelled
from lsmtune_reproductions.comparison.race import median_interval
from lsmtune_reproductions.comparison.workers import worker_pool
from lsmtune_reproductions.recipes.jin2022.study import Plan

RESULTS = Path(__file__).parent / "results" / "parallel_asks.json"
OPTIMIZERS = ("tpe", "gp-ucb", "guided")
OBJECTIVE = ("balanced",)
REPEATS, TRIALS, HOSTS, BASE_RUNS = 20, 24, 4, 3
LONGER, ALL_LONGER = 5, (1, 5, 10)
"""How many times as long as the shipped runs trials take: in the search, and in the summary."""


@dataclass
class Search:
    """One search: the cost of its best config, the time of each ask and of each trial."""

    hosts: int
    best: float
    asks_s: list[float]
    trials_s: list[float]


@cache
def models() -> tuple[Modelled, Modelled]:
    """Return the model of the objective and that of the time of a run."""
    return shipped_model(OBJECTIVE, ()), shipped_model(("total_s",), ())


def optimizer_of(name: str) -> Optimizer:
    """Return the optimizer; `guided` with the simulator of the shipped workload."""

    def guide() -> Simulated | None:
        keys = {"workload": shipped()[0].workload, "objective": OBJECTIVE, "limits": ()}
        return foretelling(Plan().screening("honest").model_copy(update=keys), models()[0].space)

    return make_optimizer(name, foretelling=guide)


def search(optimizer: Optimizer, seed: int, hosts: int, ready_s: float = 0.0) -> Search:
    """Run one search with virtual clocks. The first ask takes `ready_s` more than measured."""
    model, times = models()
    rng = np.random.default_rng([seed, TRIALS])
    first, base = model.first(rng, BASE_RUNS)
    history, found = [first], Search(hosts, 1.0, [], [])
    running: list[tuple[float, int, Observation]] = []

    def trial_of(at_s: float) -> float:
        """Ask for a trial and start it; return when it ends."""
        while running and running[0][0] <= at_s:
            history.append(heappop(running)[2])
        begun = time.process_time()
        asked = with_pending(history, [observation.config for _, _, observation in running])
        config = optimizer.ask(model.space, asked, seed)
        ask_s = time.process_time() - begun + (0.0 if found.asks_s else ready_s)
        trial_s = LONGER * times.run(config, rng)["total_s"]
        found.asks_s.append(round(ask_s, 4))
        found.trials_s.append(round(trial_s, 3))
        observed = model.observe(config, model.run(config, rng), base)
        end_s = at_s + found.asks_s[-1] + found.trials_s[-1]
        heappush(running, (end_s, len(found.asks_s), observed))
        return end_s

    schedule(found.asks_s, hosts, trial_of)
    best = min([*history[1:], *(run[2] for run in running)], key=_looks)
    found.best = model.cost(best.config) if _looks(best) < 1 else 1.0
    return found


def _looks(observation: Observation) -> float:
    return 1.0 if observation.value is None else observation.value


def schedule(asks_s: Sequence[float], hosts: int, trial_of: Callable[[float], float]) -> float:
    """Give each free host a trial, one ask at a time; return when the last trial ends.

    `trial_of` gets the time at which the ask begins and returns when the trial ends; the ask's time
    is then the last of `asks_s`, or the one with the number of the trial.
    """
    free, commander_s, end_s = [0.0] * hosts, 0.0, 0.0
    heapify(free)
    for number in range(TRIALS):
        at_s = max(heappop(free), commander_s)
        ended_s = trial_of(at_s)
        commander_s = at_s + asks_s[number]
        heappush(free, ended_s)
        end_s = max(end_s, ended_s)
    return end_s


def share(found: Search, longer: int) -> float:
    """Return elapsed time / summed time of the trials, for trials that take longer or shorter."""
    trials_s = [seconds * longer / LONGER for seconds in found.trials_s]
    left = iter(zip(found.asks_s, trials_s, strict=True))
    return schedule(found.asks_s, found.hosts, lambda at_s: at_s + sum(next(left))) / sum(trials_s)


def pair(name: str, seed: int) -> list[Search]:
    """Return a search on one host and one on several; both pay for what is prepared once."""
    with one_thread():
        optimizer = optimizer_of(name)
        models()
        alone = search(optimizer, seed, 1)
        # The optimizer keeps what it has found on the simulator before the first trial.
        ready_s = alone.asks_s[0] if name == "guided" else 0.0
        return [alone, search(optimizer, seed, HOSTS, ready_s)]


def summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of each optimizer."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(run["optimizer"] for run in runs):
        pairs = [[Search(**one) for one in r["searches"]] for r in runs if r["optimizer"] == name]
        if len(pairs) == 1:
            continue  # no interval
        alone, several = zip(*pairs, strict=True)
        found[name] = {
            "repeats": len(pairs),
            "one_host": asdict(median_interval([s.best for s in alone])),
            "hosts": asdict(median_interval([s.best for s in several])),
            "ratio": asdict(ratio_interval([s.best for s in several], [s.best for s in alone])),
            "ask_s": float(np.mean([ask for s in several for ask in s.asks_s[1:]])),
            "first_ask_s": float(np.median([s.asks_s[0] for s in several])),
            "trial_s": float(np.median([t / LONGER for s in several for t in s.trials_s])),
            "elapsed_share": {
                str(longer): asdict(median_interval([share(s, longer) for s in several]))
                for longer in ALL_LONGER
            },
        }
    return found


def write(runs: Sequence[dict[str, Any]]) -> None:
    """Write the runs with their summary."""
    document = {"hosts": HOSTS, "trials": TRIALS, "summary": summary(runs), "runs": runs}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")


def main() -> None:
    """Run what is missing, for the optimizers that are named."""
    runs = json.loads(RESULTS.read_text())["runs"] if RESULTS.exists() else []
    done = {(run["optimizer"], run["seed"]) for run in runs}
    names = sys.argv[1:] or OPTIMIZERS
    wanted = [(name, seed) for name in names for seed in range(1, REPEATS + 1)]
    with worker_pool(2) as pool:
        asked = {pool.submit(pair, *one): one for one in wanted if one not in done}
        for future in as_completed(asked):
            name, seed = asked[future]
            searches = [asdict(one) for one in future.result()]
            runs = sorted(
                [*runs, {"optimizer": name, "seed": seed, "searches": searches}],
                key=lambda run: (OPTIMIZERS.index(run["optimizer"]), run["seed"]),
            )
            write(runs)
            print(name, seed, [one["best"] for one in searches], flush=True)


if __name__ == "__main__":
    main()
