"""When a running trial is cut: once it can no longer win, whatever happens next."""

from collections.abc import Mapping, Sequence

from lsmtune.engines.base import Hopeless
from lsmtune.objective import Metrics, Objective, run_noise


def hopeless(
    objective: Objective,
    base: Metrics,
    noise: Sequence[float],
    to_beat: Sequence[tuple[float, ...]],
) -> Hopeless:
    """Judges the bounds of a trial against the best so far.

    A trial is cut when a config within the limits, its values made worse by what the noise of
    repeated runs may have flattered it with, is still better in every goal than the best that
    the trial can reach. The base is always such a config; `to_beat` are the values of others.
    `noise` is that of `value_noise`. Bounds that lack a metric of the objective tell nothing.
    """
    rivals = [(1.0,) * len(objective.goals), *to_beat]

    def judge(bounds: Mapping[str, float]) -> str | None:
        if any(name not in bounds for name in objective.metrics):
            return None
        reach = objective.values(bounds, base)
        for values in rivals:
            if all(v * s < r for v, s, r in zip(values, noise, reach, strict=True)):
                best, least = (" and ".join(map(_ratio, each)) for each in (values, reach))
                return (
                    f"the objective of the trial could reach {least} the baseline at best, but "
                    f"another config has {best} the baseline (lower is better)"
                )
        return None

    return judge


def _ratio(value: float) -> str:
    return f"{value:.3f} ×"  # noqa: RUF001 - the usual sign


def value_noise(
    objective: Objective, base: Metrics, repeated: Sequence[Sequence[Metrics]]
) -> tuple[float, ...]:
    """The factor a goal by which the value of one run may be off by chance; see `run_noise`."""
    names = [goal.name for goal in objective.goals]
    groups = [
        [dict(zip(names, objective.values(run, base), strict=True)) for run in runs]
        for runs in repeated
    ]
    noise = run_noise(groups, of_runs=1)
    return tuple(noise.get(name, 1.0) for name in names)
