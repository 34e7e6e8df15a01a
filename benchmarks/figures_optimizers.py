"""Figures of optimizers: costs of searches, warm starts, time per suggestion."""

from statistics import median
from typing import Any

from figures_text import DASH, ROCKSDB, table_text

_LAST = 200
_ARMS = {
    "cold": "cold start", "similar": "from a similar workload",
    "misleading": "from a misleading workload",
    "dull": "from a workload where few knobs matter",
}  # fmt: skip
_HOSTS = ("one_host", "hosts", "ratio")
_MARKS = (8, 16, 24, 36, 50, 100)


def costs(compared: dict[str, Any]) -> str:
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
        f"{table_text(heads, cells)}"
    )


def warm_starts(found: dict[str, Any]) -> str:
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
        f"{table_text(heads, rows)}"
    )


def guided(rows: list[dict[str, Any]]) -> str:
    """Return the cost of the searches' winners, and how many of them keep all limits."""
    heads = ["workload", "optimizer", "trials", "best cost in the search", "winner measured again",
             "within limits"]  # fmt: skip
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
        f"{table_text(heads, cells)}"
    )


def parallel(found: dict[str, Any]) -> str:
    """Return what several hosts cost and save: cost of the best config, and elapsed time."""
    rows = found["summary"]
    shown = next(iter(rows.values()))
    sizes, trial_s = shown["elapsed_share"], shown["trial_s"]
    times = (f"elapsed / all trials of {trial_s * int(size):.0f} s" for size in sizes)
    heads = ["optimizer", "searches", "cost, one host", f"cost, {found['hosts']} hosts",
             "ratio of the costs", "seconds to choose (first config)", *times]  # fmt: skip
    cells = [
        [f"`{name}`", str(row["repeats"]), *(_interval(row[arm]) for arm in _HOSTS),
         f"{row['ask_s']:.2g} ({row['first_ask_s']:.2g})",
         *(_two_digits(row["elapsed_share"][size]) for size in sizes)]
        for name, row in rows.items()
    ]  # fmt: skip
    return (
        f"Each search has {found['trials']} trials. Lower costs and shares are better; with "
        f"{found['hosts']} hosts, no share is below {1 / found['hosts']:.2f}. The 95 % interval is "
        f"in brackets.\n\n{table_text(heads, cells)}"
    )


def _two_digits(found: dict[str, float]) -> str:
    return f"{found['median']:.2f} ({found['low']:.2f}{DASH}{found['high']:.2f})"


def _spread(values: list[float]) -> str:
    if not values:
        return "-"
    return _interval({"median": median(values), "low": min(values), "high": max(values)})


def suggestions(rows: list[dict[str, Any]]) -> str:
    """Return how long optimizers need for a suggestion after 200 trials."""
    found = {(row["optimizer"], row["knobs"]): row for row in rows if row["trials"] == _LAST}
    counts = sorted({knobs for _, knobs in found})
    cells = []
    for name in dict.fromkeys(name for name, _ in found):
        own = (found[name, knobs] for knobs in counts)
        times = (f"{1000 * r['median_s']:.0f} ms ({1000 * r['longest_s']:.0f} ms)" for r in own)
        cells.append([f"`{name}`", *times])
    return table_text(["optimizer", *(f"{knobs} knobs" for knobs in counts)], cells)


def _interval(found: dict[str, float]) -> str:
    return f"{found['median']:.3f} ({found['low']:.3f}{DASH}{found['high']:.3f})"


def _count(found: dict[str, float | None]) -> str:
    ends = ["never" if found[e] is None else f"{found[e]:g}" for e in ("median", "low", "high")]
    return f"{ends[0]} ({ends[1]} to {ends[2]})"
