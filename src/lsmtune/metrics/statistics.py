"""The statistics object's dump: tickers and histograms by their RocksDB names.

The format is that of `StatisticsImpl::ToString` in monitoring/statistics.cc, which db_bench
prints behind `STATISTICS:`, RocksDB writes to LOG every `stats_dump_period_sec`, and MyRocks
shows in `SHOW ENGINE ROCKSDB STATUS`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lsmtune.errors import ParseError

_TICKER = re.compile(r"(?P<name>\S+) COUNT : (?P<value>\d{1,20})")
_NUMBER = r"(\d+(?:\.\d+)?)"
_HISTOGRAM = re.compile(
    rf"(?P<name>\S+) P50 : {_NUMBER} P95 : {_NUMBER} P99 : {_NUMBER} P100 : {_NUMBER} "
    r"COUNT : (?P<count>\d{1,20}) SUM : (?P<sum>\d{1,20})"
)
_OLD_HISTOGRAM = re.compile(
    rf"(?P<name>\S+) statistics Percentiles :=> "
    rf"50 : {_NUMBER} 95 : {_NUMBER} 99 : {_NUMBER}(?: 100 : {_NUMBER})?"
)
_START = "STATISTICS"
_START_LINE = re.compile(r"(?:.*\s)?STATISTICS(?::|\s+rocksdb\s+(?P<first>\S.*))")
_ENTRY_HINTS = (" COUNT : ", " statistics Percentiles :=> ")
_ENTRY_PREFIX = "rocksdb."
_LONGEST_QUOTED = 120


@dataclass(frozen=True, slots=True)
class HistogramSummary:
    """One histogram; its unit is that of its name (`.micros`, `.bytes` …), p100 is the maximum.

    `p100`, `count` and `sum` are None in the dumps of old versions, which did not print them.
    """

    p50: float
    p95: float
    p99: float
    p100: float | None
    count: int | None
    sum: int | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """One dump: cumulative counts since the DB was opened; what it does not name is not a key."""

    tickers: Mapping[str, int]
    histograms: Mapping[str, HistogramSummary]
    incomplete: tuple[str, ...]
    unreadable: tuple[str, ...] = ()
    """Entries that are neither a ticker nor a histogram."""

    def since(self, before: "Statistics") -> "Statistics":
        """Return what was counted since another dump, without histograms."""
        then = before.tickers
        tickers = {name: count - then.get(name, 0) for name, count in self.tickers.items()}
        return Statistics(tickers, {}, self.incomplete)


def parse_statistics(text: str, *, leave_out: bool = False) -> Statistics:
    """Read the last dump of the text; a text without one gives empty mappings.

    A last line that lacks its line end may be cut within a number and is left out; so is told,
    in `incomplete`, when the last dump lacks entries that the one before it has. An entry that
    is neither a ticker nor a histogram is a ParseError; with `leave_out` it is left out, and
    `incomplete` says so.
    """
    *lines, rest = text.split("\n")
    unreadable: list[str] | None = [] if leave_out else None
    dumps = list(_dumps(_unfolded(lines) if leave_out else lines, unreadable))
    tickers, histograms = dumps[-1]
    missing = len(dumps[-2][0] | dumps[-2][1]) - len(tickers | histograms) if dumps[1:] else 0
    incomplete = []
    if unreadable:
        incomplete.append(
            f"statistics: lsmtune cannot parse {len(unreadable)} of the entries and leaves them "
            f"out; the first one is {unreadable[0]!r}"
        )
    if missing > 0:
        incomplete.append(
            f"statistics: the last dump has {missing} entries fewer than the previous dump and may "
            "be truncated"
        )
    if rest.strip().startswith(_ENTRY_PREFIX):
        incomplete.append("statistics: the last line is truncated")
    return Statistics(tickers, histograms, tuple(incomplete), tuple(unreadable or ()))


_Dump = tuple[dict[str, int], dict[str, HistogramSummary]]


def _dumps(lines: list[str], unreadable: list[str] | None) -> Iterator[_Dump]:
    dump: _Dump = ({}, {})
    for number, line in enumerate(lines, start=1):
        start = _START_LINE.fullmatch(line.rstrip()) if _START in line else None
        if start and any(dump):
            yield dump
        if start:
            dump = ({}, {})
        _read_entry(dump, (start["first"] or "") if start else line, number, unreadable)
    yield dump


def _unfolded(lines: list[str]) -> list[str]:
    """Return the lines with the entries that a mail folds over two of them."""
    whole: list[str] = []
    for line in lines:
        last = whole[-1].strip() if whole else ""
        joined = f"{last} {line.strip()}"
        if last.startswith(_ENTRY_PREFIX) and not _is_entry(last) and _is_entry(joined):
            whole[-1] = joined
        else:
            whole.append(line)
    return whole


def _is_entry(text: str) -> bool:
    return any(form.fullmatch(text) for form in (_TICKER, _HISTOGRAM, _OLD_HISTOGRAM))


def _read_entry(dump: _Dump, line: str, number: int, unreadable: list[str] | None) -> None:
    entry = line.strip()
    if not entry.startswith(_ENTRY_PREFIX) or not any(hint in entry for hint in _ENTRY_HINTS):
        return
    tickers, histograms = dump
    if ticker := _TICKER.fullmatch(entry):
        tickers[ticker["name"]] = int(ticker["value"])
    elif histogram := _HISTOGRAM.fullmatch(entry) or _OLD_HISTOGRAM.fullmatch(entry):
        histograms[histogram["name"]] = _summary(histogram)
    elif unreadable is not None:
        unreadable.append(entry[:_LONGEST_QUOTED])
    else:
        raise ParseError(
            f"statistics: line {number} is neither a ticker (counter) nor a histogram: {entry!r}"
        )


def _summary(match: re.Match[str]) -> HistogramSummary:
    p50, p95, p99 = (float(value) for value in match.groups()[1:4])
    p100, totals = match.groups()[4], match.groupdict()
    return HistogramSummary(
        p50=p50,
        p95=p95,
        p99=p99,
        p100=None if p100 is None else float(p100),
        count=int(totals["count"]) if "count" in totals else None,
        sum=int(totals["sum"]) if "sum" in totals else None,
    )
