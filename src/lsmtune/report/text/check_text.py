"""The checks of `lsmtune doctor` in words, and the runs of hosts as rows of a table."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from lsmtune.study.host_pairs import KNOB, HostPair
from lsmtune.units import format_bytes

PAIR_HEADS = {
    "of median": 0, "base s": 0, "config s": 0, "ratio": 0, "base WA": 2, "config WA": 1,
    "ratio WA": 0,
}  # fmt: skip
"""Heads of the numbers in `pair_rows`. A narrow table leaves out the largest numbers first."""


class Checked(Protocol):
    """The result of a check."""

    @property
    def name(self) -> str:
        """What was checked."""

    @property
    def state(self) -> str:
        """One of ok, warn, absent and FAIL."""

    @property
    def ok(self) -> bool:
        """Whether the check passed, maybe with a note."""

    @property
    def detail(self) -> str:
        """What was found."""

    @property
    def fix(self) -> str | None:
        """What to do, if anything."""


def check_rows(checks: Sequence[Checked]) -> list[tuple[str, str, str]]:
    """Return rows of name, state and result; a second row has the fix, or a note."""
    rows = []
    for check in checks:
        rows.append((check.name, check.state, check.detail))
        if check.fix is not None:
            rows.append(("", "note" if check.ok else "fix", check.fix))
    return rows


def verdict_text(checks: Sequence[Checked], where: str) -> str:
    """Return in one or two sentences whether RocksDB can be tuned there, and what is missing."""
    failed, absent, warned = (
        list(dict.fromkeys(check.name for check in checks if check.state == state))
        for state in ("FAIL", "absent", "warn")
    )
    text = (
        f'Not ready: {", ".join(failed)}. Do what the table says at "fix".'
        if failed
        else f"RocksDB can be tuned {where}."
    )
    if warned:
        text += f" Look at the notes: {', '.join(warned)}."
    return text + (f" Not installed (optional): {', '.join(absent)}." if absent else "")


def pair_rows(pairs: Sequence[HostPair], of_median: Mapping[str, float]) -> list[tuple[str, ...]]:
    """Return a row per host that ran.

    Its cells: the host, its time / the median, then time and write amplification, each of the
    baseline, of the config, and as the ratio config / baseline.
    """
    return [
        (
            pair.host, _number(of_median.get(pair.host)),
            *(_number(run.time_s) for run in pair.runs), _number(pair.time_ratio),
            *(_number(run.write_amp) for run in pair.runs), _number(pair.write_amp_ratio),
        )
        for pair in pairs
        if pair.is_complete
    ]  # fmt: skip


def pair_note(values: tuple[int, int]) -> str:
    """Return what the columns of the table of hosts are."""
    base, config = map(format_bytes, values)
    return (
        f"base: the baseline ({KNOB} = {base}); config: {KNOB} = {config}; s: load + settle time; "
        "WA: write amplification; ratio: config / base; of median: base s / the median of all "
        "hosts."
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
