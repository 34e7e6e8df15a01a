"""What a reader sees of an HTML page: the text of each block, without scripts and styles."""

from html.parser import HTMLParser

_INLINE = {"a", "abbr", "b", "bdi", "cite", "code", "em", "i", "kbd", "label", "mark", "q", "s",
           "samp", "small", "span", "strong", "sub", "sup", "time", "tspan", "u", "var", "wbr",
           "img"}  # fmt: skip
_UNREAD = {"script", "style", "pre", "title", "template"}
_CODE = {"code", "kbd", "samp"}
_INVISIBLE = {0x2060: None, 0xAD: None, 0x200B: None}
"""Characters that only control where a line breaks."""


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._parts, self._unread = list[str](), 0
        self.texts = list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unread += tag in _UNREAD
        if tag not in _INLINE:
            self.flush()
        elif tag in _CODE:
            self._parts.append("`")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _INLINE:
            self.flush()

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNREAD:
            self._unread = max(0, self._unread - 1)
        elif tag not in _INLINE:
            self.flush()
        elif tag in _CODE:
            self._parts.append("`")

    def handle_data(self, data: str) -> None:
        self._parts.extend([] if self._unread else [data])

    def flush(self) -> None:
        text = " ".join("".join(self._parts).translate(_INVISIBLE).split())
        self._parts.clear()
        self.texts.extend([text] if text else [])


def visible_texts(source: str) -> list[str]:
    """The text of each block of a page, with code in backticks."""
    page = _Page()
    page.feed(source)
    page.close()
    page.flush()
    return page.texts
