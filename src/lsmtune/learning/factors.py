"""What was varied, as numbers: each factor one column or several."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lsmtune.units import format_bytes

Floats = NDArray[np.float64]
Cell = bool | int | float | str
"""A value of a factor, as it was set."""

MOST_GROUPS = 8
"""A factor of more different values is cut into quartiles where groups are compared."""
_QUARTILES = 4


@dataclass(frozen=True)
class Factor:
    """One thing that was varied, with its value in each run.

    `ordered` values are numbers, on a logarithmic scale where `log`; `special` ones among them
    mean something of their own and stand beside the scale. The others are names. The unit is
    "bytes" where values are to be shown as sizes.
    """

    name: str
    cells: tuple[Cell, ...]
    ordered: bool
    log: bool = False
    special: tuple[Cell, ...] = ()
    unit: str = ""

    @cached_property
    def columns(self) -> Floats:
        """Runs x columns, each from 0 to 1: the scale, then one for each special value or name.

        The last of two names needs no column.
        """
        found = sorted(set(self.cells), key=lambda cell: (str(type(cell)), cell))
        if not self.ordered:
            shown = found[1:] if len(found) == 2 else found  # noqa: PLR2004 - a yes or a no
            return np.array([[cell == name for name in shown] for cell in self.cells], dtype=float)
        apart = [cell for cell in found if cell in self.special]
        marks = np.array([[cell == value for value in apart] for cell in self.cells], dtype=float)
        if len(apart) == len(found):
            return marks[:, 1:]
        return np.column_stack([self.scale, marks.reshape(len(self.cells), len(apart))])

    @cached_property
    def scale(self) -> Floats:
        """Each run's place between the least and the greatest value.

        Special values stand at the end that they are nearer to: mostly they mean none, or no limit.
        """
        numbers = np.array([float(cell) for cell in self.cells])
        usual = np.array([cell not in self.special for cell in self.cells])
        if not usual.any():
            return np.full(len(self.cells), 0.5)
        numbers = np.clip(numbers, numbers[usual].min(), numbers[usual].max())
        numbers = np.log(numbers) if self.log else numbers
        spread = float(np.ptp(numbers))
        return (numbers - numbers.min()) / spread if spread else np.full(len(self.cells), 0.5)

    @cached_property
    def groups(self) -> tuple[tuple[str, NDArray[np.bool_]], ...]:
        """The runs by value, with what to call each: quartiles where there are many values."""
        found = list(dict.fromkeys(self.cells))
        if not self.ordered:
            return tuple((self._text(cell), self._are([cell])) for cell in sorted(found, key=str))
        numbers = sorted(cell for cell in found if cell not in self.special)
        special = [cell for cell in found if cell in self.special]
        apart = [(self._text(cell), self._are([cell])) for cell in sorted(special)]
        if len(numbers) <= MOST_GROUPS:
            return (*apart, *((self._text(cell), self._are([cell])) for cell in numbers))
        each = [cell for cell in sorted(self.cells) if cell not in self.special]
        cuts = [each[len(each) * q // _QUARTILES] for q in range(1, _QUARTILES)]
        parts = np.searchsorted(cuts, numbers, side="right")
        ranges = [[n for n, part in zip(numbers, parts, strict=True) if part == q]
                  for q in range(_QUARTILES)]  # fmt: skip
        return (
            *apart,
            *(
                (f"{self._text(part[0])} to {self._text(part[-1])}", self._are(part))
                for part in ranges
                if part
            ),
        )

    def _text(self, cell: Cell) -> str:
        if self.unit == "bytes" and cell not in self.special:
            return format_bytes(float(cell))
        return text(cell)

    def _are(self, cells: Sequence[Cell]) -> NDArray[np.bool_]:
        wanted = set(cells)
        return np.array([cell in wanted for cell in self.cells])


def text(cell: Cell) -> str:
    """A value for people: whole numbers whole, others short."""
    if isinstance(cell, bool | str):
        return str(cell).lower() if isinstance(cell, bool) else cell
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.4g}"


@dataclass(frozen=True)
class Design:
    """All factors of the same runs, in columns side by side."""

    factors: tuple[Factor, ...]

    @cached_property
    def matrix(self) -> Floats:
        """Runs x all columns."""
        return np.column_stack([factor.columns for factor in self.factors])

    @cached_property
    def spans(self) -> tuple[slice, ...]:
        """Which columns of the matrix are each factor's."""
        ends = np.cumsum([factor.columns.shape[1] for factor in self.factors])
        return tuple(slice(int(e) - f.columns.shape[1], int(e))
                     for e, f in zip(ends, self.factors, strict=True))  # fmt: skip
