"""An upgrade judged by blocks of runs: ratios, their confidence, and what is proven."""

from collections.abc import Callable

import pytest

from lsmtune.analysis.swept import SweptRun
from lsmtune.analysis.upgrade import Upgrade, compare_versions
from lsmtune.experiment import Sweep
from lsmtune.report.text.swept_words import upgrade_document

VERSIONS = ("8.10.2", "10.1.3", "11.8.1")
METRICS = ("write_amp", "throughput_ops_s")

Values = Callable[[tuple[int, int], int], float]
"""The value of a cell in a block."""


def compared(value: Values, blocks: int = 6, versions: tuple[str, ...] = VERSIONS) -> Upgrade:
    experiment = Sweep(
        factors={"version": {"rocksdb": versions}, "config": {"write_buffer_size": (1, 2)}},
        repeats=max(2, blocks),
        metrics=METRICS,
    )
    runs = [
        SweptRun(block, cell, dict.fromkeys(METRICS, value(cell, block)))
        for block in range(blocks)
        for cell in [None, *((v, c) for v in range(len(versions)) for c in (0, 1))]
        if cell is not None
    ]
    return compare_versions(experiment, runs)


def noise(block: int) -> float:
    return 1 + 0.01 * (-1) ** block


def planted(cell: tuple[int, int], block: int) -> float:
    """Versions have 10, 5 and 10; the winner halves that, but on the last version it doubles."""
    version, config = cell
    own = (10.0, 5.0, 10.0)[version]
    return own * (1.0 if config == 0 else (0.5, 0.5, 2.0)[version] * noise(block))


def test_ratios_and_proofs_are_those_that_were_planted() -> None:
    found = compared(planted)
    assert found.own == VERSIONS[0]
    write_amp, throughput = found.metrics
    assert [(c.version, c.side) for c in write_amp.upgrades] == [
        ("10.1.3", "better"), ("11.8.1", "undecided"),
    ]  # fmt: skip
    assert [(c.version, c.side) for c in write_amp.winners] == [
        ("8.10.2", "better"), ("10.1.3", "better"), ("11.8.1", "worse"),
    ]  # fmt: skip
    assert [c.side for c in throughput.winners] == ["worse", "worse", "better"]
    ratios = [c.ratio.median for c in (*write_amp.upgrades, *write_amp.winners) if c.ratio]
    assert ratios == pytest.approx([0.5, 1.0, 0.5, 0.5, 2.0], rel=0.001)


def test_more_comparisons_widen_each_interval() -> None:
    few, many = (compared(planted, versions=VERSIONS[:n]) for n in (2, 3))
    assert (few.comparisons, many.comparisons) == (6, 10)
    narrow, wide = (found.metrics[0].winners[0].ratio for found in (few, many))
    assert narrow is not None
    assert wide is not None
    assert wide.relative_half_width > narrow.relative_half_width


def test_fewer_than_six_blocks_prove_nothing() -> None:
    found = compared(planted, blocks=5)
    winners = found.metrics[0].winners
    assert {c.side for c in winners} == {"undecided"}
    assert {c.blocks for c in winners} == {5}


def test_a_value_of_zero_has_no_ratio() -> None:
    found = compared(lambda cell, _: float(cell[1]))
    assert {c.ratio for c in found.metrics[0].winners} == {None}
    document = upgrade_document(found)["metrics"]["write_amp"]["winner"][VERSIONS[0]]
    assert document == {"blocks": 6, "ratio": None, "proven": None}
