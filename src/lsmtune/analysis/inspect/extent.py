"""Parts of a LOG that a text contains, so that nobody is asked for what is there."""

from dataclasses import dataclass

from lsmtune.metrics.log_content import LogContent


@dataclass(frozen=True, slots=True)
class Extent:
    """Parts of a LOG that a text contains.

    `has_first_line`: it begins with the head that RocksDB writes into each new LOG. `has_opening`:
    it contains the opening of the database. `logs_info`: it has messages of the level INFO.
    `has_events`: it has events, or shows that there was nothing to tell. `nothing_ran`: no flush
    and no compaction ran since the opening. `dumps` counts the statistics dumps, also those that
    are too old to be used.
    """

    has_first_line: bool = False
    has_opening: bool = False
    logs_info: bool = False
    has_events: bool = False
    nothing_ran: bool = False
    dumps: int = 0


def extent_of(content: LogContent) -> Extent:
    """Return the parts that the content of a text has; before old dumps are left out."""
    return Extent(
        has_first_line=content.has_first_line,
        has_opening=content.begins_with_opening,
        logs_info=content.logs_info,
        has_events=bool(content.event_lines) or content.nothing_ran,
        nothing_ran=content.nothing_ran,
        dumps=len(content.dumps),
    )
