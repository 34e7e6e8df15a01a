"""The result of `lsmtune verify --rocksdb` as text."""

from collections.abc import Iterator

from lsmtune.analysis.upgrade import upgrade_answers
from lsmtune.api.versions import Upgraded
from lsmtune.cli import sweep_lines
from lsmtune.cli.tables import paragraph


def compared_lines(found: Upgraded) -> Iterator[str]:
    """Give the answers, then the experiment as text."""
    for metric in found.upgrade.metrics:
        for sentence in upgrade_answers(found.upgrade, metric):
            yield from paragraph(sentence, hanging=2)
    yield ""
    yield from sweep_lines.lines(found.swept, found.view)
