"""`lsmtune hosts` and `lsmtune worker`."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from fakes.patience import PATIENCE_S, eventually
from lsmtune.cli.main import run
from lsmtune.hosts import extra
from lsmtune.system.launch import Streams, start

PROGRAM = [
    sys.executable, "-c",
    # A shell in the background, and so its children, ignore Ctrl-C.
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from lsmtune.cli.start import main; main()",
]  # fmt: skip


@pytest.fixture
def keys(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run(["hosts", "init", str(tmp_path / "keys")]) == 0
    capsys.readouterr()
    return tmp_path / "keys"


def test_init_and_renew_say_where_the_files_go(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "keys"
    for action in ("init", "renew"):
        assert run(["hosts", action, str(folder)]) == 0
        text = capsys.readouterr().out
        assert str(folder) in text
        assert "worker-key.pem" in text
    assert run(["hosts", "renew", str(folder), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["folder"] == str(folder)
    assert sorted(document) == ["expires", "folder"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["hosts", "halt"], ["halt", "init"]),
        (["hosts", "init"], ["folder"]),
        (["hosts", "list"], ["address"]),
        (["hosts", "start"], ["--listen"]),
        (["hosts", "start", "tls://10.0.0.1:1"], ["--listen"]),
        (["hosts", "list", "tls://10.0.0.1:1", "--listen", "x"], ["--listen"]),
        (["hosts", "list", "10.0.0.1:1"], ["tls://10.0.0.1:8786"]),
        (["hosts", "list", "tls://10.0.0.1:1"], ["--certificates"]),
        (["hosts", "list", "tls://10.0.0.1:1", "--certificates"], ["--certificates: ", "DIR"]),
        (["hosts", "start", "--listen", "--certificates", "k"], ["--listen: ", "ADDRESS"]),
        (["worker", "tls://10.0.0.1:x", "--certificates", "k"], ["tls://10.0.0.1:x", "port 'x'"]),
        (["hosts", "list", "tcp://nosuch.invalid:1"], ["tcp://nosuch.invalid:1", "unknown host"]),
        (["hosts", "start", "--listen", "tcp://10.0.0.1:1"], ["--certificates"]),
        (["hosts", "start", "--listen", "tcp://8.8.8.8:1", "--insecure"], ["private"]),
        (["worker", "tcp://10.0.0.1:1"], ["--certificates"]),
        (["worker", "tcp://127.0.0.1:1", "--orphan", "5s"], ["--orphan", "60s"]),
        (["worker", "tcp://127.0.0.1:1", "--orphan", "x"], ["orphan", "'x'"]),
        (["worker", "tls://127.0.0.1:1", "--certificates", "/nowhere"], ["ca.pem", "init"]),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert all(word in line for word in words), line


@pytest.mark.parametrize(
    "arguments",
    [["hosts", "init", "keys"], ["hosts", "list", "tcp://127.0.0.1:1"],
     ["hosts", "start", "--listen", "tcp://127.0.0.1:1"], ["worker", "tcp://127.0.0.1:1"]],
)  # fmt: skip
def test_without_the_extra_the_command_names_it(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extra, "find_spec", lambda _: None)
    assert run(arguments) == 2
    assert "pip install 'lsmtune[hosts]'" in capsys.readouterr().err


def test_help_and_import_need_no_dask() -> None:
    code = (
        "import sys, lsmtune, lsmtune.cli.main as m; m.run(['--help']); m.run(['hosts', '--help']);"
        "sys.exit(any(n in sys.modules for n in ('distributed', 'dask', 'cryptography')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0


@contextmanager
def program(folder: Path, name: str, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run lsmtune with its output in a file of this name; it ends with the block."""
    log = folder / name
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with Path(os.devnull).open("rb") as nothing, log.open("ab") as output:
        process = start([*PROGRAM, *arguments], folder, env, Streams(nothing, output, output))  # type: ignore[arg-type]
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def listens(pid: int) -> set[str]:
    """The addresses at which a process listens."""
    found = psutil.Process(pid).net_connections("inet")
    return {each.laddr.ip for each in found if each.status == psutil.CONN_LISTEN}


@pytest.mark.slow
def test_a_worker_appears_in_the_list_and_both_end_politely(
    keys: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listen = ("hosts", "start", "--listen", "tls://127.0.0.1:0", "--certificates", str(keys))
    scheduler_log, worker_log = tmp_path / "scheduler", tmp_path / "worker"
    with program(tmp_path, "scheduler", *listen) as scheduler:
        assert eventually(lambda: "dashboard" in scheduler_log.read_text())
        first, *_ = scheduler_log.read_text().splitlines()
        address = first.removeprefix("scheduler: ")
        flags = ["--certificates", str(keys)]
        assert run(["hosts", "list", address, *flags]) == 0
        assert "no host" in capsys.readouterr().out
        with program(tmp_path, "worker", "worker", address, *flags, "--home", "w") as worker:
            assert eventually(lambda: "connected" in worker_log.read_text())
            assert run(["hosts", "list", address, *flags, "--json"]) == 0
            document = json.loads(capsys.readouterr().out)
            (info,) = document["hosts"]
            assert info["problem"] is info["running"] is None
            assert info["host"] == (tmp_path / "w" / "host-id").read_text()
            assert document["warnings"] == document["differing_settings"] == []
            assert run(["hosts", "list", address, *flags]) == 0
            assert info["host"] in capsys.readouterr().out
            # Nothing but this machine can reach a port of theirs.
            assert listens(scheduler.pid) == listens(worker.pid) == {"127.0.0.1"}
            worker.send_signal(signal.SIGINT)
            assert worker.wait(PATIENCE_S) == 0
        scheduler.send_signal(signal.SIGTERM)
        assert scheduler.wait(PATIENCE_S) == 0
    assert "Traceback" not in scheduler_log.read_text() + worker_log.read_text()
