"""The checks of scripts/plain_text.py find what they are for, and pass this repository."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import plain_text

LONG = " ".join(["word"] * 41) + "."


@pytest.mark.parametrize(
    "sentences",
    [
        ["One fact.", "Another fact."],
        ["Use a size, e.g. 64MiB, i.e. a small one.", "db_bench then starts."],
        ["It waits 0.25 s at level 0.", "Then it ends."],
        ["RocksDB 7.8.3 wrote `a. B`.", "`lsmtune` reads it."],
        ["It fails ... and goes on."],
        ["1. First, stop the store."],
    ],
)
def test_sentences_end_where_a_reader_sees_it(sentences: list[str]) -> None:
    found = plain_text.split_sentences(" ".join(sentences))
    assert [sentence for _, sentence in found] == sentences


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("README.md", f"# A\n\nGood text.\nGood text. {LONG}\n", 4),
        ("docs/a.md", "Some text.\n\n| a | The gain stands for itself. |\n", 3),
        ("docs/a.md", "```\nThis hangs on code.\n```\n- This hangs\n  on words.\n", 4),
        ("src/lsmtune/a.py", f'"""{LONG}"""\nraise ValueError(f"{{a}}: {LONG}")\n', 2),
        ("src/lsmtune/a.py", 'x = a.of("select this anew from here")\n', 1),
        ("src/lsmtune/cli/b.py", 'def b():\n    """Measure all that is foretold."""\n', 1),
        ("src/lsmtune/c.toml", 'a = 1\nrisk = "it costs time besides"\n', 2),
    ],
)
def test_a_fault_is_found_in_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], file: str, text: str, line: int
) -> None:
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert plain_text.main(["--root", str(tmp_path)]) == 1
    assert f"{file}:{line}: " in capsys.readouterr().out


def test_code_and_short_sentences_have_no_fault(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(f"A `constraint` is `{LONG}` and more.\n")
    (tmp_path / "src" / "lsmtune").mkdir(parents=True)
    source = tmp_path / "src" / "lsmtune" / "a.py"
    source.write_text(f'def a():\n    """{LONG}"""\n    return f("SELECT {LONG}")\n')
    assert plain_text.main(["--root", str(tmp_path)]) == 0


def test_too_many_long_sentences_are_a_fault(tmp_path: Path) -> None:
    long = " ".join(["word"] * 26)
    lines = [f"{long} {number}." for number in range(2)]
    (tmp_path / "README.md").write_text("\n".join(lines))
    assert plain_text.main(["--root", str(tmp_path)]) == 1
