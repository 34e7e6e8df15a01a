"""What to try first for a finding: one of the steps for its code, and the option that it changes.

The steps are in the files of the rules.
"""

from collections.abc import Iterator, Mapping, Sequence

from lsmtune.knobs.advice import Direction

_MARKS = ",;:()"
_DIRECTIONS: Mapping[str, Direction] = {
    "raise": "higher",
    "double": "higher",
    "lower": "lower",
    "halve": "lower",
    "to true": "true",
    "to false": "false",
}


def first_step(steps: Sequence[str], look_at: Sequence[str]) -> tuple[str, str | None]:
    """Return the step for a finding, and which of its options the step changes.

    The step for the first of these options counts; the last step where no step names any of them,
    with None as its option. IndexError without steps.
    """
    for option in look_at:
        for step in steps:
            words = (word.strip(_MARKS) for word in step.split())
            named = [word for word in words if word in look_at]
            if option in named:
                return step, named[0]
    return steps[-1], None


def options_of(steps: Sequence[str], look_at: Sequence[str]) -> Iterator[str]:
    """Yield the options of a finding, and all other words of its step that may be options."""
    yield from look_at
    step, _ = first_step(steps, look_at)
    yield from (word.strip(_MARKS) for word in step.split() if "_" in word)


def direction(step: str) -> Direction:
    """Return how a step changes its option, by the first words that say so.

    A step that only sets a number sets a limit where there may be none: this counts as lower.
    """
    words = " ".join(word.strip(_MARKS) for word in step.split())
    places = {f" {words} ".find(f" {said} "): way for said, way in _DIRECTIONS.items()}
    return min(((at, way) for at, way in places.items() if at >= 0), default=(0, "lower"))[1]
