"""Sections of a page of LOGs: changed options, and options of a file."""

from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.report.frame import section
from lsmtune.report.markup import Html, code, table
from lsmtune.report.text.inspect_families import option_groups
from lsmtune.report.text.inspect_words import default_text, defaults_text
from lsmtune.report.text.words import counted, unbroken


def options_section(log: Inspection) -> Html:
    """Return the options that differ from the defaults as a section of a page."""
    groups = option_groups(log)
    names = {name for _, changes in groups for name in changes}
    verb = "differs" if len(names) == 1 else "differ"
    tables = [
        table(
            f"Changed options {heading or ''}".rstrip(),
            ("option", "value", "default"),
            [[code(name), change.value, default_text(change)] for name, change in changes.items()],
        )
        for heading, changes in groups
    ]
    count = counted(len(names), "option")
    title = f"{count} {verb} from {defaults_text(log)}"
    return section("Options", unbroken(title), *tables)


def given_section(log: Inspection) -> Html:
    """Return the options of a file whose version is unknown as a section of a page."""
    rows = [(code(name), value) for name, value in log.options_given.items()]
    title = f"{counted(len(rows), 'option')} in the {log.kind}"
    return section("Options", title, table("Options of the file", ("option", "value"), rows))
