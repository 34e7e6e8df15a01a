"""Metrics of runs on hosts of different speed, brought to one speed."""

from collections.abc import Mapping, Sequence

from lsmtune.objective import Metrics
from lsmtune.stats import geometric_mean

HOST = "host"
"""Name of the factor that says on which host a run was."""
THIS_MACHINE = "this machine"
"""Name of the host of runs that a command measured itself."""


def host_levels(base: Mapping[str, Sequence[Metrics]]) -> dict[str, dict[str, float]]:
    """Return the level of each metric on each host, from the runs of the baseline by host.

    A level is the geometric mean of the host, divided by that over all hosts, each host with the
    same weight. A metric has levels only if all runs of the baseline have a positive value of it.
    """
    hosts = {host: runs for host, runs in base.items() if runs}
    found: dict[str, dict[str, float]] = {host: {} for host in hosts}
    names = {name for runs in hosts.values() for run in runs for name in run}
    for name in names:
        if any(run.get(name, 0) <= 0 for runs in hosts.values() for run in runs):
            continue
        means = {h: geometric_mean([run[name] for run in runs]) for h, runs in hosts.items()}
        middle = geometric_mean(list(means.values()))
        for host, mean in means.items():
            found[host][name] = mean / middle
    return found


def levelled(
    metrics: Metrics, host: str, levels: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    """Return the metrics of a run on a host as a host of middle speed would measure them.

    A metric without a level stays as it is.
    """
    own = levels.get(host, {})
    return {name: value / own.get(name, 1.0) for name, value in metrics.items()}
