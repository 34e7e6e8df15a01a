#!/usr/bin/env python3
"""Takes pictures of every page in a real browser, and checks the pages.

    .venv/bin/python scripts/screenshots.py OUTDIR              all pages, pictures and report
    .venv/bin/python scripts/screenshots.py OUTDIR --check      exit code 1 on a violation
    .venv/bin/python scripts/screenshots.py OUTDIR --pages DIR  pages that exist already
    .venv/bin/python scripts/screenshots.py --readme REPORT.html OUTDIR

It needs the package playwright (`make docs` installs it) and Chromium on PATH.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pages import render_all
from playwright.sync_api import Browser, Page, sync_playwright

WIDTHS = (1280, 768, 400)
SCHEMES = ("light", "dark")
HEIGHT = 800
MAX_BYTES = 2_200_000
MAX_README_BYTES = 200_000
MIN_CONTRAST = 4.5
MAX_OPEN_ROWS = 20
_NARROW = 400
_BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_WAIT_MS = 20_000

_READY = """() => !document.querySelector('.plot')
  || document.documentElement.hasAttribute('data-charts')
  || document.documentElement.hasAttribute('data-no-charts')"""

_OPEN_ALL = "() => document.querySelectorAll('details').forEach((part) => { part.open = true; })"

_LAYOUT = """(maxRows) => {
  const wide = document.documentElement.clientWidth;
  const found = [];
  if (document.documentElement.scrollWidth > wide)
    found.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  for (const node of document.querySelectorAll('main *')) {
    const box = node.getBoundingClientRect();
    if (box.width && box.right > wide + 1 && !node.closest('.scroll') && !node.closest('svg'))
      found.push(`${node.tagName.toLowerCase()}.${node.className} ends at ${box.right} px`);
  }
  for (const box of document.querySelectorAll('.scroll')) {
    const hint = box.previousElementSibling;
    if (box.scrollWidth > box.clientWidth + 1 && !hint?.checkVisibility())
      if (box.checkVisibility())
        found.push(`no hint at the table ${box.getAttribute('aria-label')}`);
  }
  for (const table of document.querySelectorAll('table'))
    if (table.rows.length > maxRows && !table.closest('details'))
      found.push(`a table of ${table.rows.length} rows is not folded`);
  return [...new Set(found)].slice(0, 8);
}"""

_CONTRAST = """(least) => {
  const parse = (text) => {
    const parts = (text.match(/[\\d.]+/g) ?? []).map(Number);
    return parts.length < 3 ? null : [...parts.slice(0, 3), parts[3] ?? 1];
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
  const ground = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour && colour[3] > 0) layers.push(colour);
      if (colour && colour[3] === 1) break;
    }
    return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text; text = walker.nextNode()) {
    const node = text.parentElement;
    if (!text.textContent.trim() || !node.getClientRects().length || !node.checkVisibility())
      continue;
    if (node.closest('script, style, noscript')) continue;
    const style = getComputedStyle(node);
    const ink = parse(node instanceof SVGElement ? style.fill : style.color);
    if (!ink) continue;
    const paper = ground(node);
    const [a, b] = [light(over(ink, paper)), light(paper)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) {
      const where = `${node.tagName.toLowerCase()}.${node.className.baseVal ?? node.className}`;
      if (!found.has(where))
        found.set(where, `${where} "${text.textContent.trim().slice(0, 30)}": ${ratio.toFixed(2)}`);
    }
  }
  return [...found.values()];
}"""

_CONTROLS = """() => {
  const wanted = [...document.querySelectorAll(
    'a[href], button, summary, input, select, .scroll')].filter((node) => node.checkVisibility()
      && (!node.matches('.scroll') || node.scrollWidth > node.clientWidth + 1));
  wanted.forEach((node, index) => { node.dataset.control = index; });
  document.activeElement?.blur();
  return wanted.length;
}"""

_FOCUSED = """() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const style = getComputedStyle(node);
  const isSeen = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return { control: node.dataset.control ?? null, isSeen };
}"""

_NAME = """(index) => {
  const node = document.querySelector(`[data-control="${index}"]`);
  const text = node.getAttribute('aria-label') ?? node.textContent.trim();
  return `${node.tagName.toLowerCase()} "${text.slice(0, 40)}"`;
}"""

_FIRST_CHART = """() => {
  const chart = [...document.querySelectorAll('.plot, canvas')].find((node) =>
    node.checkVisibility());
  return chart ? Math.round(chart.getBoundingClientRect().top + scrollY) : null;
}"""


@dataclass
class Report:
    """Result of the checks of one page."""

    name: str
    size_bytes: int
    heights: dict[int, int] = field(default_factory=dict)
    violations: list[str] = field(default_factory=list)

    def add(self, where: str, found: list[str]) -> None:
        """Add violations of one view of the page."""
        self.violations += [f"{where}: {text}" for text in found]


@contextmanager
def browser() -> Iterator[Browser]:
    """Start the system's Chromium."""
    program = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    if program is None:
        raise SystemExit(f"no browser on PATH; install one of {', '.join(_BROWSERS)}")
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=flags)
        try:
            yield running
        finally:
            running.close()


def check_page(running: Browser, path: Path, pictures: Path) -> Report:
    """Take all pictures of a page and check it in every view."""
    report = Report(path.stem, path.stat().st_size)
    if report.size_bytes > MAX_BYTES:
        report.violations.append(f"{report.size_bytes:,} bytes, allowed are {MAX_BYTES:,}")
    with _opened(running, path, report) as page:
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            for width in WIDTHS:
                _view(page, width, scheme, pictures / f"{path.stem}-{width}-{scheme}.png", report)
        page.set_viewport_size({"width": _NARROW, "height": HEIGHT})
        page.evaluate(_OPEN_ALL)
        page.wait_for_timeout(400)
        report.add(f"{_NARROW} px, all open", page.evaluate(_LAYOUT, MAX_OPEN_ROWS))
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            page.wait_for_timeout(300)
            report.add(f"contrast, {scheme}", page.evaluate(_CONTRAST, MIN_CONTRAST))
        report.add("keyboard", _unreachable(page))
    _check_old_browser(running, path, report)
    return report


def _view(page: Page, width: int, scheme: str, picture: Path, report: Report) -> None:
    page.set_viewport_size({"width": width, "height": HEIGHT})
    page.wait_for_timeout(300)
    page.screenshot(path=picture, full_page=True)
    report.heights[width] = page.evaluate("() => document.documentElement.scrollHeight")
    report.add(f"{width} px, {scheme}", page.evaluate(_LAYOUT, MAX_OPEN_ROWS))
    top = page.evaluate(_FIRST_CHART)
    if width == max(WIDTHS) and top is not None and top >= HEIGHT:
        report.add(f"{width} px", [f"the first chart starts at {top} px, below the first screen"])


@contextmanager
def _opened(running: Browser, path: Path, report: Report, script: str = "") -> Iterator[Page]:
    """Open the page; requests and errors are violations."""
    context = running.new_context(viewport={"width": max(WIDTHS), "height": HEIGHT})
    try:
        page = context.new_page()
        if script:
            page.add_init_script(script)
        own = path.resolve().as_uri()
        page.on("request", lambda request: _requested(report, own, request.url))
        page.on("pageerror", lambda error: report.add("script", [str(error)]))
        page.on("console", lambda message: _logged(report, message))
        page.goto(own)
        page.wait_for_function(_READY, timeout=_WAIT_MS)
        yield page
    finally:
        context.close()


def _requested(report: Report, own: str, url: str) -> None:
    if url != own and not url.startswith(("data:", "blob:")):
        report.add("request", [url])


def _logged(report: Report, message: Any) -> None:
    if message.type == "error":
        report.add("console", [message.text])


def _unreachable(page: Page) -> list[str]:
    """Return the controls that the Tab key does not reach, or that show no focus."""
    count = page.evaluate(_CONTROLS)
    reached: dict[int, bool] = {}
    for _ in range(count + 10):
        page.keyboard.press("Tab")
        focused = page.evaluate(_FOCUSED)
        if focused is not None and focused["control"] is not None:
            reached[int(focused["control"])] = focused["isSeen"]
        if len(reached) == count:
            break
    missing = [f"{page.evaluate(_NAME, n)} is not reached" for n in range(count)
               if n not in reached]  # fmt: skip
    unseen = [f"{page.evaluate(_NAME, n)} shows no focus" for n, seen in reached.items()
              if not seen]  # fmt: skip
    return missing + unseen


def _check_old_browser(running: Browser, path: Path, report: Report) -> None:
    """Check that a browser that cannot unpack the charts says so."""
    if 'id="plotly"' not in path.read_text(encoding="utf-8"):
        return
    with _opened(running, path, report, "delete window.DecompressionStream;") as page:
        note = page.query_selector("main > .warnings[role=status]")
        if note is None or not note.is_visible():
            report.add("without DecompressionStream", ["the page does not say why charts miss"])
        if any(plot.is_visible() for plot in page.query_selector_all(".plot")):
            report.add("without DecompressionStream", ["empty charts are visible"])


def take_readme_pictures(running: Browser, path: Path, folder: Path) -> list[Path]:
    """Write the first screen of a page in light and dark, each below 200 kB."""
    folder.mkdir(parents=True, exist_ok=True)
    return [_readme_picture(running, path, folder, scheme) for scheme in SCHEMES]


def _readme_picture(running: Browser, path: Path, folder: Path, scheme: str) -> Path:
    picture = folder / f"{path.stem}-{scheme}.png"
    for factor in (2.0, 1.5, 1.25, 1.0):
        context = running.new_context(
            viewport={"width": 1100, "height": 720},
            device_scale_factor=factor,
            color_scheme=scheme,  # type: ignore[arg-type]
        )
        page = context.new_page()
        page.goto(path.resolve().as_uri())
        page.wait_for_function(_READY, timeout=_WAIT_MS)
        page.wait_for_timeout(300)
        page.screenshot(path=picture)
        context.close()
        if picture.stat().st_size <= MAX_README_BYTES:
            return picture
    raise SystemExit(f"{picture}: {picture.stat().st_size:,} bytes, allowed {MAX_README_BYTES:,}")


def _print(report: Report) -> None:
    heights = ", ".join(f"{height:,} px at {width}" for width, height in report.heights.items())
    print(f"{report.name}: {report.size_bytes:,} bytes; {heights}", flush=True)
    for text in dict.fromkeys(report.violations):
        print(f"  VIOLATION {text}", flush=True)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder for the pictures")
    parser.add_argument("--pages", type=Path, help="folder with pages [all kinds are rendered]")
    parser.add_argument("--only", action="append", help="name of a page; repeatable")
    parser.add_argument("--check", action="store_true", help="exit with 1 on a violation")
    parser.add_argument("--json", type=Path, help="also write the report there")
    parser.add_argument("--readme", type=Path, help="page whose first screen the README shows")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Take the pictures and print the report."""
    options = _parse(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, browser() as running:
        if options.readme is not None:
            for picture in take_readme_pictures(running, options.readme, options.folder):
                print(f"{picture}: {picture.stat().st_size:,} bytes")
            return 0
        if options.pages is None:
            found = render_all(Path(scratch))
        else:
            found = sorted(options.pages.glob("*.html"))
        reports = []
        for path in found:
            if options.only and path.stem not in options.only:
                continue
            reports.append(check_page(running, path, options.folder))
            _print(reports[-1])
    if options.json is not None:
        options.json.write_text(json.dumps([vars(report) for report in reports], indent=1))
    bad = sum(bool(report.violations) for report in reports)
    print(f"{len(reports)} pages, {bad} with violations")
    return 1 if bad and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
