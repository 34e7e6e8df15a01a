"""Checks of the counted reads of a real trial."""

from collections.abc import Mapping

from lsmtune.engines.tickers import sorted_runs
from lsmtune.metrics.measurement import Measurement


def check_counts(measurement: Measurement) -> None:
    """Without filters, a get looks into at most each sorted run.

    There it looks up one block. A get of a missing key may look up the next block too.
    """
    m = measurement.metrics
    assert m["scan_sorted_runs"] == sorted_runs(measurement.levels) >= 1
    assert 1 <= m["get_data_blocks"] <= m["scan_sorted_runs"] + 0.1
    assert 0.5 < m["get_missing_data_blocks"] <= 2 * m["scan_sorted_runs"]
    assert m["table_readers_bytes"] > 0


def check_filtered(m: Mapping[str, float]) -> None:
    """With filters of ten bits, a get looks into one table if its key exists, else into none."""
    assert 1 <= m["get_data_blocks"] < 1.1
    assert m["get_missing_data_blocks"] < 0.15
