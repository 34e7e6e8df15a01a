"""The rate at which the trials of a running store work."""

from collections.abc import Iterable
from dataclasses import dataclass

from lsmtune.objective import Metrics
from lsmtune.store.records import StoredTrial
from lsmtune.workloads import Records, Workload


@dataclass(frozen=True, slots=True)
class Pace:
    """The rate of a running store.

    `ops_s` are the operations per second of the whole workload, and `written_bytes_s` the bytes of
    its writes. `share` is the rate / the capacity of the baseline; None if that is unknown.
    `window_s` is the time in which a trial measures. `given`: the user gave the rate.
    """

    ops_s: float
    written_bytes_s: float
    share: float | None
    window_s: float
    given: bool


def pace_of(
    runs: Iterable[StoredTrial], base: Metrics, load: Workload, *, given: bool
) -> Pace | None:
    """Return the rate of these runs, the newest if they differ; None for filled stores."""
    found = [run.spec.running for run in runs if run.spec.running is not None]
    steps = next((steps for steps in reversed(found) if steps.rate is not None), None)
    if steps is None or steps.rate is None:
        return None
    capacity = base.get("capacity_ops_s")
    return Pace(
        ops_s=steps.rate,
        written_bytes_s=load.definition_of(Records).written_bytes_s(steps.rate),
        share=steps.rate / capacity if capacity else None,
        window_s=steps.window_s,
        given=given,
    )
