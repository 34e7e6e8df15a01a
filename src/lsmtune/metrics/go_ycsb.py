"""Parser of go-ycsb's output: one row per operation, as text or as JSON (`outputstyle`).

    Run finished, takes 5.271675527s
    READ   - Takes(s): 5.3, Count: 49899, OPS: 9466.9, Avg(us): 187, …, 99th(us): 3099, …

Only the rows after the first line are results. While it runs, go-ycsb prints cumulative rows of
the same form. As JSON the rows are one array of objects whose values are texts. Operations that
failed have rows of their own (`READ_ERROR`). The forms are those of go-ycsb's
pkg/measurement/histogram.go and pkg/util/output.go.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any

from lsmtune.errors import ParseError

_FINISHED = re.compile(r"^Run finished, takes (\S+)$", re.MULTILINE)
_ROW = re.compile(r"(?P<operation>[A-Z_]+)\s*- (?P<values>\w+(?:\(\w+\))?: .*)")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|µs|us|ns|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "us": 1e-6, "ns": 1e-9}
_ERROR = "_ERROR"
_MODIFIED = "READ_MODIFY_WRITE"
_COUNTED = ("READ", "UPDATE", "INSERT", "SCAN")
"""The rows whose operations reach the store; a read-modify-write is a read and an update."""
_NAMES = {"READ": "get", "SCAN": "scan", "INSERT": "write", "UPDATE": "write"}
"""What the operations are called in lsmtune; the last one that was run counts."""
_LATENCIES = {
    "Avg(us)": "mean", "50th(us)": "p50", "99th(us)": "p99", "99.9th(us)": "p999",
    "99.99th(us)": "p9999",
}  # fmt: skip

Row = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class YcsbRun:
    """A finished run: its duration, and one row of numbers per operation under go-ycsb's names."""

    took_s: float
    rows: Mapping[str, Row]

    @property
    def errors(self) -> dict[str, int]:
        """Number of failed operations by kind."""
        return {
            name.removesuffix(_ERROR): int(row["Count"])
            for name, row in self.rows.items()
            if name.endswith(_ERROR) and row["Count"]
        }

    @property
    def failed(self) -> int:
        """Number of failed operations."""
        return sum(self.errors.values())

    @property
    def failed_percent(self) -> float:
        """Share of the operations that failed, in percent."""
        return 100 * self.failed / max(1, self.failed + self.operations)

    @property
    def operations(self) -> int:
        """Number of successful operations; a read-modify-write is one."""
        done = sum(int(self.rows[name]["Count"]) for name in _COUNTED if name in self.rows)
        return done - int(self.rows.get(_MODIFIED, {}).get("Count", 0))

    def latencies(self) -> dict[str, float]:
        """Return mean and percentiles as metrics of lsmtune, per kind of operation."""
        return {
            f"{name}_{short}_us": self.rows[operation][told]
            for operation, name in _NAMES.items()
            for told, short in _LATENCIES.items()
            if told in self.rows.get(operation, {})
        }

    def metrics(self) -> dict[str, float]:
        """Return the run as metrics of lsmtune."""
        return {
            "load_s": self.took_s,
            "throughput_ops_s": self.operations / self.took_s,
            **self.latencies(),
        }


def parse_go_ycsb(text: str) -> YcsbRun:
    """Parse the output of `go-ycsb load` or `run`; ParseError if its end or rows are missing."""
    finished = _FINISHED.search(text)
    if finished is None:
        raise ParseError("go-ycsb output: the line 'Run finished' is missing")
    rows = dict(_rows(text[finished.end() :]))
    if not rows:
        raise ParseError("go-ycsb output: no row of results follows the line 'Run finished'")
    return YcsbRun(_seconds(finished[1]), rows)


def _seconds(text: str) -> float:
    """The seconds of a duration as Go writes it, such as 1m5.27s."""
    parts = _DURATION.findall(text)
    if "".join(number + unit for number, unit in parts) != text:
        raise ParseError(f"go-ycsb output: invalid duration {text!r} in the line 'Run finished'")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if not 0 < seconds < inf:
        raise ParseError(
            f"go-ycsb output: the duration {text!r} in the line 'Run finished' is not a number "
            "above 0"
        )
    return seconds


def _rows(text: str) -> Iterator[tuple[str, Row]]:
    for line in text.splitlines():
        if line.startswith("[{"):
            yield from (_json_row(line, told) for told in _array(line))
        elif row := _ROW.fullmatch(line.strip()):
            told = dict(part.split(": ", 1) for part in row["values"].split(", ") if ": " in part)
            yield row["operation"], _numbers(line, told)


def _array(line: str) -> list[Any]:
    try:
        return list(json.loads(line))
    except (ValueError, RecursionError) as error:
        raise ParseError(f"go-ycsb output: invalid JSON: {line[:80]!r}") from error


def _json_row(line: str, told: Any) -> tuple[str, Row]:
    if not isinstance(told, dict) or not isinstance(told.get("Operation"), str):
        raise ParseError(f"go-ycsb output: a row of results has no key Operation: {line[:80]!r}")
    values = {name: value for name, value in told.items() if name != "Operation"}
    return told["Operation"], _numbers(line, values)


def _numbers(line: str, told: Mapping[str, Any]) -> Row:
    try:
        numbers = {name: float(value) for name, value in told.items()}
    except (TypeError, ValueError, OverflowError) as error:
        raise ParseError(
            f"go-ycsb output: a row of results has an invalid number: {line[:80]!r}"
        ) from error
    if not all(map(isfinite, numbers.values())):
        raise ParseError(
            f"go-ycsb output: a row of results has a number that is not finite: {line[:80]!r}"
        )
    if "Count" not in numbers:
        raise ParseError(f"go-ycsb output: a row of results has no value Count: {line[:80]!r}")
    return numbers
