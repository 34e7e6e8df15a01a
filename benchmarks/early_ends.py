"""End verifications at another scale early: how often is a config with a gain given up?

    .venv/bin/python benchmarks/early_ends.py

Replays 10,000 verifications of a config that gains, and whose four constraints are exactly at their
bounds: the hardest case. Three to five pairs may end a verification without a gain; at most 5 % of
these should end so. Takes no engine. Writes benchmarks/results/early_ends.json.
"""

import json
import sys
from pathlib import Path

import numpy as np

from lsmtune.limits import parse_limit
from lsmtune.objective import Goal, Objective
from lsmtune.verdict import Pair, lost_early

RESULTS = Path(__file__).parent / "results" / "early_ends.json"
REPLAYS = 10_000
NOISE = 0.1
"""Standard deviation of the log of each metric between runs of one config."""
GAIN, BOUND = 0.9, 1.1
NAMES = ("live_sst_bytes", "write_p99_us", "get_p99_us", "scan_p99_us")
OBJECTIVE = Objective(
    (Goal("write_amp"),), tuple(parse_limit(f"{name} <= {BOUND} * base") for name in NAMES)
)


def given_up(replays: int) -> int:
    """Return how many of the verifications end after three to five pairs."""
    rng = np.random.default_rng(5)
    return sum(_ends(_pairs(rng)) for _ in range(replays))


def _pairs(rng: np.random.Generator) -> list[Pair]:
    level = np.array([GAIN, *[BOUND] * len(NAMES)])
    noise = np.exp(rng.normal(0, NOISE, (5, 2, len(level))))
    names = ("write_amp", *NAMES)
    return [
        (dict(zip(names, level * best, strict=True)), dict(zip(names, base, strict=True)))
        for best, base in noise
    ]


def _ends(pairs: list[Pair]) -> bool:
    return any(lost_early(pairs[:count], OBJECTIVE) is not None for count in (3, 4, 5))


def main() -> None:
    """Run the replays and write the count."""
    document = {"replays": REPLAYS, "given_up": given_up(REPLAYS)}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
