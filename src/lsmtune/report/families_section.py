"""Section of a page of LOGs: the column families that matter most."""

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.report.frame import section
from lsmtune.report.markup import Html, element, table
from lsmtune.report.text.inspect_families import (
    FAMILY_HEADS,
    families_title,
    family_rows,
    other_families,
)


def families_section(log: Inspection) -> Html:
    """Return the column families that matter as a section of a page."""
    rest = other_families(log)
    return section(
        "Column families", families_title(log),
        table("Column families", FAMILY_HEADS, family_rows(log), fold=False),
        element("p", f"{rest}.", class_="note") if rest else "",
    )  # fmt: skip
