"""Disturbed runs that were kept: marked in the runs of a screening and of an experiment."""

from fakes.studies import open_study
from lsmtune.analysis.experiment_runs import finish
from lsmtune.analysis.screened import screened_lines
from lsmtune.batch import read_batch
from lsmtune.report.text.swept_words import rows, swept_document
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.screen import screen
from lsmtune.tables import Screen
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec


def noisy(_: TrialSpec) -> TrialResult:
    return measured(others_cpu_percent=50.0)


def test_each_line_of_a_screening_says_what_disturbed_it(home: Home) -> None:
    table = Screen(replicated=0)
    spec = make_spec({"study": "s", "trials": 3, "repeats": 0, "screen": table}, "test")
    with open_study(home, spec, ScriptedEngine(noisy), lambda _: None, accept_noise=True) as study:
        screen(study, table)
    lines = screened_lines(home, "s")
    assert len(lines) == 3
    path = home.path / "runs.jsonl"
    path.write_text("".join(f"{line.to_json()}\n" for line in lines))
    assert all("50 %" in (line.disturbance or "") for line in read_batch(path))


def test_an_experiment_counts_its_disturbed_runs(home: Home) -> None:
    factors = {"memtable": {"write_buffer_size": ["1MiB", "4MiB"]}}
    table = {"repeats": 2, "metrics": ["write_amp"], "factors": factors}
    settings = {"study": "s", "scale": "1", "memory": "1TiB", "knobs": "write_buffer_size",
                "early_stop": False, "repeats": 0, "pairs": 0, "sweep": table}  # fmt: skip
    spec = make_spec(settings, "test")
    with open_study(home, spec, ScriptedEngine(noisy), lambda _: None, accept_noise=True) as study:
        swept = finish(study).swept
    heads, found = rows(swept)
    assert [row[heads.index("disturbed")] for row in found] == ["2", "2", "2"]
    document = swept_document(swept)
    assert any(warning.startswith("DISTURBED: 6 runs") for warning in document["warnings"])
