"""Section of a study's page: what each host did."""

from collections.abc import Sequence

from lsmtune.analysis.hosts_used import HostUse
from lsmtune.report.markup import Html, element, nowrap, section, table
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.hosts_text import HostColumn, host_columns, host_name, hosts_title

_TEXTS = PageTexts(__package__, "hosts")


def hosts_section(hosts: Sequence[HostUse]) -> Html:
    """Return the hosts as a table: what each ran, and what it lost."""
    columns = host_columns(hosts)
    rows = ([host_name(use), *(_cell(column, use) for column in columns)] for use in hosts)
    heads = ("host", *(column.head for column in columns))
    shown = table("The runs of each host", heads, rows)
    return section("Hosts", hosts_title(hosts), element("p", _TEXTS.text("see")), shown)


def _cell(column: HostColumn, use: HostUse) -> str:
    text = column.cell(use)
    if column.is_sentence:
        return element("span", text, class_="prose")
    return nowrap(text) if column.is_number else text
