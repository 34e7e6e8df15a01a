"""`lsmtune compare` from its flags to page and JSON, and what it refuses."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from fakes.entries import replaced
from fakes.patience import eventually
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role

LIMITS = ("live_sst_bytes", "get_p99_us", "get_missing_p99_us", "scan_p99_us")
LIFTED = [part for name in LIMITS for part in ("--limit", f"{name} <= none")]


@pytest.mark.slow
def test_a_comparison_on_the_model_gives_page_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Again it runs nothing, or only searches that were cut off, and tells the same."""
    page = tmp_path / "page.html"
    asked = ["compare", "random", "genetic", "--trials", "3", "--repeats", "2",
             "--objective", "write_amp", *LIFTED, "--home", str(tmp_path / "home"),
             "-o", str(page), "--json"]  # fmt: skip
    assert run(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["optimizers"].keys() == {"random", "genetic"}
    for row in found["optimizers"].values():
        assert row["repeats"] == 2
        assert row["best_at"].keys() == {"3"}
    assert "genetic" in page.read_text()
    assert run(asked) == 0
    assert json.loads(capsys.readouterr().out) == found
    (kept,) = (tmp_path / "home" / "results").glob("*.jsonl")
    whole = kept.read_text()
    kept.write_text(whole[:-20])
    assert run(asked) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert sorted(kept.read_text().splitlines()) == sorted(whole.splitlines())


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["annealing"], "'annealing'"),
        (["random", "random"], "twice"),
        (["random", "--reference", "tpe"], "--reference: unknown optimizer 'tpe'"),
        (["random", "--knobs", "core"], "--knobs: allowed only with --real"),
        (["random", "--num", "5000"], "--num: allowed only with --real"),
        (["random", "--objective", "stall_s"], "stall_s is 0 "),
        (["gp-ucb:ucb=-1"], "ucb: invalid value '-1'"),
        (["gp-ucb:nu=2"], "'nu'; available: ucb, schedule, start"),
        (["tpe:ucb=2"], "gp-ucb"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], words: str
) -> None:
    assert run(["compare", *flags, "--trials", "2", "--repeats", "1",
                "--home", str(tmp_path / "home")]) == 2  # fmt: skip
    told = capsys.readouterr().err.splitlines()[-1]
    assert words in told


def test_on_the_engine_the_study_file_tells_what_is_searched(
    tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = ScriptedEngine(lambda _: measured(get_p99_us=10.0, throughput_ops_s=1000.0))
    monkeypatch.setitem(ENGINES, "rocksdb", replaced("rocksdb", lambda _: engine))
    file, home = tmp_path / "study.toml", tmp_path / "home"
    file.write_text(
        'program = "db_bench"\nbudget = "1m"\nuntil = "stable"\n'
        '[workload]\nname = "readrandom"\nnum = 5000\n'
    )
    assert run(["compare", "tpe", "random", "--real", "--study-file", str(file), "--trials", "2",
                "--repeats", "2", "--home", str(home)]) == 0  # fmt: skip
    with Home(home, create=False) as opened:
        asked = [StudySettings(**opened.study(name).spec) for name in opened.study_names()]
        trials = [opened.trials(opened.study(name)) for name in opened.study_names()]
    assert {(s.optimizer, s.seed, s.trials, s.budget, s.until) for s in asked} == {
        (name, seed, 2, None, None) for seed in (1, 2) for name in ("tpe", "random")
    }
    assert {s.workload.name for s in asked} == {"readrandom"}
    assert [len([t for t in of if t.role is Role.TRIAL]) for of in trials] == [2] * 4


@pytest.mark.usefixtures("fake_db_bench")
@pytest.mark.parametrize(
    ("name", "told"), [("gp-ucb", "gp-ucb-autotikv"), ("genetic", "genetic-jin2022")]
)
def test_as_published_is_the_papers_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    flags = ["--as-published", "--dry-run", "--json", "--home", str(tmp_path)]
    assert run(["tune", "--optimizer", name, *flags]) == 0
    assert json.loads(capsys.readouterr().out)["optimizer"] == told
    assert run(["tune", *flags]) == 2


def ctrl_c_works() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.mark.slow
def test_ctrl_c_in_a_terminal_ends_all_searches_quietly(tmp_path: Path) -> None:
    """There it reaches the whole group: the workers, too."""
    with subprocess.Popen(
        [sys.executable, "-c", "from lsmtune.cli.main import main; main()", "compare", "gp-ucb",
         "--trials", "500", "--repeats", "2", "--home", str(tmp_path / "home")],
        stderr=subprocess.PIPE, text=True, start_new_session=True, preexec_fn=ctrl_c_works,  # noqa: PLW1509 - no threads here
    ) as running:  # fmt: skip
        parent = psutil.Process(running.pid)
        assert eventually(lambda: any(c.cpu_times().user > 1 for c in parent.children()))
        workers = parent.children()
        os.killpg(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert err.splitlines()[-1].startswith("lsmtune: interrupted")
    assert "Traceback" not in err
    assert not [worker for worker in workers if worker.is_running()]
