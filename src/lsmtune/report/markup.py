"""HTML in which every text is escaped, unless it is already markup."""

from collections.abc import Iterable
from html import escape

from lsmtune.report.text.words import unbroken


class Html(str):
    """Text that is markup already and must not be escaped again."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Html:
    """Return an element; `class_` is the attribute class, `aria_label` is aria-label."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )

    return Html(f"<{name}{shown}>{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """Return the parts one after the other, escaped where they are plain text."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def code(name: str) -> Html:
    """Return a name as it is typed; a line may break after its underscores."""
    return element("code", Html(escape(name).replace("_", "_<wbr>")))


def command(text: str) -> Html:
    """Return a command with a button that copies it; a long one scrolls."""
    return element(
        "p",
        element("code", text, tabindex="0"),
        element("button", "Copy", type="button"),
        class_="command",
    )


def codes(names: Iterable[str]) -> list[str]:
    """Return names as they are typed, with commas between them."""
    parts: list[str] = []
    for index, name in enumerate(names):
        parts += [", " if index else "", code(name)]
    return parts


def nowrap(text: str) -> Html:
    """Return a text that stays on one line."""
    return element("span", text, class_="number")


def items(texts: Iterable[str], **attributes: str) -> Html:
    """Return an unordered list."""
    return element("ul", *(element("li", text) for text in texts), **attributes)


def section(topic: str, title: str, *content: str) -> Html:
    """Return a section: its topic, its finding as the title, and what shows it."""
    heading = (element("p", topic, class_="topic"), element("h2", unbroken(title)))
    return element("section", *heading, *content)


_MANY_ROWS = 15
_HINT = "scroll \N{RIGHTWARDS ARROW}"


def table(
    caption: str,
    heads: Iterable[str],
    rows: Iterable[Iterable[str]],
    *,
    fold: bool | None = None,
    **attributes: str,
) -> Html:
    """Return a table in a box that scrolls sideways; the first cell of each row is its header.

    A table of more than 15 rows is folded: a click on its caption shows it. `fold` decides
    otherwise.
    """
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    body = [_row(list(cells)) for cells in rows]
    grid = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", head),
        element("tbody", *body),
        **attributes,
    )
    shown = element(
        "div",
        element("p", _HINT, class_="hint", aria_hidden="true", hidden=""),
        element("div", grid, class_="scroll", role="region", tabindex="0", aria_label=caption),
        class_="table",
    )
    if len(body) > _MANY_ROWS if fold is None else fold:
        return folded(f"{caption.rstrip('.')}: {len(body)} rows", shown)
    return shown


def folded(summary: str, *content: str) -> Html:
    """Return content that is shown after a click on its summary."""
    return details(summary, *content, class_="fold")


def details(summary: str, *content: str, **attributes: str) -> Html:
    """Return content that is shown after a click, without the look of a fold."""
    return element("details", element("summary", summary), *content, **attributes)


def _row(cells: list[str]) -> Html:
    first = element("th", cells[0], scope="row")
    return element("tr", first, *(element("td", cell) for cell in cells[1:]))
