"""In one tune, each thing is made once."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import pytest

import lsmtune
from lsmtune.cli.main import run
from lsmtune.store.home import Home

pytest.importorskip("lsmsim", reason="the native core is not built here")

SOURCE = Path(lsmtune.__file__).parent
MODEL = ("errors.py", "units.py", "spec.py", "spec_defaults.py", "spaces.py",
         "tables.py", "engine_traits.py", "objective.py", "limits.py", "trials.py",
         "experiment.py", "verdict.py", "knobs/", "workloads/", "metrics/definitions.py",
         "study_keys.py")  # fmt: skip
"""Plain data, which many places read."""
_CODE = 0x2
"""Flag of the code of a function: a class or a module has none."""
_PARTS = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
"""Parts of a function or a module. From Python 3.12 on, most have no call of their own."""


@contextmanager
def profiled() -> Iterator[tuple[Counter[tuple[str, str]], list[str]]]:
    """Count the calls of functions of lsmtune, and list the files until the first run."""
    calls: Counter[tuple[str, str]] = Counter()
    files: dict[str, None] = {}
    began = False

    def see(frame: FrameType, event: str, _: object) -> None:
        nonlocal began
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(SOURCE)):
            return
        if not code.co_flags & _CODE or code.co_name in _PARTS:
            return
        file = str(Path(code.co_filename).relative_to(SOURCE))
        calls[file, code.co_name] += 1
        began = began or (file, code.co_name) == ("engines/simulated/engine.py", "run")
        if not began and not file.startswith(MODEL):
            files.setdefault(file)

    found: list[str] = []
    sys.setprofile(see)
    try:
        yield calls, found
    finally:
        sys.setprofile(None)
        found += files


FLAGS = ["--engine", "simulated", "--num", "20000", "--trials", "8", "--home", "home"]


@pytest.mark.slow
def test_each_thing_is_made_once(
    tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with profiled() as (calls, files):
        assert run(["tune", *FLAGS]) == 0
    assert calls["engines/simulated/engine.py", "describe"] == 1
    assert calls["engines/simulated/engine.py", "base"] == 1
    assert calls["analysis/claim.py", "claim_of"] == 1
    assert calls["analysis/read_study.py", "view_of"] == 1
    # At the scale of the trials, and at full size.
    assert calls["spaces.py", "_space"] <= 2
    assert calls["objective.py", "_parsed"] <= 1
    assert len(files) <= 40


@pytest.mark.slow
def test_a_study_that_goes_on_reads_each_run_once(
    tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["tune", *FLAGS]) == 0
    with profiled() as (calls, _):
        assert run(["tune", *FLAGS]) == 0
    with Home(Path("home"), create=False) as home:
        [name] = home.study_names()
        runs = home.count_runs(home.study(name))
    assert calls["store/records.py", "trial_of"] == runs
    assert calls["spaces.py", "_space"] <= 2
    # To resolve settings, to prepare the study, and to run it.
    assert calls["store/home.py", "_open"] <= 3
    assert calls["analysis/claim.py", "claim_of"] == 1
