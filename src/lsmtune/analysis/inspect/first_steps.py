"""What to try first for a finding: the step for its code, and the option that the step changes."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from lsmtune.knobs.advice import Direction

_FILE = "first_steps.toml"
_MARKS = ",;:()"
_DIRECTIONS: Mapping[str, Direction] = {
    "raise": "higher",
    "double": "higher",
    "lower": "lower",
    "halve": "lower",
    "to true": "true",
    "to false": "false",
}


@cache
def steps() -> Mapping[str, tuple[str, ...]]:
    """Return the steps for each code of a finding."""
    text = files("lsmtune.analysis.inspect").joinpath(_FILE).read_text(encoding="utf-8")
    return {
        code: (told,) if isinstance(told, str) else tuple(told)
        for code, told in tomllib.loads(text).items()
    }


def first_step(code: str, look_at: Sequence[str]) -> tuple[str, str | None]:
    """Return the step for a finding, and which of its options the step changes.

    The step for the first of these options counts; the last step where no step names any of them,
    with None as its option. KeyError for a code without a step.
    """
    own = steps()[code]
    for option in look_at:
        for step in own:
            words = (word.strip(_MARKS) for word in step.split())
            named = [word for word in words if word in look_at]
            if option in named:
                return step, named[0]
    return own[-1], None


def options_of(code: str, look_at: Sequence[str]) -> Iterator[str]:
    """Yield the options of a finding, and all other words of its step that may be options."""
    yield from look_at
    yield from (word.strip(_MARKS) for word in first_step(code, look_at)[0].split() if "_" in word)


def direction(step: str) -> Direction:
    """Return how a step changes its option, by the first words that say so.

    A step that only sets a number sets a limit where there may be none: this counts as lower.
    """
    words = " ".join(word.strip(_MARKS) for word in step.split())
    places = {f" {words} ".find(f" {said} "): way for said, way in _DIRECTIONS.items()}
    return min(((at, way) for at, way in places.items() if at >= 0), default=(0, "lower"))[1]
