"""Pages that the script renders: small, without external addresses, with unique identifiers."""

import re
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
MOST_BYTES = 2_200_000


@pytest.fixture(scope="module")
def script() -> Iterator[ModuleType]:
    path = list(sys.path)
    spec = spec_from_file_location("pages_script", ROOT / "scripts" / "pages.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path


@pytest.fixture(scope="module")
def pages(script: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    return {
        **dict(script._studies()),
        **dict(script._inspections(folder)),
        "compare": script._comparison(),
    }


def without_library(page: str) -> str:
    return re.sub(r'<script id="plotly".*?</script>', "", page)


def test_every_kind_of_page_is_below_the_size_limit(pages: dict[str, str]) -> None:
    sizes = {name: len(page.encode()) for name, page in pages.items()}
    assert len(sizes) >= 12
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}


def test_no_page_has_an_external_address(pages: dict[str, str]) -> None:
    for page in pages.values():
        assert not re.search(r"https?://|@import|url\(|<link|\ssrc=", without_library(page))


def test_every_page_has_one_headline_and_unique_identifiers(pages: dict[str, str]) -> None:
    for page in pages.values():
        assert page.count("<h1>") == 1
        ids = re.findall(r' id="([^"]+)"', page)
        assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_the_script_renders_every_kind_of_page(script: ModuleType, tmp_path: Path) -> None:
    names = {path.stem for path in script.render_all(tmp_path) if path.stat().st_size}
    assert {name for name in names if name.startswith("reproduce-")} == {
        f"reproduce-{name}"
        for name in ("sst-size", "compaction-style", "autotikv", "db-bench-study", "jin2022")
    }
    assert {"study", "studies", "inspect", "importance", "compare"} <= names


def test_pages_are_the_same_when_rendered_again(script: ModuleType, pages: dict[str, str]) -> None:
    assert script._comparison() == pages["compare"]


def test_no_page_names_a_path_of_this_machine(pages: dict[str, str]) -> None:
    assert not any(str(ROOT) in page for page in pages.values())
