"""What each host did for a study, in words: terminal and page show the same cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsmtune.analysis.hosts_used import HostUse
from lsmtune.host_levels import THIS_MACHINE
from lsmtune.report.text.words import TIMES, counted
from lsmtune.trials import Role
from lsmtune.units import format_duration

_MOST_NAME = 20
_END = 9
"""Number of characters at the end of a name that are always shown: the id of a host."""
_NOUNS = {
    Role.TRIAL: "trial",
    Role.BASE: "baseline run",
    Role.REPEAT: "repeat",
    Role.SIMPLIFY: "simplification run",
    Role.VERIFY_BEST: "pair",
    Role.RATE: "other run",
    Role.SHARED: "other run",
    Role.ONLINE: "other run",
}
"""A run of the baseline in a verification belongs to a pair, which is counted once."""


@dataclass(frozen=True, slots=True)
class HostColumn:
    """A column of a list of hosts; it is left out if no host has a text.

    `is_number` aligns it to the right. A terminal shows the text of one that `is_sentence` below
    the list. Where the list does not fit, a column with `drop` is left out.
    """

    head: str
    cell: Callable[[HostUse], str]
    is_number: bool = False
    is_sentence: bool = False
    drop: int = 0


def host_columns(hosts: Sequence[HostUse]) -> tuple[HostColumn, ...]:
    """Return the columns of the list of these hosts that have a text."""
    return tuple(column for column in _COLUMNS if any(map(column.cell, hosts)))


def host_name(use: HostUse) -> str:
    """Return the whole name of a host."""
    return use.name or THIS_MACHINE


def short_host(name: str) -> str:
    """Return a name of at most 20 characters: a longer one lacks its middle."""
    if len(name) <= _MOST_NAME:
        return name
    return f"{name[: _MOST_NAME - _END - 1]}\N{HORIZONTAL ELLIPSIS}{name[-_END:]}"


def runs_text(use: HostUse) -> str:
    """Return the number of runs of a host by their purpose: `5 trials, 2 baseline runs`."""
    counts: dict[str, int] = {}
    for role, noun in _NOUNS.items():
        counts[noun] = counts.get(noun, 0) + use.runs.get(role, 0)
    return ", ".join(counted(count, noun) for noun, count in counts.items() if count) or "none"


def host_rows(hosts: Sequence[HostUse], columns: Sequence[HostColumn]) -> list[list[str]]:
    """Return a row of cells for each host, with its short name first."""
    return [
        [short_host(host_name(use)), *(column.cell(use) for column in columns)] for use in hosts
    ]


def host_sentences(hosts: Sequence[HostUse]) -> list[str]:
    """Return the sentences about hosts that a terminal shows below their list."""
    columns = [column for column in _COLUMNS if column.is_sentence]
    return [
        f"{short_host(host_name(use))}, {column.head}: {column.cell(use)}"
        for use in hosts
        for column in columns
        if column.cell(use)
    ]


def hosts_title(hosts: Sequence[HostUse]) -> str:
    """Return the number of hosts, of those that are set aside, and of lost attempts."""
    lost = sum(use.lost for use in hosts)
    lost_s = sum(use.lost_s for use in hosts)
    aside = sum(use.set_aside is not None for use in hosts)
    time = f" ({format_duration(lost_s)})" if lost_s else ""
    return ", ".join(
        [
            counted(sum(use.name is not None for use in hosts), "host"),
            *([f"{aside} of them set aside"] if aside else []),
            *([f"{counted(lost, 'lost attempt')}{time}"] if lost else []),
        ]
    )


def _baseline(use: HostUse) -> str:
    """Return the objective of the host's baseline, compared with that of all hosts."""
    return "" if use.baseline is None else f"{use.baseline:.2f} {TIMES}"


def _time(use: HostUse) -> str:
    return format_duration(use.measured_s) if use.measured_s else ""


def _lost(use: HostUse) -> str:
    return f"{use.lost} ({format_duration(use.lost_s)})" if use.lost else ""


def _reason(use: HostUse) -> str:
    """Return the reason in one line; a failure of lsmtune's own code is a traceback."""
    return (use.last_reason or "").strip().rpartition("\n")[2]


_COLUMNS = (
    HostColumn("runs", runs_text),
    HostColumn("baseline", _baseline, is_number=True),
    HostColumn("time", _time, is_number=True, drop=1),
    HostColumn("under way", lambda use: use.under_way or ""),
    HostColumn("lost", _lost, is_number=True),
    HostColumn("set aside because", lambda use: use.set_aside or "", is_sentence=True),
    HostColumn("last lost because", _reason, is_sentence=True),
)
