"""Texts of pages: paragraphs with values filled in, and no text that no page shows."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import lsmtune
from lsmtune.report.page_texts import PageTexts

PACKAGE = Path(lsmtune.__file__).parent
FILES = sorted(PACKAGE.rglob("page.toml"))


def names(texts: dict[str, Any]) -> Iterator[str]:
    for name, text in texts.items():
        if isinstance(text, str):
            yield name
        elif name != "terms":  # the page shows all of this table
            yield from names(text)


def test_paragraphs_are_lines_without_breaks_and_with_their_values() -> None:
    texts = PageTexts("lsmtune.report", "importance")
    first, *others = texts.paragraphs("method", source="measured")
    assert "predicts in measured runs" in first
    assert len(others) > 3
    assert not any("\n" in text for text in (first, *others))


def test_only_texts_whose_condition_holds_are_shown() -> None:
    texts = PageTexts("lsmtune.report", "method")
    assert texts.shown({"pruned": False, "prepared": True}) == texts.paragraphs("prepared")


def test_text_of_several_paragraphs_is_not_one_text() -> None:
    with pytest.raises(ValueError, match="too many values"):
        PageTexts("lsmtune.report", "importance").text("method", source="measured")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.parent.name)
def test_every_text_is_used_by_a_page_next_to_it(file: Path) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in file.parent.glob("*.py"))
    found = list(names(tomllib.loads(file.read_text(encoding="utf-8"))))
    assert found
    assert [name for name in found if f'"{name}"' not in code] == []
