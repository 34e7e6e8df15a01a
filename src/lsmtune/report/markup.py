"""HTML by construction: every text is escaped, unless it is already markup."""

from collections.abc import Iterable
from html import escape


class Html(str):
    """Text that is markup already and must not be escaped again."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Html:
    """An element; `class_` stands for the attribute class, and `aria_label` for aria-label."""
    shown = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )

    return Html(f"<{name}{shown}>{join(children)}</{name}>")


def join(parts: Iterable[str]) -> Html:
    """The parts one after the other, escaped where they are plain text."""
    return Html("".join(part if isinstance(part, Html) else escape(part) for part in parts))


def code(name: str) -> Html:
    """A name as it is typed, which may break after its underscores."""
    return element("code", Html(escape(name).replace("_", "_<wbr>")))


def codes(names: Iterable[str]) -> list[str]:
    """Names as they are typed, with commas between them."""
    parts: list[str] = []
    for place, name in enumerate(names):
        parts += [", " if place else "", code(name)]
    return parts


def items(texts: Iterable[str], **attributes: str) -> Html:
    """An unordered list."""
    return element("ul", *(element("li", text) for text in texts), **attributes)


def table(
    caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]], **attributes: str
) -> Html:
    """A table in a box of its own to scroll in; the first cell of each row is its header."""
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    body = (_row(list(cells)) for cells in rows)
    grid = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
        **attributes,
    )
    return element("div", grid, class_="scroll", role="region", tabindex="0", aria_label=caption)


def _row(cells: list[str]) -> Html:
    first = element("th", cells[0], scope="row")
    return element("tr", first, *(element("td", cell) for cell in cells[1:]))
