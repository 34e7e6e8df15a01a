"""The page of an engine that has no memory, no stalls, no levels: it says nothing about them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import lsmtune
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.study_view import StudyView
from lsmtune.api.study_result import Result
from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.knob_text import knob_value
from lsmtune.report.comparison import comparison
from lsmtune.report.figures import options
from lsmtune.report.page import render_page
from lsmtune.report.study_facts import study_facts
from lsmtune.report.text.claim_text import claim_text
from lsmtune.report.tree import stalls

NAME = "counting"
SUMMARY = "a sum that a test counts"
METRICS = (
    lsmtune.Metric("cost", unit="jobs", better="lower", meaning="what it costs"),
    lsmtune.Metric("waste", unit="jobs", better="lower", meaning="what it wastes"),
)
KNOBS = (
    lsmtune.Knob.real("share", 0.5, 8.0, default=8.0, trade="None."),
    lsmtune.Knob.boolean("slow", default=True, trade="None."),
)


def cost(config: Mapping[str, Any], seed: int, _: str) -> dict[str, float]:
    """Return counts that depend on both knobs, and a little on the seed."""
    waste = 10 + config["share"] * (2 if config["slow"] else 1)
    return {"cost": waste * (100 + seed % 2), "waste": waste}


@pytest.fixture
def result(tmp_path: Path) -> Iterator[Result]:
    """A verified study."""
    engine = lsmtune.function_engine(
        NAME, cost, knobs=KNOBS, metrics=METRICS, summary=SUMMARY, times_matter=False
    )
    yield lsmtune.tune(engine=engine, trials=12, study="s", home=tmp_path / "home")
    ENGINES.pop(NAME, None)


@pytest.fixture
def view(result: Result) -> StudyView:
    return result.view


def test_what_it_does_not_measure_is_not_on_the_page(view: StudyView) -> None:
    page = render_page(view)
    assert stalls(view) is None
    assert not view.has_memory
    for word in ("w_amp_table", "write_amp", "RocksDB", "memtable", "Memtable", "compaction"):
        assert word not in page.partition('id="plotly"')[0], word
    facts = dict(study_facts(view, claim_of(view)))
    assert not [term for term in facts if term.startswith("Memory")]
    assert facts["Engine"] == (f"{NAME} 0",)
    assert SUMMARY in facts["Workload"][0]


def test_its_own_metrics_are_in_the_chart(view: StudyView) -> None:
    found = comparison(claim_of(view))
    assert found is not None
    assert {row.metric.name for row in found.drawn} == {"cost", "waste"}


def test_small_print_repeats_no_value(view: StudyView) -> None:
    for row in options(view).rows:
        assert row.raw_base == row.base.replace(",", ""), row.name
    assert knob_value(KNOBS[1], value=True) == "true"


def test_no_step_is_a_command_that_cannot_run_the_engine(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LSMTUNE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (step,) = (step for step in result.claim.steps if step.kind == "deploy")
    for call in (step.command, result.claim.undo):
        assert call is not None
        eval(call, {"lsmtune": lsmtune})  # noqa: S307 - it is ours
    assert Path("settings.toml").read_text() == result.export()
    assert Path("settings.toml.back").read_text() == result.export(back=True)
    assert "lsmtune export" not in result.export() + result.page()
    del ENGINES[NAME]
    started = lsmtune.tune(
        engine=lsmtune.function_engine(
            NAME, cost, knobs=KNOBS, metrics=METRICS, times_matter=False, version="1"
        ),
        trials=4, pairs=0, study="t", home=tmp_path / "home",
    )  # fmt: skip
    (verify,) = (step for step in started.claim.steps if step.kind == "verify")
    assert verify.command is None
    assert "lsmtune.verify" in claim_text(started.claim).steps[0].text
    del ENGINES[NAME]
    with pytest.raises(lsmtune.UserError, match="Python program"):
        lsmtune.result("t")
