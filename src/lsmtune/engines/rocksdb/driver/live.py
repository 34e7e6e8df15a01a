"""A store of RocksDB whose options are changed while a load runs."""

import json
import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NoReturn

from lsmtune.engines.base import TrialFailedError, Window
from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.driver.client import Client, Event, event_in
from lsmtune.engines.rocksdb.driver.output import result_of
from lsmtune.engines.rocksdb.measure import latency_metrics
from lsmtune.engines.rocksdb.options import read_back
from lsmtune.engines.rocksdb.watching import END_S
from lsmtune.engines.tickers import counted_operations, read_metrics, ticker, write_metrics
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import DATABASE_SECTION
from lsmtune.knobs.option_text import derived_settings, statements, struct_fields
from lsmtune.knobs.types import Settings
from lsmtune.metrics.log_events import EVENT_MARK, parse_event
from lsmtune.metrics.log_jobs import Job, JobLedger
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.options_file import parse_options, unescaped
from lsmtune.metrics.statistics import Statistics, parse_statistics
from lsmtune.system.process import ChildProcess, NoLine
from lsmtune.trials import Protocol, Status

_TRAITS = {
    "writes per operation": "rocksdb.number.keys.written",
    "gets per operation": "rocksdb.number.keys.read",
    "seeks per operation": "rocksdb.number.db.seek",
}
"""Counters that give the shares of operations in a load."""
_SIZES = {
    "bytes per write": ("rocksdb.bytes.written", "rocksdb.number.keys.written"),
    "bytes per get": ("rocksdb.bytes.read", "rocksdb.number.keys.read"),
}
"""Counters of bytes and of operations that give the sizes in a load."""
_CODECS = ("compression_opts", "bottommost_compression_opts")


@contextmanager
def serve(
    client: Client, catalogue: Catalogue, part: Part, limits: Protocol
) -> Iterator["LiveStore"]:
    """Run the load of the client's plan until the context is closed.

    TrialFailedError if RocksDB does not open the database with the settings of the part.
    """
    with client.start(has_commands=True) as process:
        yield LiveStore(_Talk(client, process, limits.silence_limit_s), catalogue, part)


class _Talk:
    """Commands to a running driver, and its events."""

    def __init__(self, client: Client, process: ChildProcess, patience_s: float) -> None:
        self._client = client
        self._process = process
        self._patience_s = patience_s
        self._numbers = count(1)
        self._seconds: deque[Event] = deque()

    def ask(self, command: str, **fields: object) -> Event:
        """Return the answer to a command; TrialFailedError if RocksDB refuses it."""
        number = next(self._numbers)
        self._process.write_line(json.dumps({"id": number, "do": command, **fields}))
        while (event := self._hear()).get("id") != number:
            pass
        if event["event"] == "refused":
            raise TrialFailedError(Status.REFUSED, f"RocksDB: {event['message']}")
        return event

    def opened(self) -> Event:
        """Return the event of the open store."""
        while (event := self._hear())["event"] != "opened":
            pass
        return event

    def second(self) -> Event:
        """Return the next second of the load."""
        while not self._seconds:
            self._hear()
        return self._seconds.popleft()

    def forget(self) -> None:
        """Drop the seconds that have ended and were not used."""
        self._seconds.clear()

    def _hear(self) -> Event:
        event: Event | None = None
        while event is None:
            line = self._process.read_line(self._patience_s)
            if line is NoLine.SILENCE:
                reason = f"the driver printed nothing for {self._patience_s:.0f} s"
                raise TrialFailedError(Status.TIMED_OUT, reason)
            if line is NoLine.END:
                self._raise_ended(None)
            event = event_in(line)
        if event["event"] == "failed":
            self._raise_ended(event)
        if event["event"] == "second":
            self._seconds.append(event)
        return event

    def _raise_ended(self, failed: Event | None) -> NoReturn:
        status = self._process.wait(END_S)
        self._client.check(status, [failed] if failed else [])
        raise TrialFailedError(Status.CRASHED, "the driver ended before the load was stopped")


class LiveStore:
    """A store under a load. `change` sets options, `window` measures the load."""

    def __init__(self, talk: _Talk, catalogue: Catalogue, part: Part) -> None:
        self._talk = talk
        self._catalogue = catalogue
        self._part = part
        self._options = talk.opened()["options"]
        log = part.database / "LOG"
        self._log_options = read_log(read_lines(log, [])).options
        self._jobs = WrittenJobs(log)
        self._last: Statistics | None = None
        self._read_back(part.settings)

    def change(self, settings: Settings) -> None:
        """Set the options that differ from the current ones, and read all options back."""
        self._last = None
        for command, options in self._commands(settings):
            # This command stays in effect even if the next one is refused.
            self._options = self._talk.ask(command, options=options)["options"]
        self._read_back(settings)

    def window(self, seconds: float) -> Window:
        """Measure the load for `seconds`, rounded up to whole seconds.

        A window begins at the end of the last window. After a change, it begins with the next
        second.
        """
        before = self._last
        if before is None:
            self._talk.forget()
            self._talk.second()
            before = self._statistics()
            self._jobs.ended(self._options)
        done = [self._talk.second() for _ in range(math.ceil(seconds))]
        self._last = self._statistics()
        return self._window(self._last.since(before), done)

    def _statistics(self) -> Statistics:
        counted = parse_statistics(self._talk.ask("report")["statistics"] + "\n")
        self._talk.forget()  # seconds before the report do not belong to the next window
        return counted

    def _read_back(self, settings: Settings) -> None:
        read_back(self._catalogue, settings, self._options, self._log_options)

    def _commands(self, settings: Settings) -> Iterator[tuple[str, dict[str, str]]]:
        """Return the commands that change the options that differ, each with its options."""
        knobs = (knob for knob in self._catalogue.knobs if knob.apply == "online" and knob.option)
        texts = statements(knobs, settings, parse_options(self._options).sections)
        derived = derived_settings(settings)
        # RocksDB replaces 0 by a derived value only when it opens a store.
        texts = {place: str(derived.get(place[1], text)) if text == "0" else text
                 for place, text in texts.items()}  # fmt: skip
        for command, of_database in (("change", False), ("change_database", True)):
            chosen = {key: text for (section, key), text in texts.items()
                      if (section == DATABASE_SECTION) == of_database}  # fmt: skip
            if chosen:
                yield command, chosen

    def _window(self, counted: Statistics, seconds: Sequence[Event]) -> Window:
        load = self._part.workload
        took_s = sum(second["to_s"] - second["from_s"] for second in seconds)
        event = {"seconds": took_s, "operations": _together(seconds)}
        result = result_of(event, self._part)
        if not result.operations:
            reason = f"the load did no operation within {took_s:.0f} s"
            raise TrialFailedError(Status.TIMED_OUT, reason)
        jobs = self._jobs.ended(self._options)
        stall_s = ticker(counted, "rocksdb.stall.micros") / 1e6
        metrics = {
            "throughput_ops_s": result.operations / took_s,
            "stall_percent": 100 * stall_s / took_s,
            **dict(latency_metrics(result.latencies)),
            **(write_metrics(counted, jobs) if ticker(counted, "rocksdb.bytes.written") else {}),
            **read_metrics(counted),
        }
        # Next to a writer with a fixed rate, the share of writes depends on the speed of reads.
        shares = {} if load.write_rate_bytes_s is not None else _shares(counted)
        return Window(metrics, {**shares, **_sizes(counted)})


def _together(seconds: Sequence[Event]) -> dict[str, dict[str, float]]:
    """Return the operations of all seconds by kind.

    The mean of a kind is exact. A percentile is the weighted mean of the percentiles of the
    seconds. The weight of a second is its number of operations.
    """
    sums: dict[str, dict[str, float]] = {}
    for second in seconds:
        for kind, values in second["operations"].items():
            of_kind = sums.setdefault(kind, {"count": 0, "records": 0})
            for name, value in values.items():
                weight = values["count"] if name.endswith("_us") else 1
                of_kind[name] = of_kind.get(name, 0) + weight * value
    return {kind: _averaged(of_kind) for kind, of_kind in sums.items()}


def _averaged(sums: Mapping[str, float]) -> dict[str, float]:
    return {name: value / sums["count"] if name.endswith("_us") else value
            for name, value in sums.items()}  # fmt: skip


def _shares(counted: Statistics) -> dict[str, float]:
    operations = counted_operations(counted)
    return {name: ticker(counted, t) / operations for name, t in _TRAITS.items()}


def _sizes(counted: Statistics) -> dict[str, float]:
    pairs = {name: [ticker(counted, t) for t in tickers] for name, tickers in _SIZES.items()}
    return {name: size / number for name, (size, number) in pairs.items() if number}


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
        return jobs if compresses_in_parallel(options) else []

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


def compresses_in_parallel(options: str) -> bool:
    """Return whether an OPTIONS text compresses with several threads."""
    texts = (options_of.get(key, "") for options_of in parse_options(options).sections.values()
             for key in _CODECS)  # fmt: skip
    fields = (struct_fields(unescaped(text)) or {} for text in texts)
    return any(int(of.get("parallel_threads", 1)) > 1 for of in fields)
