"""Sections of a page of LOGs: column families, changed options, options of a file."""

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.report.markup import Html, code, element, section, table
from lsmtune.report.text.inspect_families import (
    FAMILY_HEADS,
    families_title,
    family_rows,
    option_groups,
    other_families,
)
from lsmtune.report.text.inspect_words import changed_rows, defaults_text, given_rows
from lsmtune.report.text.words import counted, unbroken


def families_section(log: Inspection) -> Html:
    """Return the column families that matter as a section of a page."""
    rest = other_families(log)
    return section(
        "Column families", families_title(log),
        table("Column families", FAMILY_HEADS, family_rows(log), fold=False),
        element("p", f"{rest}.", class_="note") if rest else "",
    )  # fmt: skip


def options_section(log: Inspection) -> Html:
    """Return the options that differ from the defaults as a section of a page."""
    groups = option_groups(log)
    names = {name for _, changes in groups for name in changes}
    verb = "differs" if len(names) == 1 else "differ"
    tables = [
        table(
            f"Changed options {heading or ''}".rstrip(),
            ("option", "value", "default"),
            [[code(name), *values] for name, *values in changed_rows(changes)],
        )
        for heading, changes in groups
    ]
    count = counted(len(names), "option")
    title = f"{count} {verb} from {defaults_text(log)}"
    return section("Options", unbroken(title), *tables)


def given_section(log: Inspection) -> Html:
    """Return the options of a file whose version is unknown as a section of a page."""
    rows = [(code(name), value) for name, value in given_rows(log)]
    title = f"{counted(len(rows), 'option')} in the {log.kind}"
    return section("Options", title, table("Options of the file", ("option", "value"), rows))
