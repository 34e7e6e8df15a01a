"""Wrong input ends with the exit code of the record, one line for the user and no traceback."""

import json
from pathlib import Path
from typing import Any

import pytest
from contract_record import FOLDER

from lsmtune.cli.main import run

RECORD: dict[str, Any] = json.loads((FOLDER / "exit_codes.json").read_text())
CASES: list[dict[str, Any]] = RECORD["cases"]


def _prepare() -> None:
    for name, text in RECORD["files"].items():
        Path(name).write_text(text)
    Path("text").write_text("hello\n")
    Path("garbage").write_bytes(b"\xff\xfe\x00" * 50)
    Path("foreign").mkdir()
    Path("foreign/mine.txt").write_text("not yours\n")
    Path("corrupt").mkdir()
    Path("corrupt/lsmtune.sqlite3").write_text("not a database\n" * 100)


@pytest.mark.slow
def test_wrong_input_has_the_exit_codes_of_the_record(
    place: Path, capsys: pytest.CaptureFixture[str], write: bool
) -> None:
    _prepare()
    found = []
    for case in CASES:
        code = run(case["command"])
        out, err = capsys.readouterr()
        assert out == "", case
        assert "Traceback" not in err, case
        message = err.splitlines()[-1]
        assert message.startswith("lsmtune: "), case
        found.append({"command": case["command"], "exit_code": code})
    if write:
        text = json.dumps({"files": RECORD["files"], "cases": found}, indent=1)
        (FOLDER / "exit_codes.json").write_text(text + "\n")
    else:
        assert found == CASES
    assert len(found) >= 60
    assert Path("foreign/mine.txt").read_text() == "not yours\n"
