"""What each host did for a study, in words: terminal and page show the same cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lsmtune.analysis.hosts_used import HostUse
from lsmtune.report.text.words import counted
from lsmtune.trials import Role
from lsmtune.units import format_duration

HERE = "this machine"
"""The name of the machine of the command in a list of hosts."""
_MOST_NAME = 22
_END = 9
"""Number of characters at the end of a name that are always shown: the id of a host."""
_NOUNS = {
    Role.BASE: "baseline run",
    Role.TRIAL: "trial",
    Role.REPEAT: "repeat",
    Role.SIMPLIFY: "run with fewer changes",
    Role.VERIFY_BEST: "pair",
    Role.SHARED: "other run",
    Role.ONLINE: "other run",
}
"""A run of the baseline in a verification belongs to a pair, which is counted once."""


@dataclass(frozen=True, slots=True)
class HostColumn:
    """A column of a list of hosts; `is_number` aligns it to the right.

    It is left out if no host has a text. Where the list does not fit, columns with the highest
    `drop` are left out first.
    """

    head: str
    cell: Callable[[HostUse], str]
    is_number: bool = False
    drop: int = 0


def host_columns(hosts: Sequence[HostUse]) -> tuple[HostColumn, ...]:
    """Return the columns of the list of these hosts that have a text."""
    return tuple(column for column in _COLUMNS if any(map(column.cell, hosts)))


def host_name(use: HostUse) -> str:
    """Return the whole name of a host."""
    return HERE if use.name is None else use.name


def short_host(name: str) -> str:
    """Return a name of at most 22 characters: a longer one lacks its middle."""
    if len(name) <= _MOST_NAME:
        return name
    return f"{name[: _MOST_NAME - _END - 1]}\N{HORIZONTAL ELLIPSIS}{name[-_END:]}"


def runs_text(use: HostUse) -> str:
    """Return the number of runs of a host by their purpose: `2 baseline runs, 5 trials`."""
    counts: dict[str, int] = {}
    for role, noun in _NOUNS.items():
        counts[noun] = counts.get(noun, 0) + use.runs.get(role, 0)
    return ", ".join(counted(count, noun) for noun, count in counts.items() if count) or "none"


def hosts_title(hosts: Sequence[HostUse]) -> str:
    """Return the number of hosts, and what was lost on them."""
    lost = sum(use.lost for use in hosts)
    lost_s = sum(use.lost_s for use in hosts)
    many = counted(sum(use.name is not None for use in hosts), "host")
    if not lost:
        return f"{many}, no lost attempt"
    return f"{many}, {counted(lost, 'lost attempt')}: {format_duration(lost_s)} lost"


def _time(use: HostUse) -> str:
    return format_duration(use.measured_s) if use.measured_s else ""


def _lost(use: HostUse) -> str:
    return f"{use.lost} ({format_duration(use.lost_s)})" if use.lost else ""


def _reason(use: HostUse) -> str:
    """Return the reason in one line; a failure of lsmtune's own code is a traceback."""
    return (use.last_reason or "").strip().rpartition("\n")[2]


_COLUMNS = (
    HostColumn("runs", runs_text),
    HostColumn("time", _time, is_number=True, drop=2),
    HostColumn("under way", lambda use: use.under_way or "", drop=1),
    HostColumn("lost", _lost, is_number=True),
    HostColumn("last reason", _reason, drop=3),
)
