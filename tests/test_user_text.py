"""Tests of scripts/user_text*.py: which text they find, where sentences end, what is counted."""
# ruff: noqa: RUF001 - users read typographic characters

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import user_text
from user_text_markdown import markdown_texts, plain_markdown
from user_text_messages import message_texts
from user_text_pages import html_texts
from user_text_sentences import (
    count_brackets,
    count_semicolons,
    count_words,
    find_sentences,
    shown,
    split_sentences,
)


def _split(text: str) -> list[str]:
    return [sentence for _, sentence in split_sentences(text)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["One fact.", "Another fact."],
        ["Use a size, e.g. 64MiB, i.e. a small one.", "db_bench then starts."],
        ["It waits 0.25 s at level 0.", "Then it ends."],
        ["RocksDB 7.8.3 wrote `a. B`.", "Edit my.cnf.", "`lsmtune` reads it."],
        ["Really?", "Yes!", '"A quote."', "(A bracket.)", "The end"],
        ["It fails ... and goes on."],
        ["Jin et al. 2022 measured it vs. a default."],
        ["1. First, stop the store."],
    ],
)
def test_split_sentences(sentences: list[str]) -> None:
    assert _split(" ".join(sentences)) == sentences


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Three plain words.", 3),
        ("It takes 5.2 s for 64 MiB.", 5),
        ("Run `lsmtune tune --trials 5` now.", 3),
        ("0.66 × (0.64–0.68)", 0),
        ("read-ahead and/or https://example.org/a/b", 3),
    ],
)
def test_count_words(text: str, words: int) -> None:
    assert count_words(text) == words


def test_count_semicolons_leaves_out_code() -> None:
    assert count_semicolons("one; two; `a; b`") == 2


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a word (an aside) and (another [with more words])", 3),
        ("gain (0.64–0.68) or (-0.61–0.14), after (5 MiB), in (95 %), of (2022)", 0),
        ("see (`code`), (--flag), (my.cnf), (write_buffer_size), [online], file(s), x^(N-1)", 0),
        ("open ( and closed", 0),
    ],
)
def test_count_brackets(text: str, pairs: int) -> None:
    assert count_brackets(text) == pairs


def test_count_brackets_leaves_out_links() -> None:
    text = plain_markdown("A [page](a.md) (see [there](b.md)) and (an aside).")
    assert count_brackets(text) == 1
    assert shown(text) == "A page (see there) and (an aside)."


PAGE = """\
# Title

Two lines that
are *one* sentence. A **second** one.

```
no prose here.
```
<!-- hidden text. -->

## Part

- An item ends here.
  It goes on.

    indented = continuation of the item.

Plain.

    code = "is not prose."

| head | meaning |
|---|---|
| a cell | This cell is a sentence. |

Two things are needed:

1. The first thing has parts. The parts are:
   - One part is here.

   A paragraph of the item.
2. The second thing is here.

Run this:
```
code
```

- **A label.** An item without an introduction.
"""


def test_markdown_texts() -> None:
    found = find_sentences(markdown_texts(PAGE, "a.md"), "docs")
    outer = "Two things are needed:"
    assert [(s.line, s.heading, s.shown) for s in found] == [
        (3, "Title", "Two lines that are one sentence."),
        (4, "Title", "A second one."),
        (13, "Title / Part", "An item ends here."),
        (14, "Title / Part", "It goes on."),
        (16, "Title / Part", "indented = continuation of the item."),
        (24, "Title / Part / a cell: meaning", "This cell is a sentence."),
        (26, "Title / Part", "Two things are needed:"),
        (28, f"Title / Part / {outer}", "The first thing has parts."),
        (28, f"Title / Part / {outer}", "The parts are:"),
        (29, f"Title / Part / {outer} / The parts are:", "One part is here."),
        (31, f"Title / Part / {outer}", "A paragraph of the item."),
        (32, f"Title / Part / {outer}", "The second thing is here."),
        (34, "Title / Part", "Run this:"),
        (39, "Title / Part / A label", "A label."),
        (39, "Title / Part / A label", "An item without an introduction."),
    ]


SOURCE = '''\
"""Docstring of a module."""
import re

FLAG = typer.Option(help="Number of the "
    "trials to run.")

def tune(a):
    """Docstring of the command."""
    if a == "no text of messages" or re.match("also no such text", a):
        raise UserError(f"{a}: cannot read {path!r}; " + f"use {'one of these files' if a else a}")

def helper():
    """Docstring of a function."""
'''


def test_message_texts(tmp_path: Path) -> None:
    files = {
        "cli/tune.py": SOURCE,
        "cli/main.py": "app.command()(tune.tune)",
        "report/page.py": "TEXT = 'this builds a page'",
        "report/export.py": "TEXT = 'this writes a file'",
        "knobs/catalogue/a.toml": '[[knob]]\nname = "x"\ntrade = "more memory, fewer reads"\n',
    }
    for name, text in files.items():
        path = tmp_path / "src" / "lsmtune" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = find_sentences(message_texts(tmp_path), "messages")
    assert [(s.line, s.heading, s.shown, s.complete) for s in found] == [
        (4, "lsmtune --flag", "Number of the trials to run.", True),
        (7, "lsmtune tune --help", "Docstring of the command.", True),
        (10, "error message of `lsmtune tune`", "…: cannot read <path>; use …", True),
        (10, "error message of `lsmtune tune`", "one of these files", False),
        (1, "note in an exported file", "this writes a file", True),
        (3, "knob x: effect", "more memory, fewer reads", True),
    ]


def test_html_texts() -> None:
    page = (
        "<title>No.</title><style>a {}</style><h1>Top</h1>"
        "<p>A <b>bold</b> one\nis <code>x; y</code>"
        ".</p>\n<h4>Not above</h4><div>Cells:<span> inline</span><p>Own text.</p></div>"
        '<script type="application/json">{"a": "b."}</script><h2>Next</h2><td>1.5\u2060 s</td>'
        '<tr><th scope="row"><code>knob</code></th><td>Its effect.</td></tr><p>After.</p>'
    )
    assert [(t.line, t.heading, t.text) for t in html_texts(page, "a.html")] == [
        (1, "a.html", "Top"),
        (1, "Top", "A bold one is `x; y`."),
        (3, "Top", "Not above"),
        (3, "Top", "Cells: inline"),
        (3, "Top", "Own text."),
        (3, "Top", "Next"),
        (3, "Next", "1.5 s"),
        (3, "Next", "`knob`"),
        (3, "Next / `knob`", "Its effect."),
        (3, "Next", "After."),
    ]


def test_counts_check_and_sample(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme, root = tmp_path / "README.md", ["--root", str(tmp_path)]
    readme.write_text("# A\n\nThis is a short sentence. " + "This is another one of them. " * 2)
    assert user_text.main(["counts", "docs", "--check", *root]) == 0
    assert user_text.main(["sample", "docs", "--seed", "2", "-n", "9", *root]) == 0
    assert "2. **A**" in capsys.readouterr().out
    assert user_text.main(["dump", str(tmp_path / "out"), *root, "--pages", str(tmp_path)]) == 0
    assert (tmp_path / "out" / "docs.md").read_text().count("sentence") == 1
    for bad in ("word " * 26 + ".", "Here are a; b; and c.", "Two (odd) pairs (of them)."):
        readme.write_text(bad)
        assert user_text.main(["counts", "docs", *root]) == 0
        capsys.readouterr()
        assert user_text.main(["counts", "docs", "--check", "--list", *root]) == 1
        assert "README.md:1: " in capsys.readouterr().out


def test_counts_check_fails_without_pages(tmp_path: Path) -> None:
    assert user_text.main(["counts", "pages", "--check", "--root", str(tmp_path)]) == 1
