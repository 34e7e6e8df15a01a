"""The comparison of versions of RocksDB in words and as JSON."""

from collections.abc import Iterator
from typing import Any

from lsmtune.analysis.upgrade import Comparison, Upgrade, UpgradeMetric
from lsmtune.study_keys import VERSION
from lsmtune.verdict import Side

_PROOFS: dict[Side, str] = {
    "better": "proven better", "worse": "proven worse", "undecided": "not proven",
}  # fmt: skip


def upgrade_answers(upgrade: Upgrade, metric: UpgradeMetric) -> Iterator[str]:
    """Yield two sentences: what the upgrade does, and what the winner does on each version."""
    upgrades = (
        f"RocksDB {c.version} has {_told(c, f'the value of RocksDB {upgrade.own}')}"
        for c in metric.upgrades
    )
    yield f"{metric.metric}: with the options of the baseline, {', '.join(upgrades)}"
    winners = (
        f"{_told(c, 'the value of the baseline')} on RocksDB {c.version}" for c in metric.winners
    )
    yield f"{metric.metric}: the winner has {', '.join(winners)}"


def comparison_text(comparison: Comparison) -> str:
    """Return a ratio with its interval and whether it is proven."""
    if comparison.ratio is None:
        return "not measured"
    ratio = comparison.ratio
    return (
        f"{ratio.median:.3g} \N{MULTIPLICATION SIGN} ({ratio.low:.3g}\N{EN DASH}{ratio.high:.3g}), "
        f"{_PROOFS[comparison.side]}"
    )


def _told(comparison: Comparison, against: str) -> str:
    ratio = comparison.ratio
    if ratio is None:
        return f"no ratio to {against} (not proven: too few runs, or a value is 0)"
    low, high = f"{ratio.low:.3g}", f"{ratio.high:.3g}"
    return (
        f"{ratio.median:.3g} \N{MULTIPLICATION SIGN} {against} (95 % interval {low} to {high}, "
        f"{_PROOFS[comparison.side]})"
    )


def upgrade_document(upgrade: Upgrade) -> dict[str, Any]:
    """Return the answer as JSON."""
    return {
        VERSION: upgrade.own,
        "comparisons": upgrade.comparisons,
        "metrics": {
            metric.metric: {
                "upgrade": {c.version: c.document() for c in metric.upgrades},
                "winner": {c.version: c.document() for c in metric.winners},
                "answers": list(upgrade_answers(upgrade, metric)),
            }
            for metric in upgrade.metrics
        },
    }
