"""Runs of hosts of different speed: a planted slow host is found, and is no effect of a knob."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lsmtune.analysis.importance import (
    Importance,
    find_importance,
    importance_document,
    knob_ranking,
    runs_of,
)
from lsmtune.analysis.swept import Outcome, Swept, SweptRun, analyse
from lsmtune.batch import BatchLine
from lsmtune.cli.importance_lines import importance_lines
from lsmtune.experiment import Sweep
from lsmtune.host_levels import HOST, THIS_MACHINE
from lsmtune.knobs.catalogue import load
from lsmtune.report.importance_page import render_importance
from lsmtune.report.text.swept_words import swept_document
from lsmtune.workloads import Workload

CATALOGUE = load("rocksdb")
SLOW, FAST = "slow", "fast"
TIMES = {SLOW: 2.0, FAST: 1.0}


# A screening.


def make_lines(count: int = 120, seed: int = 1) -> list[BatchLine]:
    """Runs in which blocks halve the time and the slow host doubles it.

    The slow host has run most configs with many levels, which do nothing.
    """
    rng = np.random.default_rng(seed)
    lines = []
    for number in range(count):
        levels = int(rng.integers(4, 8))
        knobs = {"block_size": int(rng.integers(2048, 65536)), "num_levels": levels}
        for run in range(3 if number < 20 else 1):
            host = SLOW if (rng.random() < 0.85) == (levels > 5) else FAST
            total_s = 10.0 * (0.5 if knobs["block_size"] > 30_000 else 1.0) * TIMES[host]
            total_s *= float(np.exp(rng.normal(0, 0.03)))
            lines.append(
                BatchLine(f"{number}-{run}", Workload(), knobs, {"total_s": total_s}, host=host)
            )
    return lines


@pytest.fixture(scope="module")
def found(quick_models: None) -> Importance:
    return find_importance(runs_of(make_lines(), CATALOGUE), ["total_s"], repeats=1)


def test_a_slow_host_is_no_effect_of_the_knob_that_it_ran_most(
    found: Importance, quick_models: None
) -> None:
    by_name = {knob.knob: knob for knob in found.metrics[0].knobs}
    assert by_name[HOST].is_seen
    assert by_name[HOST].is_significant
    assert by_name["block_size"].is_significant
    assert not by_name["num_levels"].is_significant
    # Without the host, the same runs blame the knob.
    blind = [replace(line, host=None) for line in make_lines()]
    (metric,) = find_importance(runs_of(blind, CATALOGUE), ["total_s"], 1).metrics
    assert {knob.knob: knob for knob in metric.knobs}["num_levels"].is_significant


def test_the_host_is_no_knob(found: Importance) -> None:
    assert found.hosts == (FAST, SLOW)
    assert HOST not in found.ranking
    assert HOST not in found.headline_knobs()
    assert HOST not in knob_ranking(runs_of(make_lines(), CATALOGUE), ["total_s"])


def test_noise_is_that_of_runs_on_one_host(found: Importance) -> None:
    noise = found.metrics[0].noise
    assert noise is not None
    assert noise.relative < 0.06


def test_table_page_and_json_show_what_the_hosts_explain(found: Importance) -> None:
    rows = [line for line in importance_lines(found) if line.strip().startswith(f"{HOST} ")]
    assert len(rows) == 1
    assert any(FAST in line and SLOW in line for line in importance_lines(found))
    page = render_importance("x", found)
    assert FAST in page
    assert SLOW in page
    document = importance_document(found)
    assert document["hosts"] == [FAST, SLOW]


@pytest.mark.parametrize("engine", ["rocksdb", "simulated"])
def test_runs_of_one_host_or_of_the_simulator_have_no_such_factor(engine: str) -> None:
    lines = make_lines(40)
    if engine == "rocksdb":
        lines = [replace(line, host=SLOW) for line in lines]
    runs = runs_of(lines, load(engine))
    assert runs.hosts == ()
    assert HOST not in {factor.name for factor in runs.design.factors}


def test_runs_of_this_machine_are_a_host_of_their_own() -> None:
    lines = [replace(x, host=None if x.host == FAST else SLOW) for x in make_lines(40)]
    assert runs_of(lines, CATALOGUE).hosts == (SLOW, THIS_MACHINE)


# An experiment.


SWEEP = Sweep(
    factors={
        "memtable": {"write_buffer_size": ["1MiB", "4MiB"]},
        "files": {"target_file_size_base": ["1MiB", "4MiB", "16MiB"]},
    },
    repeats=3,
    metrics=("total_s",),
)
CELLS = [(memtable, files) for memtable in range(2) for files in range(3)]


def swept(runs: list[SweptRun], engine: str = "rocksdb") -> Swept:
    return analyse(SWEEP, load(engine), Outcome("sizes", "write", runs, [], {}))


def split_runs() -> list[SweptRun]:
    """Larger memtables take 0.8 of the time. The slow host has run most cells with small files."""
    rng = np.random.default_rng(1)
    runs = []
    for block in range(3):
        of_host: dict[str, list[Any]] = {SLOW: [None], FAST: [None]}
        for cell in CELLS:
            is_slow = cell[1] == 0 if block < 2 else cell[1] == 1
            of_host[SLOW if is_slow else FAST].append(cell)
        for host, cells in of_host.items():
            for cell in cells:
                factor = 0.8 if cell and cell[0] else 1.0
                total_s = 10 * TIMES[host] * factor * float(np.exp(rng.normal(0, 0.01)))
                runs.append(SweptRun(block, cell, {"total_s": total_s}, host=host))
    return runs


def test_a_slow_host_is_no_effect_of_a_factor() -> None:
    (metric,) = swept(split_runs()).metrics
    assert metric.fit is not None
    memtable, files = metric.fit.factors
    assert memtable.p < 0.001
    assert files.p > 0.05
    assert metric.fit.hosts is not None
    assert metric.fit.hosts.p < 0.001
    assert metric.fit.hosts.eta_squared > 0.3
    # Without the host, the same runs blame the files.
    blind = [replace(run, host=SLOW) for run in split_runs()]
    (metric,) = swept(blind).metrics
    assert metric.fit is not None
    assert metric.fit.hosts is None
    assert metric.fit.factors[1].eta_squared > 0.3


def test_means_and_ratios_of_cells_do_not_depend_on_their_hosts() -> None:
    (metric,) = swept(split_runs()).metrics
    for cell, levels in zip(metric.cells, CELLS, strict=True):
        assert cell.ratio is not None
        assert cell.ratio.median == pytest.approx(0.8 if levels[0] else 1.0, rel=0.03)
        assert cell.mean / metric.base.mean == pytest.approx(0.8 if levels[0] else 1.0, rel=0.05)


def test_a_host_without_a_baseline_is_compared_with_those_of_its_block() -> None:
    runs = [r for r in split_runs() if r.cell is not None or (r.host, r.block) != (SLOW, 0)]
    (metric,) = swept(runs).metrics
    assert metric.cells[0].ratio is not None
    assert metric.cells[0].ratio.median == pytest.approx(1.0, rel=0.05)


def test_blocks_on_hosts_of_their_own_give_the_effects_but_no_share_of_the_hosts() -> None:
    hosts = ("a", "b", "c")
    runs = [replace(run, host=hosts[run.block]) for run in split_runs()]
    fit = swept(runs).metrics[0].fit
    assert fit is not None
    assert fit.hosts is None


def test_json_has_hosts_only_if_there_are_several() -> None:
    document = swept_document(swept(split_runs()))
    assert document["hosts"] == [FAST, SLOW]
    assert document["metrics"]["total_s"]["hosts"]["eta_squared"] > 0.3
    one = swept_document(swept([replace(run, host=SLOW) for run in split_runs()]))
    assert "hosts" not in one
    assert "hosts" not in one["metrics"]["total_s"]
    assert swept(split_runs(), "simulated").hosts == ()


# Levels.
