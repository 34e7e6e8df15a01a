"""Remarks about the baseline of a study."""

from lsmtune.trials import Base

_SEE = "see `lsmtune tune --verbose`"


def baseline_lines(base: Base, *, verbose: bool) -> list[str]:
    """Return the remarks about the baseline; the options that are left out are one line.

    With `verbose`, each option that is left out has a line of its own with the reason.
    """
    lines = list(base.notes)
    if count := len(base.left_out):
        what = "1 option" if count == 1 else f"{count} options"
        lines.append(f"lsmtune does not use {what} of the file{':' if verbose else f'; {_SEE}'}")
        lines += [f"  {option}" for option in base.left_out] if verbose else []
    return lines
