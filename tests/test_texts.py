"""One text of each kind that users read, kept in tests/texts and reviewed as a diff.

`pytest tests/test_texts.py --write-texts` writes all files again. A changed text is no mistake:
read the diff as a new user would, and commit it together with the change.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes.made_home import enter_home
from fakes.visible_text import visible_texts
from lsmtune.cli.main import run

ROOT = Path(__file__).parents[1]
TEXTS = Path(__file__).parent / "texts"
LOG = str(ROOT / "examples" / "LOG.gz")
OPTIONS = ["export", "verified", "--format", "options"]
ERRORS: dict[str, list[str]] = {
    "unknown command": ["verfy"],
    "unknown flag": ["show", "verified", "--jsn"],
    "missing argument": ["show"],
    "number out of range": ["tune", "--trials", "0"],
    "unknown metric": ["tune", "--objective", "write_ampl"],
    "malformed constraint": ["tune", "--limit", "write_amp < 3"],
    "malformed size": ["tune", "--memory", "64MiBB"],
    "unknown key in a study file": ["tune", "key.toml"],
    "wrong type in a study file": ["tune", "type.toml"],
    "unknown study": ["show", "verifed"],
    "unknown trial": ["show", "verified", "--trial", "999"],
    "format of another engine": ["export", "verified", "--format", "my.cnf"],
    "missing program": ["tune", "--db-bench", "no/db_bench"],
    "not a LOG": ["inspect", "text"],
    "missing file": ["tune", "missing.toml"],
    "file that is kept": ["report", "verified", "-o", "folder"],
}
"""Command lines that end with one message, by the kind of mistake."""
ESCAPE = re.compile(r"\x1b|\x9b")


@pytest.fixture(autouse=True)
def place(made_home: Path, tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Enter the folder of a user, with 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return enter_home(made_home, tmp_path / "place", monkeypatch)


@pytest.fixture(name="check")
def _check(request: pytest.FixtureRequest) -> Any:
    """Compare a text with its file; write the file with `--write-texts`."""

    def check(name: str, text: str) -> None:
        assert not ESCAPE.search(text)
        assert str(ROOT) not in text
        assert str(Path.cwd()) not in text
        path = TEXTS / f"{name}.txt"
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--write-texts"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert text == path.read_text(encoding="utf-8"), f"{path.name} differs; see --write-texts"

    return check


def _output(capsys: pytest.CaptureFixture[str], *command: str) -> str:
    """Run one command line that succeeds; return its output."""
    code = run([*command])
    out, err = capsys.readouterr()
    assert code == 0, err
    return out


@pytest.mark.parametrize("columns", ["80", "60"])
@pytest.mark.parametrize("study", ["verified", "finished"])
def test_summary(
    check: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    study: str,
    columns: str,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    check(f"summary-{study}-{columns}", _output(capsys, "show", study))


def test_page(check: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _output(capsys, "report", "verified", "-o", "page.html")
    check("page", "\n".join(visible_texts(Path("page.html").read_text())))


@pytest.mark.parametrize("flags", [[], ["--back"]], ids=["deploy", "undo"])
def test_export(check: Any, capsys: pytest.CaptureFixture[str], flags: list[str]) -> None:
    lines = _output(capsys, *OPTIONS, *flags).splitlines()
    name = "export-undo" if flags else "export-deploy"
    check(name, "\n".join(line for line in lines if line.startswith("#")))


@pytest.mark.parametrize("command", [[], ["tune"]], ids=["lsmtune", "tune"])
def test_help(check: Any, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    check("-".join(["help", *command]), _output(capsys, *command, "--help"))


def test_findings(
    check: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    check("findings", _output(capsys, "inspect", "examples/LOG.gz"))


def test_errors(check: Any, capsys: pytest.CaptureFixture[str]) -> None:
    Path("text").write_text("hello\n")
    Path("key.toml").write_text("trails = 3\n")
    Path("type.toml").write_text('trials = "many"\n')
    Path("folder").mkdir()
    parts = []
    for kind, command in ERRORS.items():
        code = run(command)
        out, err = capsys.readouterr()
        assert (code, out) == (2, ""), command
        message = err.replace(str(Path.cwd()), "/place")
        parts.append(f"# {kind}\n$ lsmtune {' '.join(command)}\n{message}")
    check("errors", "\n".join(parts))


PIPED = [["--help"], ["show", "verified"], OPTIONS, ["inspect", LOG], ["shwo"]]
RUN_ALL = """\
import json, sys
from lsmtune.cli.main import run
for command in json.loads(sys.argv[1]):
    run(command)
    print("\f", end="")
"""


def test_output_in_a_pipe_has_no_escape_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL, json.dumps(PIPED)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    *outputs, of_error, rest = done.stdout.split("\f")
    assert (len(outputs), of_error, rest) == (len(PIPED) - 1, "", "")
    assert all(outputs)
    assert done.stderr
    assert not ESCAPE.search(done.stdout + done.stderr)
