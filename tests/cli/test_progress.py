"""Progress of long work, and what is said of the baseline: always on standard error."""

import threading
from pathlib import Path

import pytest

from fakes.patience import eventually
from fakes.studies import open_study
from lsmtune.cli.progress import TerminalObserver
from lsmtune.knobs.types import Config
from lsmtune.progress import Event
from lsmtune.report.text.baseline_text import baseline_lines
from lsmtune.report.text.run_text import RunTexts
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.runner import Task
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, Protocol, Role, TrialSpec
from lsmtune.workloads import Workload


def test_work_in_a_pipe_prints_a_line_per_phase(capsys: pytest.CaptureFixture[str]) -> None:
    printed = ""

    def is_shown() -> bool:
        nonlocal printed
        printed += capsys.readouterr().err
        return printed != ""

    with TerminalObserver().working("reading", delay_s=0.05) as show:
        assert eventually(is_shown)
        show("reading")
        show("fitting")
    out, err = capsys.readouterr()
    assert (out, (printed + err).splitlines()) == ("", ["reading", "fitting"])


def test_quick_work_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with TerminalObserver().working("reading") as show:
        show("fitting")
    assert capsys.readouterr() == ("", "")


def test_failed_work_ends_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    threads = set(threading.enumerate())  # threads of other tests may end meanwhile
    with pytest.raises(ValueError, match="wrong"), TerminalObserver().working("reading"):
        raise ValueError("wrong")
    assert eventually(lambda: threads.issuperset(threading.enumerate()))  # nothing prints any more
    assert capsys.readouterr() == ("", "")


def test_study_in_a_pipe_prints_a_line_per_phase_and_trial(
    tmp_path: Path, own_host: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = StudySettings(
        study="s", optimizer="random", trials=2, base_runs=2, finalists=1, repeats=1, pairs=0
    )
    engine = ScriptedEngine(lambda _: measured(write_amp=2.0))
    with (
        Home(tmp_path / "home", create=True) as home,
        TerminalObserver().running(spec) as listener,
        open_study(home, spec, engine, listener) as study,
    ):
        run_search(study)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    phases = [line for line in lines if line.startswith("study s: ")]
    assert len(phases) == len(set(phases)) >= 2
    assert lines[0] == phases[0]
    assert sum("write_amp 2" in line for line in lines) >= 4
    assert "\x1b" not in err


def test_continued_search_compares_with_the_baseline_of_the_first_call(
    tmp_path: Path, own_host: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = ScriptedEngine(lambda _: measured(write_amp=2.0))
    for trials in (1, 3):
        spec = StudySettings(study="s", optimizer="random", objective="write_amp", trials=trials,
                         base_runs=2, finalists=1, repeats=0, pairs=0)  # fmt: skip
        capsys.readouterr()
        with (
            Home(tmp_path / "home", create=True) as home,
            TerminalObserver().running(spec) as listener,
            open_study(home, spec, engine, listener) as study,
        ):
            listener.recall(study.trials())
            run_search(study)
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("search ")]
    assert len(lines) == 2
    assert all(" 1.00 " in line and "best" in line for line in lines)
    assert all(line.count("write_amp") == 1 for line in lines)


def event(
    number: int, host: str, phase: str = "run", role: Role = Role.TRIAL, **fields: object
) -> Event:
    spec = TrialSpec(settings={}, workload=Workload(), protocol=Protocol(), seed=1)
    task = Task(f"search {number} of 99", role, Config({}), spec)
    return Event(task, phase, host=host, **fields)  # type: ignore[arg-type]


def test_hosts_that_measure_the_baseline_among_trials_print_each_phase_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    spec = StudySettings(study="s", objective="write_amp")
    with TerminalObserver().running(spec) as listener:
        for number in range(6):
            for role in (Role.BASE, Role.TRIAL, Role.REPEAT):
                listener(event(number, f"host-{number % 2:08}", role=role))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(set(lines)) == 3


def test_terminal_shows_which_run_is_on_which_host() -> None:
    texts = RunTexts(StudySettings(study="s", objective="write_amp"))
    long = "ip-10-0-13-24.eu-central-1.compute.internal"
    texts.on_hosts(event(1, f"{long}-00000001"))
    texts.on_hosts(event(2, f"{long}-00000002"))
    lines = texts.on_hosts(event(3, f"{long}-00000003"))
    assert [line.split("  ")[1] for line in lines] == [f"search {n} of 99" for n in (1, 2, 3)]
    assert ["00000001" in line for line in lines] == [True, False, False]
    assert all(len(line) < 58 for line in lines)
    # A lost attempt is one line, and its host runs nothing.
    name = f"{long}-00000002"
    gone = event(2, name, f"search 2 of 99: lost, host {name} left")
    assert len(texts.remark(gone)) < 60
    assert len(texts.on_hosts(gone)) == 2
    # A result that another host was to measure too ends both.
    texts.on_hosts(event(1, name))
    lines = texts.on_hosts(event(1, f"{long}-00000001", "done", result=measured(write_amp=2.0)))
    assert [line.split("  ")[1] for line in lines] == ["search 3 of 99"]


def test_terminal_shows_few_lines_for_many_hosts() -> None:
    texts = RunTexts(StudySettings(study="s", objective="write_amp"))
    for number in range(30):
        lines = texts.on_hosts(event(number, f"host-{number:08}"))
    assert len(lines) == 9
    assert "22" in lines[-1]


OPTIONS = tuple(f"option_{number} = 1: unknown" for number in range(56))


def test_options_that_are_left_out_are_one_line_with_their_number() -> None:
    base = Base(options="", settings={}, notes=("the version",), left_out=OPTIONS)
    lines = baseline_lines(base, verbose=False)
    assert lines[0] == "the version"
    assert len(lines) == 2
    assert "56" in lines[1]
    assert "--verbose" in lines[1]


def test_verbose_lists_the_options_that_are_left_out() -> None:
    base = Base(options="", settings={}, left_out=OPTIONS)
    lines = baseline_lines(base, verbose=True)
    assert [line.strip() for line in lines[1:]] == list(OPTIONS)
    assert baseline_lines(Base(options="", settings={}), verbose=True) == []
