"""Children are read on demand, watched, and gone when the block ends."""

import contextlib
import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil
import pytest

from fakes.patience import PATIENCE_S, eventually
from lsmtune.errors import UserError
from lsmtune.system.cancelling import Deadline, ProcessTimeout
from lsmtune.system.process import ChildProcess, NoLine
from lsmtune.units import MIB

LINE = "x" * 63
PRINTED = 2000
PRINTER = f"i=0; while [ $i -lt {PRINTED} ]; do echo {LINE}; i=$((i+1)); echo $i > progress; done"
GATE_BYTES = max(4096, os.sysconf("SC_PAGE_SIZE"))

ORPHAN_MAKER = """
import sys, time
from pathlib import Path
from lsmtune.system.process import ChildProcess
here = Path(sys.argv[1])
with ChildProcess(["sleep", "60"], cwd=here, stdout_path=here / "out", stderr_path=here / "err",
                  env={}) as child:
    print(child.pid, flush=True)
    time.sleep(60)
"""


def start(tmp_path: Path, argv: Sequence[str], **env: str) -> ChildProcess:
    return ChildProcess(
        argv, cwd=tmp_path, stdout_path=tmp_path / "out", stderr_path=tmp_path / "err", env=env
    )


def sh(tmp_path: Path, script: str, **env: str) -> ChildProcess:
    return start(tmp_path, ["sh", "-c", script], **env)


def no_limit() -> Deadline:
    return Deadline(wall_s=PATIENCE_S, silence_s=math.inf)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def settled_progress(tmp_path: Path) -> int:
    """How many lines the printer has got rid of, once that stands still for a moment."""
    progress, last, now = tmp_path / "progress", "", ""
    assert eventually(progress.exists)
    while not now or now != last:
        time.sleep(0.2)
        last, now = now, progress.read_text()
    return int(now)


def test_lines_then_end(tmp_path: Path) -> None:
    with sh(tmp_path, r"printf 'one\n\ntwo\377\nlast'") as child:
        lines = [child.read_line(PATIENCE_S) for _ in range(6)]
    assert lines == ["one", "", "two\N{REPLACEMENT CHARACTER}", "last", NoLine.END, NoLine.END]
    assert (tmp_path / "out").read_bytes() == b"one\n\ntwo\xff\nlast"


def test_lines_are_written_while_the_program_runs(tmp_path: Path) -> None:
    script = "read a; echo got $a; read b; echo ${#b}; read c; echo end$c"
    with ChildProcess(
        ["sh", "-c", script], cwd=tmp_path, has_input=True, env={},
        stdout_path=tmp_path / "out", stderr_path=tmp_path / "err",
    ) as child:  # fmt: skip
        assert child.read_line(0.05) is NoLine.SILENCE
        child.write_line("ümlaut")
        assert child.read_line(PATIENCE_S) == "got ümlaut"
        child.write_line("x" * 300_000)
        assert child.read_line(PATIENCE_S) == "300000"
        child.write_line("")
        assert child.read_line(PATIENCE_S) == "end"
        assert child.wait(PATIENCE_S).returncode == 0
        child.write_line("to a program that has ended")
        assert child.read_line(PATIENCE_S) is NoLine.END


def test_no_line_goes_to_a_program_without_input(tmp_path: Path) -> None:
    with sh(tmp_path, "cat") as child:
        assert child.read_line(PATIENCE_S) is NoLine.END
        with pytest.raises(ValueError, match="has_input"):
            child.write_line("lost")


def test_a_line_longer_than_the_pipe(tmp_path: Path) -> None:
    with sh(tmp_path, "head -c 20000 /dev/zero | tr '\\0' x; echo; echo end") as child:
        assert child.read_line(PATIENCE_S) == "x" * 20000
        assert child.read_line(PATIENCE_S) == "end"


def test_silence_is_told_from_the_end_and_loses_nothing(tmp_path: Path) -> None:
    with sh(tmp_path, "printf half; until [ -e go ]; do sleep 0.02; done; echo ' line'") as child:
        assert child.read_line(0.2) is NoLine.SILENCE
        (tmp_path / "go").touch()
        assert child.read_line(PATIENCE_S) == "half line"


def test_the_gate_holds_the_thread_that_prints(tmp_path: Path) -> None:
    with sh(tmp_path, PRINTER) as child:
        assert settled_progress(tmp_path) <= GATE_BYTES / len(LINE)
        assert child.running
        assert child.read_line(PATIENCE_S) == LINE
        assert settled_progress(tmp_path) <= (GATE_BYTES + 512) / len(LINE)
        assert child.running
        rest = child.drain(no_limit())
        assert child.wait(PATIENCE_S).returncode == 0
    assert rest == [LINE] * (PRINTED - 1)


def test_the_gate_lets_other_threads_go_on(tmp_path: Path) -> None:
    script = (
        "import pathlib, sys, threading, time\n"
        "def work():\n"
        "    for i in range(10**6): pathlib.Path('beat').write_text(str(i)); time.sleep(0.01)\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "print('x' * 100_000, flush=True)\n"
    )
    with start(tmp_path, [sys.executable, "-c", script]) as child:
        beat = tmp_path / "beat"
        assert eventually(lambda: beat.exists() and beat.read_text() > "")
        before = beat.read_text()
        assert eventually(lambda: beat.read_text() not in ("", before))
        assert child.running


def test_both_outputs_are_appended_as_evidence(tmp_path: Path) -> None:
    for word in ("first", "second"):
        with sh(tmp_path, f"echo {word}; echo complaint {word} >&2") as child:
            child.drain(no_limit())
    assert (tmp_path / "out").read_text() == "first\nsecond\n"
    assert (tmp_path / "err").read_text() == "complaint first\ncomplaint second\n"


def test_what_has_been_read_is_on_disk_at_once(tmp_path: Path) -> None:
    with sh(tmp_path, "echo here; sleep 60") as child:
        child.read_line(PATIENCE_S)
        assert (tmp_path / "out").read_text() == "here\n"


def test_surroundings_of_the_child(tmp_path: Path) -> None:
    with sh(tmp_path, 'pwd; echo "$LSMTUNE_TEST $HOME"; wc -c', LSMTUNE_TEST="added") as child:
        here, variables, stdin_bytes = child.drain(no_limit())
        assert os.getsid(child.pid) == os.getpgid(child.pid) == child.pid
    assert Path(here) == tmp_path.resolve()
    assert variables == f"added {os.environ.get('HOME', '')}"
    assert stdin_bytes.strip() == "0"


def test_exit_code_cpu_and_memory(tmp_path: Path) -> None:
    script = "import time\nwhile time.process_time() < 0.2: pass\nraise SystemExit(7)"
    with start(tmp_path, [sys.executable, "-c", script]) as child:
        assert eventually(lambda: child.cpu_s() > 0.05)
        status = child.wait(PATIENCE_S)
        assert child.wait(0) == status
        assert not child.running
        assert child.cpu_s() == status.cpu_s
    assert (status.returncode, status.signal_name) == (7, None)
    assert status.cpu_s > 0.15
    assert status.peak_rss_bytes > 1_000_000


def test_memory_of_lsmtune_is_not_taken_for_the_childs(tmp_path: Path) -> None:
    ballast = b"x" * 100_000_000
    with sh(tmp_path, "echo started; sleep 0.1") as child:
        child.read_line(PATIENCE_S)
        small = child.wait(PATIENCE_S)
    del ballast
    assert 0 < small.peak_rss_bytes < 50_000_000


def test_memory_above_that_of_lsmtune_is_exact(tmp_path: Path) -> None:
    size = psutil.Process().memory_info().rss + 64 * MIB
    with start(tmp_path, [sys.executable, "-c", f"b'x' * {size}"]) as child:
        assert child.wait(PATIENCE_S).peak_rss_bytes > size


def test_an_end_by_signal_is_named(tmp_path: Path) -> None:
    with sh(tmp_path, "kill -ABRT $$") as child:
        status = child.wait(PATIENCE_S)
    assert (status.returncode, status.signal_name) == (-signal.SIGABRT, "SIGABRT")
    with sh(tmp_path, "kill -40 $$") as child:
        assert child.wait(PATIENCE_S).signal_name == "signal 40"


def test_kill_ends_a_child_that_ignores_sigterm(tmp_path: Path) -> None:
    with sh(tmp_path, "trap '' TERM; echo ready; while :; do sleep 0.05; done") as child:
        assert child.read_line(PATIENCE_S) == "ready"
        os.kill(child.pid, signal.SIGTERM)
        with pytest.raises(ProcessTimeout) as timeout:
            child.wait(0.2)
        assert (timeout.value.kind, timeout.value.seconds) == ("wall", 0.2)
        child.kill()
        assert child.wait(PATIENCE_S).signal_name == "SIGKILL"
        child.kill()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_leaving_the_block_takes_the_whole_group(
    tmp_path: Path, error: type[BaseException]
) -> None:
    with (
        contextlib.suppress(error),
        sh(tmp_path, "(trap '' TERM HUP; sleep 60; :) & echo $!; wait") as child,
    ):
        grandchild = int(str(child.read_line(PATIENCE_S)))
        assert alive(grandchild)
        raise error
    assert not alive(grandchild)
    assert not psutil.pid_exists(child.pid)


def test_a_grandchild_does_not_outlive_its_parent(tmp_path: Path) -> None:
    with sh(tmp_path, "sleep 60 & echo $!; exit 3") as child:
        grandchild = int(str(child.read_line(PATIENCE_S)))
        assert child.wait(PATIENCE_S).returncode == 3
        assert not alive(grandchild)


def test_killing_lsmtune_kills_the_child(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ORPHAN_MAKER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as helper:
        assert helper.stdout is not None
        child_pid = int(helper.stdout.readline())
        assert alive(child_pid)
        helper.kill()
        helper.wait()
        assert eventually(lambda: not alive(child_pid))


def test_wall_deadline(tmp_path: Path) -> None:
    chatty = sh(tmp_path, "while echo tick; do sleep 0.02; done")
    with pytest.raises(ProcessTimeout, match=r"0\.3 s") as timeout, chatty as child:
        child.drain(Deadline(wall_s=0.3, silence_s=PATIENCE_S))
    assert (timeout.value.kind, timeout.value.seconds) == ("wall", 0.3)
    assert not alive(chatty.pid)


def test_silence_deadline(tmp_path: Path) -> None:
    quiet = sh(tmp_path, "echo once; sleep 60")
    with pytest.raises(ProcessTimeout, match=r"0\.3 s") as timeout, quiet as child:
        child.drain(Deadline(wall_s=PATIENCE_S, silence_s=0.3))
    assert (timeout.value.kind, timeout.value.seconds) == ("silence", 0.3)


def test_a_sign_of_life_resets_only_the_silence() -> None:
    now_s = [0.0]
    limits = Deadline(wall_s=10, silence_s=3, clock=lambda: now_s[0])
    now_s[0] = 4
    with pytest.raises(ProcessTimeout) as silence:
        limits.check()
    limits.heard()
    limits.check()
    now_s[0] = 10.5
    limits.heard()
    with pytest.raises(ProcessTimeout) as wall:
        limits.check()
    assert (silence.value.kind, wall.value.kind) == ("silence", "wall")


def interrupt_after(calls: int) -> Callable[[object, str, object], None]:
    """A profile function that interrupts once, after so many calls of C functions."""
    left = calls

    def look(frame: object, event: str, called: object) -> None:
        nonlocal left
        if event == "c_return":
            left -= 1
            if left == 0:
                raise KeyboardInterrupt

    return look


def test_an_interruption_while_it_waits_leaves_nothing(tmp_path: Path) -> None:
    """A signal is handled between two calls: here after the 1st, the 2nd and so on of `wait`."""
    for calls in itertools.count(1):
        with sh(tmp_path, "exit 3") as child:
            ended = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
            sys.setprofile(interrupt_after(calls))
            try:
                child.wait(PATIENCE_S)
                interrupted = False
            except KeyboardInterrupt:
                interrupted = True
            finally:
                sys.setprofile(None)
        assert ended is not None
        assert not child.running
        assert child.wait(PATIENCE_S).returncode == 3
        assert psutil.Process().children() == []
        if not interrupted:
            break
    assert calls > 5


def test_nothing_leaks_over_many_runs(tmp_path: Path) -> None:
    with sh(tmp_path, ":") as child:
        child.drain(no_limit())
    before = psutil.Process().num_fds()
    for run in range(50):
        with sh(tmp_path, "echo out; echo err >&2") as child:
            if run % 2:
                child.drain(no_limit())
    with pytest.raises(UserError):
        start(tmp_path, ["no-such-program"])
    assert psutil.Process().num_fds() == before
    assert psutil.Process().children() == []


def test_a_program_that_cannot_start_is_the_users_to_mend(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("just words\n")
    no_interpreter = tmp_path / "script"
    no_interpreter.write_text("#!/no/such/interpreter\n")
    runnable_text = tmp_path / "runnable.txt"
    runnable_text.write_text("just words\n")
    for path in (no_interpreter, runnable_text):
        path.chmod(0o755)
    cases = {
        tmp_path / "missing": "does not exist",
        text: "not executable",
        tmp_path: "not executable",
        runnable_text: "not a program",
        no_interpreter: "interpreter",
    }
    for program, reason in cases.items():
        with pytest.raises(UserError, match=reason) as error:
            start(tmp_path, [str(program)])
        assert str(program) in str(error.value)


def test_a_missing_directory_is_not_blamed_on_the_program(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        ChildProcess(
            ["true"],
            cwd=tmp_path / "nowhere",
            stdout_path=tmp_path / "out",
            stderr_path=tmp_path / "err",
            env={},
        )
