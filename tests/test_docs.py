"""What the pages of docs/ say can be checked: figures are those recorded, commands are real."""

import re
import sys
from pathlib import Path

import pytest

from lsmtune.cli.main import app

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
COMMANDS = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}


def test_the_figures_of_the_pages_are_those_that_were_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import figures  # noqa: PLC0415 - it lies beside the package

    for name in ("figures", "parameter_study"):
        sys.modules.pop(name)
    results = figures.recorded()
    assert len(figures.pages()) >= 7
    for page in figures.pages():
        assert page.read_text() == figures.filled(page.read_text(), results), page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    named = re.findall(r"(?:^|`)lsmtune ([a-z]+)", page.read_text(), re.MULTILINE)
    assert set(named) <= COMMANDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target
