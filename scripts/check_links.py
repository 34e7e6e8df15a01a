"""Check the links inside the project: files and anchors.

    python scripts/check_links.py

Checks the links and pictures of all Markdown files, the paths `docs/…` that source files name, and
the navigation of the site. Links of pages in docs/ must stay in docs/, because the site contains
nothing else. Addresses of other hosts are not checked. Prints each broken link; the exit code is
then 1.
"""

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_SKIPPED = {".git", ".venv", "site", "target", "node_modules", "lsmtune-data"}
_LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)>\s]+)>?[^)]*\)")
_HTML = re.compile(r"""(?:src|href|srcset)=["']([^"'\s]+)["']""")
_NAMED = re.compile(r"\bdocs/[\w./-]+\.(?:md|toml|json|png)(?:#[\w-]+)?")
_FENCE = re.compile(r"^(`{3,}).*?^\1", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ELSEWHERE = ("http:", "https:", "mailto:")
_MADE_WITH_THE_SITE = "../played/"
"""Pages that `make docs` writes into the site."""
_SOURCES = (
    "src/**/*.py",
    "scripts/*.py",
    "scripts/*.sh",
    "benchmarks/*.py",
    "native/*/src/**/*.rs",
)


def broken_links() -> list[str]:
    """Return one line for each broken link."""
    found = [problem for page in _pages() for problem in _of_page(page)]
    return [*found, *_of_sources(), *_of_navigation()]


def _pages() -> Iterator[Path]:
    for path in sorted(ROOT.rglob("*.md")):
        if not _SKIPPED & set(path.relative_to(ROOT).parts):
            yield path


def _of_page(page: Path) -> Iterator[str]:
    text = _prose(page)
    for target in (*_LINK.findall(text), *_HTML.findall(text)):
        if target.startswith((*_ELSEWHERE, _MADE_WITH_THE_SITE)):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        where = f"{page.relative_to(ROOT)}: {target}"
        if not path.exists():
            yield f"{where}: no such file"
        elif _leaves_site(page, path):
            yield f"{where}: leads out of docs/, which the site does not contain"
        elif anchor and path.suffix == ".md" and anchor not in _anchors(path):
            yield f"{where}: no such heading"


def _leaves_site(page: Path, path: Path) -> bool:
    docs = ROOT / "docs"
    return page.is_relative_to(docs) and not path.is_relative_to(docs)


def _prose(page: Path) -> str:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return _CODE.sub("``", _COMMENT.sub("", text))


@cache
def _anchors(page: Path) -> frozenset[str]:
    """Return the anchors that both the site and common code hosts make of the headings."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    slugs: dict[str, int] = {}
    found = set()
    for heading in re.findall(r"^#+\s+(.*?)\s*#*$", text, re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\s-]", "", plain.lower()).strip()
        slug = re.sub(r"\s", "-", slug)
        times = slugs[slug] = slugs.get(slug, -1) + 1
        found.add(slug if not times else f"{slug}-{times}")
    return frozenset(slug for slug in found if "--" not in slug)


def _of_sources() -> Iterator[str]:
    """Check the pages that messages, generated pages and comments of the code name."""
    for pattern in _SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            for target in _NAMED.findall(path.read_text(encoding="utf-8")):
                name, _, anchor = target.partition("#")
                page = ROOT / name
                if not page.exists():
                    yield f"{path.relative_to(ROOT)}: {target}: no such file"
                elif anchor and anchor not in _anchors(page):
                    yield f"{path.relative_to(ROOT)}: {target}: no such heading"


def _of_navigation() -> Iterator[str]:
    """Check that the site's navigation names each page of docs/ once."""
    config = ROOT / "zensical.toml"
    nav = tomllib.loads(config.read_text(encoding="utf-8"))["project"]["nav"]
    named = list(_leaves(nav))
    pages = {str(p.relative_to(ROOT / "docs")) for p in (ROOT / "docs").rglob("*.md")}
    yield from (f"zensical.toml: {name}: no such page" for name in named if name not in pages)
    yield from (f"zensical.toml: nav lacks {name}" for name in sorted(pages - set(named)))


def _leaves(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for below in nav.values():
            yield from _leaves(below)
    else:
        for below in nav:
            yield from _leaves(below)


def main() -> int:
    """Print the broken links and return the exit code."""
    found = broken_links()
    for line in found:
        sys.stderr.write(f"{line}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
