"""Remarks about the baseline of a study."""

from lsmtune.trials import Base

_SEE = "`lsmtune tune --verbose` lists values and reasons"


def baseline_lines(base: Base, *, verbose: bool) -> list[str]:
    """Return the remarks about the baseline; one line names the options that are left out.

    With `verbose`, each option that is left out has a line of its own with value and reason.
    """
    lines = list(base.notes)
    if count := len(base.left_out):
        what = "1 option" if count == 1 else f"{count} options"
        names = ", ".join(option.partition(" = ")[0] for option in base.left_out)
        listed = "" if verbose else f" {names}; {_SEE}"
        lines.append(f"lsmtune does not use {what} of the file:{listed}")
        lines += [f"  {option}" for option in base.left_out] if verbose else []
    return lines
