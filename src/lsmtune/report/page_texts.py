"""Texts of pages: paragraphs in the file `page.toml` next to the code of a page."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from lsmtune.report.markup import Html, element, join


@dataclass(frozen=True, slots=True)
class PageTexts:
    """Texts of a package's pages; `table` is the table of `page.toml` that has them, as `a.b`.

    Names in braces are filled in with the values that a call gives.
    """

    package: str
    table: str = ""

    def paragraphs(self, name: str, /, **values: object) -> list[str]:
        """Return the paragraphs of a text."""
        text: str = self._texts()[name]
        return [" ".join(part.split()).format(**values) for part in text.strip().split("\n\n")]

    def text(self, name: str, /, **values: object) -> str:
        """Return a text of one paragraph."""
        (text,) = self.paragraphs(name, **values)
        return text

    def html(self, name: str, /, **values: object) -> Html:
        """Return the paragraphs of a text as markup."""
        return join(element("p", text) for text in self.paragraphs(name, **values))

    def shown(self, conditions: Mapping[str, bool], /, **values: object) -> list[str]:
        """Return the paragraphs of the texts whose condition holds, in the order given."""
        names = (name for name, is_shown in conditions.items() if is_shown)
        return [part for name in names for part in self.paragraphs(name, **values)]

    def names(self) -> list[str]:
        """Return the names of all texts in their order."""
        return [*self._texts()]

    def _texts(self) -> dict[str, Any]:
        texts = _file(self.package)
        for name in filter(None, self.table.split(".")):
            texts = texts[name]
        return texts


@cache
def _file(package: str) -> dict[str, Any]:
    return tomllib.loads((files(package) / "page.toml").read_text(encoding="utf-8"))
