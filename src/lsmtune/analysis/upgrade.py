"""Whether an upgrade of RocksDB helps, and whether the winner still wins on other versions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lsmtune.analysis.swept import SweptRun, block_ratio
from lsmtune.experiment import Sweep
from lsmtune.spec import MIN_PAIRS
from lsmtune.stats import Interval, of_several
from lsmtune.verdict import Side, side_of

_Cell = tuple[int, int]

_BASELINE, _WINNER = 0, 1
"""Levels of the factor config."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A ratio on or against a version of RocksDB, from blocks of runs.

    `blocks` is the number of blocks that measured both sides. The ratio is None if fewer than two
    blocks did, or if a value is not positive. `side` is decided only with at least six blocks.
    """

    version: str
    blocks: int
    ratio: Interval | None
    side: Side

    def document(self) -> dict[str, Any]:
        """Return the comparison as JSON."""
        return {
            "blocks": self.blocks,
            "ratio": self.ratio and asdict(self.ratio),
            "proven": None if self.side == "undecided" else self.side,
        }


@dataclass(frozen=True, slots=True)
class UpgradeMetric:
    """One metric of the objective.

    `upgrades` are version / own version with the options of the baseline, for each other version.
    `winners` are winner / baseline on each version.
    """

    metric: str
    upgrades: tuple[Comparison, ...]
    winners: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class Upgrade:
    """The answer to "does an upgrade help, and does the winner still win there?".

    `own` is the study's version. All intervals together have 95 % confidence (Bonferroni);
    `comparisons` is their number.
    """

    own: str
    comparisons: int
    metrics: tuple[UpgradeMetric, ...]


def compare_versions(experiment: Sweep, runs: Sequence[SweptRun]) -> Upgrade:
    """Return what the runs of an experiment of `upgrade_spec` show."""
    versions = experiment.versions
    comparisons = (2 * len(versions) - 1) * len(experiment.metrics)
    confidence = of_several(comparisons)

    def compared(metric: str, at: int, cell: _Cell, against: tuple[int, int]) -> Comparison:
        found, other = (_by_block(runs, metric, one) for one in (cell, against))
        ratio = block_ratio(found, other, confidence)
        blocks = len(found.keys() & other.keys())
        side: Side = "undecided"
        if ratio is not None and blocks >= MIN_PAIRS:
            side = side_of(metric, ratio)
        return Comparison(versions[at], blocks, ratio, side)

    levels = range(len(versions))
    return Upgrade(
        versions[0],
        comparisons,
        tuple(
            UpgradeMetric(
                metric,
                tuple(compared(metric, v, (v, _BASELINE), (0, _BASELINE)) for v in levels[1:]),
                tuple(compared(metric, v, (v, _WINNER), (v, _BASELINE)) for v in levels),
            )
            for metric in experiment.metrics
        ),
    )


def _by_block(runs: Sequence[SweptRun], metric: str, cell: _Cell) -> dict[int, float]:
    return {r.block: r.metrics[metric] for r in runs if r.cell == cell and metric in r.metrics}
