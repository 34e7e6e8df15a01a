"""Flushes and compactions of an open store, from its LOG."""

from pathlib import Path

from lsmtune.knobs.option_text import struct_fields
from lsmtune.metrics.log_events import EVENT_MARK, parse_event
from lsmtune.metrics.log_jobs import Job, JobLedger
from lsmtune.metrics.options_file import parse_options, unescaped

_CODECS = ("compression_opts", "bottommost_compression_opts")


class WrittenJobs:
    """Jobs in the lines that RocksDB appends to a LOG."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._position = 0
        self._rest = b""
        self._ledger = JobLedger()

    def ended(self, options: str) -> list[Job]:
        """Return the jobs that have ended since the last call, if tickers do not count all bytes.

        With parallel compression, tickers miss bytes. Without it, the result is empty: tickers are
        more exact, because they also count the bytes of a compaction that still runs.
        """
        jobs = self._new_jobs()
        return jobs if _is_parallel(options) else []

    def _new_jobs(self) -> list[Job]:
        with self._log.open("rb") as log:
            log.seek(self._position)
            chunk = log.read()
        self._position += len(chunk)
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        events = (parse_event(line.decode("utf-8", "replace"))
                  for line in lines if EVENT_MARK.encode() in line)  # fmt: skip
        ended = (self._ledger.take(event) for event in events if event is not None)
        return [job for job in ended if job is not None]


def _is_parallel(options: str) -> bool:
    """Return whether an OPTIONS text compresses with several threads."""
    texts = (options_of.get(key, "") for options_of in parse_options(options).sections.values()
             for key in _CODECS)  # fmt: skip
    fields = (struct_fields(unescaped(text)) or {} for text in texts)
    return any(int(of.get("parallel_threads", 1)) > 1 for of in fields)
