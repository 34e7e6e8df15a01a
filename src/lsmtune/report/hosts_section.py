"""Section of a study's page: what each host did."""

from collections.abc import Sequence

from lsmtune.analysis.hosts_used import HostUse
from lsmtune.report.markup import Html, element, nowrap, section, table
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.hosts_text import (
    HostColumn,
    host_columns,
    host_name,
    host_sentences,
    hosts_title,
)

_TEXTS = PageTexts(__package__, "hosts")


def hosts_section(hosts: Sequence[HostUse]) -> Html:
    """Return the hosts as a table: what each ran and lost; then why a host lost runs or its place.

    Sentences are below the table, because a table with them would not fit a screen.
    """
    columns = [column for column in host_columns(hosts) if not column.is_sentence]
    rows = ([host_name(use), *(_cell(column, use) for column in columns)] for use in hosts)
    heads = ("host", *(column.head for column in columns))
    shown = table("The runs of each host", heads, rows)
    see, why = element("p", _TEXTS.text("see")), map(_paragraph, host_sentences(hosts))
    return section("Hosts", hosts_title(hosts), see, shown, *why)


def _paragraph(sentence: str) -> Html:
    return element("p", sentence)


def _cell(column: HostColumn, use: HostUse) -> str:
    text = column.cell(use)
    return nowrap(text) if column.is_number else text
