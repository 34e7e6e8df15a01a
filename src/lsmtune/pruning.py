"""When a running trial is pruned: once it can no longer win, whatever happens next.

The rule is data, so that it can be sent to another host.
"""

from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict

from lsmtune.objective import Goal, Metrics, Objective, run_noise


class PruneRule(BaseModel):
    """Prunes a trial that can no longer win, whatever happens next.

    It is pruned when a config within the limits is better in every goal than the best that the
    trial can reach, even if chance has improved the values of that config. `goals` are the names
    of the objectives, `base` has the baseline's metrics that they need. `noise` has one factor per
    objective; see `value_noise`. `to_beat` are the values of configs within the limits; the
    baseline is always one of them.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)
    goals: tuple[str, ...]
    base: dict[str, float]
    noise: tuple[float, ...]
    to_beat: tuple[tuple[float, ...], ...] = ()

    @classmethod
    def of(
        cls,
        objective: Objective,
        base: Metrics,
        noise: Sequence[float],
        to_beat: Sequence[tuple[float, ...]],
    ) -> Self:
        """Return the rule for an objective; `base` may have more metrics than it needs."""
        return cls(
            goals=tuple(goal.name for goal in objective.goals),
            base={name: base[name] for name in objective.metrics},
            noise=tuple(noise),
            to_beat=tuple(to_beat),
        )

    def reason(self, bounds: Mapping[str, float]) -> str | None:
        """Return why the trial cannot win, or None.

        `bounds` has the best value that each metric can still reach. Without a bound for each
        metric of the objectives, nothing is known, so the trial goes on.
        """
        objective = Objective(tuple(Goal(name) for name in self.goals))
        if any(name not in bounds for name in objective.metrics):
            return None
        reach = objective.values(bounds, self.base)
        for values in ((1.0,) * len(self.goals), *self.to_beat):
            if all(v * s < r for v, s, r in zip(values, self.noise, reach, strict=True)):
                best, least = (" and ".join(map(_ratio, each)) for each in (values, reach))
                return (
                    f"the objective of the trial could reach {least} the baseline at best, but "
                    f"another config has {best} the baseline (lower is better)"
                )
        return None


def _ratio(value: float) -> str:
    return f"{value:.3f} ×"  # noqa: RUF001 - the usual sign


def value_noise(
    objective: Objective, base: Metrics, repeated: Sequence[Sequence[Metrics]]
) -> tuple[float, ...]:
    """Return by which factor per goal chance may change the value of one run; see `run_noise`."""
    names = [goal.name for goal in objective.goals]
    groups = [
        [dict(zip(names, objective.values(run, base), strict=True)) for run in runs]
        for runs in repeated
    ]
    noise = run_noise(groups, of_runs=1)
    return tuple(noise.get(name, 1.0) for name in names)
