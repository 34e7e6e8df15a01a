"""A driver of studies that is cut off again and again, and must go on as if it had not been."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.testing.scripted import Script, measured
from lsmtune.trials import Role, TrialResult, TrialSpec


def check_goes_on(
    folder: Path, run: Callable[[Home, Script], list[StoredTrial]], cuts: Sequence[int]
) -> None:
    """Cut it after so many runs, once each; in the end it has run what a whole one runs."""

    def told(trials: list[StoredTrial]) -> list[tuple[Role, str, int]]:
        return [(t.role, t.config.hash, t.spec.seed) for t in trials]

    def flat(_: TrialSpec) -> TrialResult:
        return measured()

    with Home(folder / "whole", create=True) as whole:
        expected = told(run(whole, flat))
    for calls in cuts:
        with Home(folder / f"cut{calls}", create=True) as cut:
            left = iter(range(calls))

            def dies(_: TrialSpec, left: Iterator[int] = left) -> TrialResult:
                if next(left, None) is None:
                    raise KeyboardInterrupt
                return measured()

            with pytest.raises(KeyboardInterrupt):
                run(cut, dies)
            assert told(run(cut, flat)) == expected
