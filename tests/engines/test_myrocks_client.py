"""Without the package that speaks to the server, tuning MyRocks is refused before anything runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from lsmtune.cli.main import run


def test_the_missing_package_is_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # As where it is not installed: it is neither found nor imported.
    monkeypatch.setitem(sys.modules, "pymysql", None)
    home = tmp_path / "home"
    assert run(["tune", "--workload", "tpcc", "--trials", "1", "--home", str(home)]) == 2
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert "pip install 'lsmtune[myrocks]'" in line
    assert "Traceback" not in line


def test_the_engine_is_imported_without_the_package() -> None:
    code = "import sys, lsmtune.engines.myrocks.engine; sys.exit('pymysql' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
