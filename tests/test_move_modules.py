"""The script that moves modules: imports, uses and names follow."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("libcst", reason="only developers have it")
sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

from move_modules import main, read_moves, rewritten

MOVES = read_moves(
    """
    lsmtune.cli.choosing        lsmtune.api.rocksdb_version   # a module
    lsmtune.old                 lsmtune.new                   # a package
    lsmtune.cli.same            lsmtune.cli.other
    lsmtune.cli.common:note     lsmtune.cli.output:remark
    lsmtune.spec:StudySpec      lsmtune.spec:StudySettings
    """
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from lsmtune.cli import choosing\nchoosing.f()\n",
         "from lsmtune.api import rocksdb_version\nrocksdb_version.f()\n"),
        ("from lsmtune.cli import same as s\n", "from lsmtune.cli import other as s\n"),
        ("import lsmtune.cli.choosing as c\n", "import lsmtune.api.rocksdb_version as c\n"),
        ("from lsmtune.old.a import b\n", "from lsmtune.new.a import b\n"),
        ("from lsmtune.cli.common import note\nnote(note=1)\nx.note\n",
         "from lsmtune.cli.output import remark\nremark(note=1)\nx.note\n"),
        ("from lsmtune.cli.common import note as n\nn()\n",
         "from lsmtune.cli.output import remark as n\nn()\n"),
        ("from lsmtune.spec import StudySpec\ndef f(a: 'StudySpec'): ...\n",
         "from lsmtune.spec import StudySettings\ndef f(a: 'StudySettings'): ...\n"),
        ("patch('lsmtune.cli.choosing.f')\n", "patch('lsmtune.api.rocksdb_version.f')\n"),
        ("patch('lsmtune.cli.common.note')\n", "patch('lsmtune.cli.output.remark')\n"),
        ("from lsmtune.cli import choosing\ndef f():\n    choosing = 1\n    g(choosing)\n",
         "from lsmtune.api import rocksdb_version\ndef f():\n    choosing = 1\n    g(choosing)\n"),
        ("from lsmtune.cli import choosing\nd['choosing']\n",
         "from lsmtune.api import rocksdb_version\nd['choosing']\n"),
        ("from lsmtune.cli.choosing_more import x\n", "from lsmtune.cli.choosing_more import x\n"),
    ],
)  # fmt: skip
def test_imports_and_uses_follow(before: str, after: str) -> None:
    assert rewritten(before, MOVES) == after


def test_the_definition_of_a_renamed_class_follows() -> None:
    source = "class StudySpec: ...\nx = StudySpec()\n"
    renamed = source.replace("StudySpec", "StudySettings")
    assert rewritten(source, MOVES, "lsmtune.spec") == renamed
    assert rewritten(source, MOVES, "lsmtune.other") == source


@pytest.mark.parametrize("table", ["lsmtune.a", "lsmtune.a lsmtune.b:c", "a b c"])
def test_a_line_that_is_no_move_is_refused(table: str) -> None:
    with pytest.raises(ValueError, match="OLD NEW"):
        read_moves(table)


def test_files_are_moved(tmp_path: Path) -> None:
    old = tmp_path / "src/lsmtune/cli/choosing.py"
    old.parent.mkdir(parents=True)
    old.write_text("X = 1\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/test_it.py").write_text("from lsmtune.cli.choosing import X\n")
    (tmp_path / "table").write_text("lsmtune.cli.choosing lsmtune.api.rocksdb_version\n")
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    main([str(tmp_path / "table"), "--root", str(tmp_path)])
    assert not old.exists()
    assert (tmp_path / "src/lsmtune/api/rocksdb_version.py").read_text() == "X = 1\n"
    test = (tmp_path / "tests/test_it.py").read_text()
    assert test == "from lsmtune.api.rocksdb_version import X\n"
