"""Output for people: it fits the terminal, and is plain text in a pipe."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from lsmtune.cli.main import run
from lsmtune.cli.tables import Column, facts_lines, paragraph, table_lines

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
LEVEL, UNIVERSAL = (
    str(CAPTURED / f"rocksdb-7.8.3-{style}" / "LOG.gz") for style in ("level", "universal")
)
COLUMNS = [Column("name"), Column("size", right=True), Column("place", drop=1), Column("text")]
ROWS = [
    ["first", "1 MiB", "on the left side", "a sentence that is longer than the others"],
    ["second", "12 MiB", "right", "short"],
]


@pytest.fixture
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setenv("COLUMNS", str(request.param))
    return int(request.param)


@pytest.mark.parametrize("width", [60, 80, 120], indirect=True)
@pytest.mark.parametrize(
    "command",
    [
        ["knobs"], ["knobs", "tikv"], ["workloads"], ["optimizers"], ["inspect", LEVEL],
        ["inspect", LEVEL, UNIVERSAL], ["tune", "--engine", "simulated", "--dry-run"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_output_fits_the_width(
    width: int, command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if "simulated" in command:
        pytest.importorskip("lsmsim", reason="the native core is not built here")
    monkeypatch.setenv("LSMTUNE_HOME", "home")
    monkeypatch.chdir(tmp_path)
    assert run(command) == 0
    lines = capsys.readouterr().out.splitlines()
    names = {LEVEL, UNIVERSAL}
    too_long = [line for line in lines if len(line) > width and not any(n in line for n in names)]
    assert too_long == []
    assert not any("\x1b" in line or "│" in line or "─" in line for line in lines)


@pytest.mark.parametrize("width", [70], indirect=True)
def test_table_of_a_middle_width_breaks_texts_between_words(width: int) -> None:
    lines = table_lines(COLUMNS, ROWS)
    assert max(map(len, lines)) <= width
    assert len(lines) > 1 + len(ROWS)
    assert "".join("".join(lines).split()).count("sentence") == 1


@pytest.mark.parametrize("width", [46], indirect=True)
def test_narrow_table_leaves_columns_out_and_names_them(width: int) -> None:
    lines = table_lines(COLUMNS, ROWS)
    assert max(map(len, lines)) <= width
    assert "place" not in lines[0]
    assert "46" in lines[-1]
    assert "place" in lines[-1]


@pytest.mark.parametrize("width", [30], indirect=True)
def test_table_that_does_not_fit_becomes_a_list(width: int) -> None:
    lines = table_lines(COLUMNS, ROWS)
    assert max(map(len, lines)) <= width
    text = " ".join(" ".join(lines).split())
    for row in ROWS:
        assert all(cell in text for cell in row)


def test_pipe_without_a_width_has_one_line_per_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = table_lines(COLUMNS, [*ROWS, ["third", "", "", "word " * 200]])
    assert len(lines) == 1 + 3
    assert lines[1].split()[:3] == ["first", "1", "MiB"]


@pytest.mark.parametrize("width", [60], indirect=True)
def test_paths_in_texts_are_not_broken(width: int) -> None:
    path = "folder/" * 10 + "file"
    assert any(line.strip() == path for line in paragraph(f"written to {path}", indent=2))


@pytest.mark.parametrize("width", [60], indirect=True)
def test_facts_of_a_narrow_terminal_are_below_their_labels(width: int) -> None:
    label = "a label that is longer than most labels are"
    assert facts_lines([(label, "text")]) == [label, "  text"]
    assert facts_lines([("a", "text"), ("long", "")]) == ["a     text", "long"]


@pytest.mark.slow
def test_terminal_of_60_columns_gets_lines_of_60_columns() -> None:
    """A real pseudo terminal, without COLUMNS: bold heads, nothing wider than it."""
    code = "from lsmtune.cli.main import main; main()"
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")}
    ours, theirs = pty.openpty()
    subprocess.run(["stty", "cols", "60"], stdin=theirs, check=True)
    running = subprocess.Popen(
        [sys.executable, "-c", code, "optimizers"], stdout=theirs, stdin=theirs,
        stderr=subprocess.PIPE, env=environment | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other side is closed
            break
        if not part:
            break
        text += part
    assert running.wait(timeout=60) == 0
    os.close(ours)
    lines = text.decode().replace("\r", "").splitlines()
    assert "\x1b[1m" in lines[0]
    assert max(len(line) for line in lines if "\x1b" not in line) <= 60


def test_a_cell_of_a_damaged_file_is_cut() -> None:
    columns = [Column("option"), Column("value")]
    whole, cut = table_lines(columns, [["a", "x" * 1900], ["b", "x" * 70_000]])[1:]
    assert whole.count("x") == 1900
    assert cut.count("x") < 3000
    assert cut.endswith("...")
