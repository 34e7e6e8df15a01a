"""Lines of RocksDB inside the log of another program, a mail or a terminal, turned back.

A frame is what other programs put around RocksDB's lines: layers such as JSON (`containers.py`),
and prefixes in the place of RocksDB's own time (`prefixes.py`). It is learned from the first lines
with words that only RocksDB writes (`anchors.py`), layer by layer from the outside.
"""

from collections.abc import Iterable, Iterator
from itertools import chain

from lsmtune.metrics.anchors import Sample, anchor
from lsmtune.metrics.containers import LAYERS, unescaped
from lsmtune.metrics.frame_order import is_newest_first, turned
from lsmtune.metrics.prefixes import without_prefixes

_SAMPLE_LINES, _SAMPLE_LENGTH = 1000, 4_000_000
_MOST_LAYERS = 8


def without_frames(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines as RocksDB itself would have written them; all other lines as they are.

    A message without a time of RocksDB gets the time of its frame, or of the message before.
    """
    lines = iter(lines)
    for _ in range(_MOST_LAYERS):
        head: list[str] = []
        yield from _until_anchor(lines, head)
        if not head:
            return
        first = [*head, *_some(lines)]
        sample, lines = Sample.of(first), chain(first, lines)
        layer = next((layer for learn in LAYERS if (layer := learn(sample))), None)
        if layer is None:
            if is_newest_first(first):
                lines = turned(lines)
            yield from lines if sample.is_plain else without_prefixes(unescaped(lines))
            return
        lines = layer(lines)
    yield from without_prefixes(lines)


def _until_anchor(lines: Iterator[str], head: list[str]) -> Iterator[str]:
    """Put the lines until the first words of RocksDB into `head`; yield what is far before them."""
    length = 0
    for line in lines:
        head.append(line)
        if anchor(line):
            return
        length += len(line)
        if len(head) > _SAMPLE_LINES or length > _SAMPLE_LENGTH:
            yield from head
            head.clear()
            length = 0
    yield from head
    head.clear()


def _some(lines: Iterator[str]) -> Iterator[str]:
    """Yield the next lines, as many as are needed to learn from."""
    length = 0
    for count, line in enumerate(lines, 1):
        yield line
        length += len(line)
        if count == _SAMPLE_LINES or length > _SAMPLE_LENGTH:
            return
