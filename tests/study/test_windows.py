"""The course of the window of a running store: from the runs of a study to its page."""

import json
import re
from typing import Any

import pytest

from fakes.studies import open_study
from fakes.visible_text import visible_texts
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.metrics.measurement import Moment
from lsmtune.report.page import render_page
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec
from lsmtune.units import MIB

SPEC = StudySettings.model_validate(
    {
        "study": "s", "trials": 3, "base_runs": 2, "finalists": 1, "repeats": 1,
        "knobs": "block_size", "optimizer": "random", "objective": "write_amp",
        "workload": {"num": 100_000},
    }
)  # fmt: skip
SECOND = (1.0, 2.0, 3.0, 3.75, 4.5, 5.25, 6.0)
"""Half of the time has three moments, the other half four."""


class Script:
    """A small block costs bytes. The n-th run has 2 n files in level 0, and none after 3 s."""

    def __init__(self, *, windows: bool = True, winner_mb_s: float = 24.0) -> None:
        self.windows = windows
        self.winner_mb_s = winner_mb_s
        self.runs = 0

    def __call__(self, spec: TrialSpec) -> TrialResult:
        self.runs += 1
        is_base = spec.settings["block_size"] == 4096
        result = measured(write_amp=2.0 if is_base else 1.0)
        assert result.measurement
        if not self.windows:
            return result
        window = tuple(
            Moment(
                second=second,
                write_bytes_s=1e6 * (24 if is_base else self.winner_mb_s),
                level0_files=2 * self.runs if second <= 3 else 0,
                live_bytes=(100 if is_base else 80) * MIB,
            )
            for second in SECOND
        )
        update = {"measurement": result.measurement.model_copy(update={"window": window})}
        return result.model_copy(update=update)


def view_of(home: Home, script: Script, pairs: int = 0) -> StudyView:
    """The view of a study that a script has answered; `pairs` are those of its verification."""
    with open_study(home, SPEC, ScriptedEngine(script)) as study:
        run_search(study)
        if pairs:
            verify(study, SPEC.scale, SPEC.workload, pairs=pairs)
    return read_study(home, SPEC.name)


def most_files(view: StudyView) -> tuple[int, int]:
    """Files of level 0 at the begin of the two windows: of the baseline and of the winner."""
    assert view.windows
    return view.windows.base[0].level0_files, view.windows.best[0].level0_files


def charts(view: StudyView) -> list[dict[str, Any]]:
    """The lines of the section."""
    data = re.search(r'id="window".*?"application/json">(.*?)</script>', render_page(view), re.S)
    assert data
    lines: list[dict[str, Any]] = json.loads(data[1])["data"]
    return lines


def texts(view: StudyView) -> str:
    return " ".join(visible_texts(render_page(view))).replace("\N{NO-BREAK SPACE}", " ")


def test_without_pairs_the_newest_runs_of_both_sides_are_shown(home: Home) -> None:
    script = Script()
    view = view_of(home, script)
    assert view.windows
    assert not view.windows.is_pair
    assert view.best_trial
    base, best = most_files(view)
    assert base == 4
    assert best > 2 * (view.best_trial.number + 1)  # it ran again


def test_the_newest_pair_of_the_verification_is_shown(home: Home) -> None:
    script = Script()
    view = view_of(home, script, pairs=3)
    assert view.windows
    assert view.windows.is_pair
    assert sorted(most_files(view)) == [2 * script.runs - 2, 2 * script.runs]


def test_means_are_over_time_not_over_moments(home: Home) -> None:
    view = view_of(home, Script())
    files = most_files(view)[1] // 2  # for half of the time none
    assert f"same rate of 24 MB/s, the winner holds {files} files in level 0" in texts(view)
    assert "the baseline 2" in texts(view)
    assert "80 MiB with the winner and 100 MiB with the baseline" in texts(view)


def test_different_rates_are_named(home: Home) -> None:
    found = texts(view_of(home, Script(winner_mb_s=20)))
    assert "At the same rate" not in found
    assert "writes 20 MB/s" in found
    assert "and 24 MB/s" in found


def test_three_charts_share_the_time_and_differ_without_colour(home: Home) -> None:
    lines = charts(view_of(home, Script(), pairs=3))
    assert [line["yaxis"] for line in lines] == ["y", "y", "y2", "y2", "y3", "y3"]
    assert all(line["x"] == list(SECOND) for line in lines)
    for base, best in zip(lines[::2], lines[1::2], strict=True):
        assert base["line"]["dash"] != best["line"]["dash"]
        assert base["marker"]["symbol"] != best["marker"]["symbol"]
    assert lines[0]["y"] == [100.0] * len(SECOND)
    assert lines[5]["y"] == [24.0] * len(SECOND)


@pytest.mark.parametrize("pairs", [0, 3])
def test_runs_without_a_window_have_no_section(home: Home, pairs: int) -> None:
    view = view_of(home, Script(windows=False), pairs)
    assert view.windows is None
    assert "course of the window" not in texts(view)
