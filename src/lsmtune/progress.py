"""What a caller can see of any work of lsmtune: remarks, and slow work."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

SOON_S = 2.0
"""Work that ends sooner needs no sign of progress, in seconds."""


class Progress:
    """Sees remarks and slow work. This one ignores both; the command line prints them.

    All calls come from the thread that does the work.
    """

    def remark(self, text: str) -> None:
        """See a sentence about the work, such as that an earlier call has done a part."""

    @contextmanager
    def working(self, text: str, delay_s: float = SOON_S) -> Iterator[Callable[[str], None]]:
        """See work that may take longer than `delay_s`; the function replaces the text."""
        yield lambda text: None
