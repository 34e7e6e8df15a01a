"""How far each host is from the others, by the runs of the baseline that each one measured."""

from collections.abc import Mapping, Sequence
from math import exp, log
from statistics import fmean, variance

from lsmtune.objective import Metrics, log_deviation

HOST = "host"
"""Name of the factor that says on which host a run was."""
THIS_MACHINE = "this machine"
"""Name of the host of runs that a command measured itself."""
_FEWEST = 2
"""Each host needs at least two runs of the baseline: one run does not show the noise."""


class HostLevels:
    """The level of each host per metric: what it measures of the baseline / what all hosts do.

    A run on a host is compared with the baseline of that host. For this, its metrics are divided by
    the level of its host, and are then those of a run on the middle of the hosts. Two equal hosts
    also differ by chance. So the logarithm of a level is multiplied by the share of the variance
    between hosts that the noise of repeated runs does not explain. It is 0 for hosts that are
    equal: then their runs are pooled (random effects, best linear unbiased prediction).
    """

    def __init__(self, base: Mapping[str | None, Sequence[Metrics]]) -> None:
        """Take the runs of the baseline by host; a host with only one has no level.

        The host None is this machine.
        """
        named = {host or THIS_MACHINE: runs for host, runs in base.items()}
        repeated = {host: runs for host, runs in named.items() if len(runs) >= _FEWEST}
        self._of: dict[str, dict[str, float]] = {host: {} for host in repeated}
        if len(repeated) < _FEWEST:
            return
        groups = list(repeated.values())
        for name in sorted(set.intersection(*(set(run) for runs in groups for run in runs))):
            if all(run[name] > 0 for runs in groups for run in runs):
                for host, level in _levels(name, repeated).items():
                    self._of[host][name] = level

    def of(self, host: str | None) -> Metrics:
        """Return the level of a host by metric; a metric that is not there has level 1."""
        return self._of.get(host or THIS_MACHINE, {})

    def levelled(self, host: str | None, metrics: Metrics) -> Metrics:
        """Return the metrics of a run on a host as those of a run on the middle of the hosts."""
        level = self.of(host)
        if not level:
            return metrics
        return {name: value / level.get(name, 1.0) for name, value in metrics.items()}

    def on_host(self, host: str | None, metrics: Metrics) -> Metrics:
        """Return metrics of the middle of the hosts as that host would measure them."""
        level = self.of(host)
        return {name: value * level.get(name, 1.0) for name, value in metrics.items()}


def _levels(name: str, base: Mapping[str, Sequence[Metrics]]) -> dict[str, float]:
    """Return the level of each host in a metric; no level where chance explains the difference."""
    means = {host: fmean(log(run[name]) for run in runs) for host, runs in base.items()}
    noise = (log_deviation(name, list(base.values())) or 0.0) ** 2
    chance = noise * fmean(1 / len(runs) for runs in base.values())
    found = variance(means.values())
    if found <= chance:
        return {}
    middle = fmean(means.values())
    between = found - chance
    return {
        host: exp((mean - middle) * between / (between + noise / len(base[host])))
        for host, mean in means.items()
    }
