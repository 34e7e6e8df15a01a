"""Parts of a LOG that a text contains, so that nobody is asked for what is there."""

from dataclasses import dataclass

from lsmtune.knobs.defaults import version_number
from lsmtune.metrics.log_content import LogContent

_EVENTS_SINCE = (4, 0)


@dataclass(frozen=True, slots=True)
class Extent:
    """Parts of a LOG that a text contains.

    `has_first_line`: it begins with the head that RocksDB writes into each new LOG. `has_opening`:
    it contains the opening of the database. `logs_info`: it has messages of the level INFO.
    `has_events`: it has events, or shows that there was nothing to tell. `nothing_ran`: no flush
    and no compaction ran since the opening. `is_old`: it has jobs of a version that writes no
    events. `dumps` counts the statistics dumps, also those that
    are too old to be used.
    """

    has_first_line: bool = False
    has_opening: bool = False
    logs_info: bool = False
    has_events: bool = False
    nothing_ran: bool = False
    is_old: bool = False
    dumps: int = 0


def extent_of(content: LogContent) -> Extent:
    """Return the parts that the content of a text has; before old dumps are left out."""
    return Extent(
        has_first_line=content.has_first_line,
        has_opening=content.begins_with_opening,
        logs_info=content.logs_info,
        has_events=bool(content.event_lines) or content.nothing_ran,
        nothing_ran=content.nothing_ran,
        is_old=_is_old(content),
        dumps=len(content.dumps),
    )


def _is_old(content: LogContent) -> bool:
    """Return whether RocksDB was too old to write events: its lines name no place either."""
    has_jobs = bool(content.summaries.jobs) and not content.event_lines
    old = content.version is None or version_number(content.version) < _EVENTS_SINCE
    return has_jobs and old and not content.names_source
