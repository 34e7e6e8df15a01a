"""One test that checks many small things: a test for each takes longer to report than to run."""

from collections.abc import Callable, Iterable
from typing import TypeVar

Thing = TypeVar("Thing")


def each(
    things: Iterable[Thing], name: Callable[[Thing], str] = str
) -> Callable[[Callable[[Thing], None]], Callable[[], None]]:
    """Make a test of a check that is called with each thing; a failure names the thing."""
    checked = list(things)
    assert checked

    def made(check: Callable[[Thing], None]) -> Callable[[], None]:
        def test() -> None:
            for thing in checked:
                try:
                    check(thing)
                except BaseException as failure:
                    failure.add_note(f"checked: {name(thing)}")
                    raise

        test.__doc__ = check.__doc__
        return test

    return made
