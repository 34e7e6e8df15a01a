"""The program as a whole: help by topic, version, completion, the nearest word for a wrong one."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from fakes.fake_db_bench import install
from fakes.forks import Program
from fakes.libraries import put
from lsmtune import __version__
from lsmtune.cli.main import app, run

TOPICS = ["Tune", "Understand a LOG", "Study", "Predict", "Compare", "Set up"]
COMMANDS = [
    "tune", "show", "trials", "studies", "rename", "delete", "verify", "simplify", "report",
    "export", "rehearse", "inspect", "screen", "importance", "sweep", "reproduce",
    "simulate", "compare", "doctor", "engines", "knobs", "workloads", "optimizers", "hosts",
    "worker", "schema",
]  # fmt: skip


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run([*arguments]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


def test_program_without_arguments_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {printed(capsys, *arguments) for arguments in ([], ["-h"], ["--help"])}
    assert len(texts) == 1


def test_help_lists_each_command_once_below_its_topic(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys)
    topics = [line[:-1] for line in text.splitlines() if re.fullmatch(r"\S.*:", line)]
    assert topics == ["Options", *TOPICS]
    assert re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE) == COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_have_a_short_flag_for_help(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert printed(capsys, command, "-h") == printed(capsys, command, "--help")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_help_fits_the_terminal(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for command in ([], *([name] for name in COMMANDS)):
        assert max(map(len, printed(capsys, *command, "-h").splitlines())) <= width


def test_version_names_lsmtune_simulator_and_rocksdb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "db_bench"
    program.write_text("#!/bin/sh\necho db_bench version 9.8.7\n")
    program.chmod(0o755)
    monkeypatch.setenv("LSMTUNE_DB_BENCH", str(program))
    lines = printed(capsys, "--version").splitlines()
    assert lines[0].split() == ["lsmtune", __version__]
    assert lines[1].startswith("simulator ")
    assert lines[2].startswith("RocksDB ")
    assert lines[3].split() == ["db_bench", "9.8.7", f"({program})"]


def test_version_names_the_library_of_rocksdb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("LSMTUNE_DB_BENCH", "nonesuch")
    _, usual = put(tmp_path, "8.10.2", "11.8.1")
    lines = printed(capsys, "--version").splitlines()
    assert len(lines) == 3  # there is no db_bench
    record = usual.record
    named = (record.version, record.source, record.sha256[:12], str(usual.folder))
    assert all(word in lines[2] for word in named), lines[2]
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "60")
    folder = f"(~/{usual.folder.relative_to(tmp_path)})"
    narrow = printed(capsys, "--version").splitlines()
    assert folder in [line.strip() for line in narrow]
    assert max(map(len, narrow)) <= 60
    monkeypatch.delenv("COLUMNS")
    (usual.folder / "engine.json").write_text("{}")
    assert str(usual.folder) in printed(capsys, "--version").splitlines()[2]


@pytest.mark.parametrize(
    ("text", "expected"), [(None, "not found"), ("#!/bin/sh\nexit 3\n", "unknown version")]
)
def test_version_without_a_working_db_bench_does_not_fail(
    text: str | None, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    program = tmp_path / "db_bench"
    if text is not None:
        program.write_text(text)
        program.chmod(0o755)
    monkeypatch.setenv("LSMTUNE_DB_BENCH", str(program))
    assert expected in printed(capsys, "--version").splitlines()[3]


def test_version_without_the_simulator_does_not_fail(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "not built" in printed(capsys, "--version").splitlines()[1]


@pytest.mark.parametrize(
    ("arguments", "wrong", "near"),
    [
        (["inspct"], "inspct", "inspect"),
        (["--hlep"], "--hlep", "--help"),
        (["trials", "s", "--jsn"], "--jsn", "--json"),
        (["tune", "--bugdet", "3m"], "--bugdet", "--budget"),
        (["reproduce", "sst-sice"], "sst-sice", "sst-size"),
        (["compare", "tpe", "random", "--reference", "randon"], "randon", "random"),
        (["simulate", "--set", "blok_size=4KiB"], "blok_size", "block_size"),
        (["simulate", "--set", "compaction_style=univrsal"], "univrsal", "universal"),
    ],
)
def test_wrong_word_is_answered_with_the_nearest(
    arguments: list[str], wrong: str, near: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(rf"{wrong!r}.*{near!r}\?", err)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("lsmtune insp", ["inspect"]),
        ("lsmtune tune --bud", ["--budget"]),
        ("lsmtune export s --format my", ["my.cnf"]),
    ],
)
def test_shell_completes_commands_flags_and_values(
    words: str, completed: list[str], tmp_path: Path
) -> None:
    place = len(words.split()) - 1
    environment = os.environ | {
        "_LSMTUNE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(place),
    }  # fmt: skip
    out, err = Program([], tmp_path, environment).communicate()
    assert (out.split(), err) == (completed, "")


def test_completion_script_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "bash"))
    with pytest.raises(SystemExit) as ended:
        run(["--show-completion"])
    assert ended.value.code == 0
    assert "_LSMTUNE_COMPLETE" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--help"], ["tune", "--help"], ["inspect", "-h"]])
def test_help_imports_no_slow_module(arguments: list[str]) -> None:
    """Otherwise it would take longer than the 0.3 s that users wait for it."""
    slow = ["numpy", "pydantic", "rich", "scipy", "plotly", "lsmtune.spec", "lsmtune.workloads",
            "lsmtune.engines", "lsmtune.optimizers", "importlib.metadata"]  # fmt: skip
    code = (
        f"import sys\nfrom lsmtune.cli.main import run\nrun({arguments})\n"
        f"print([name for name in {slow} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_fake_db_bench_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path is shown as an absolute one."""
    install(tmp_path / "bin")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LSMTUNE_DB_BENCH", "bin/db_bench")
    line = printed(capsys, "--version").splitlines()[3]
    assert f"({tmp_path / 'bin' / 'db_bench'})" in line


@pytest.mark.parametrize("name", ["compare", "report", "export", "show"])
def test_a_missing_argument_is_named_as_in_the_usage(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    missing = re.search(r"the (?:argument|option) (\S+) is missing; (?!/)", line)
    assert missing is not None, line
    assert missing[1] in printed(capsys, name, "-h")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_option_without_its_value_is_named(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined]
    context = usage.make_context(command, [], resilient_parsing=True)
    for option in usage.get_params(context):
        if option.param_type_name != "option" or option.is_flag:
            continue
        for after in ([], ["--help"]):
            assert run([command, option.opts[0], *after]) == 2
            out, err = capsys.readouterr()
            assert out == ""
            assert err.startswith(f"lsmtune: {option.opts[0]}: ")
            assert err.count("\n") == 1


def test_a_value_may_look_like_no_option_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["show", "--home", str(tmp_path / "--trial"), "--trial", "-1", "s"]) == 2
    assert "the value is missing" not in capsys.readouterr().err
