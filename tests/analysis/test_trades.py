"""What a default limit costs: better configs that break exactly one."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from stored import Written

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.cli.result_lines import summary_lines
from lsmtune.limits import parse_limit
from lsmtune.report.page import render_page
from lsmtune.report.study_document import show_document
from lsmtune.report.text.claim_text import claim_text
from lsmtune.report.text.headline_text import MAX_WORDS, headline_of
from lsmtune.store.home import Home
from lsmtune.trials import Role

FEW = {"write_amp": 5.0}
LARGE = {"live_sst_bytes": 13.0}
SLOW = {"write_p99_us": 20.0}


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home(tmp_path / "home", create=True) as opened:
        yield opened


def written(home: Home, *trials: Mapping[str, float], **spec: object) -> Written:
    """A study of today whose baseline varies by a few percent, with these trials."""
    study = Written(home, of_today=True, objective="write_amp", trials=len(trials), **spec)
    noise = dict.fromkeys((*FEW, *LARGE, *SLOW), 10.0)
    for factor in (0.98, 1.0, 1.02):
        study.base()
        study.add(Role.BASE, None, {name: value * factor for name, value in noise.items()})
    for size, run in enumerate(trials, start=1):
        study.add(Role.TRIAL, 1000 * size, run)
    return study


def test_better_config_that_breaks_one_default_limit_is_a_trade(home: Home) -> None:
    written(home, {**FEW, **LARGE}, {"write_amp": 9.0})
    view = read_study(home, "s")
    [trade] = view.trades
    assert (trade.runs, trade.value) == (1, pytest.approx(0.5))
    assert (trade.check.state, trade.check.default) == ("broken", True)
    assert view.best_trial is not None
    document = show_document(view)["claim"]["trades"]
    allowed = parse_limit(document[0]["allowed_by"])
    assert allowed.metric == "live_sst_bytes"
    assert allowed.bound >= 1.3
    [step] = claim_text(claim_of(view)).trades
    assert step.flags == f'--limit "{document[0]["allowed_by"]}"'
    assert any(step.flags in line for line in summary_lines(view, claim_of(view)))
    assert "What a limit costs" in render_page(view)


@pytest.mark.parametrize(
    ("trial", "spec"),
    [
        ({**FEW, **LARGE, **SLOW}, {}),  # two limits
        ({"write_amp": 9.9, **LARGE}, {}),  # no better than noise
        ({**FEW, **LARGE}, {"limits": ["live_sst_bytes <= 1.1 * base"]}),  # the user's limit
        (FEW, {}),
    ],
)
def test_no_trade_otherwise(
    home: Home, trial: Mapping[str, float], spec: Mapping[str, object]
) -> None:
    written(home, trial, **spec)
    assert read_study(home, "s").trades == ()


def test_result_without_a_winner_begins_with_the_best_trade(home: Home) -> None:
    written(home, {**FEW, **LARGE}, {"write_amp": 4.0, **SLOW}, {"write_amp": 12.0})
    view = read_study(home, "s")
    claim = claim_of(view)
    assert claim.status == "nothing found"
    assert [trade.check.limit.metric for trade in claim.view.trades] == [
        "write_p99_us", "live_sst_bytes",
    ]  # fmt: skip
    headline = headline_of(claim)
    assert "60 %" in headline
    assert len(headline.split()) <= MAX_WORDS


def test_gain_that_one_default_limit_forbids_is_told_with_its_cost(home: Home) -> None:
    study = written(home, {**FEW, "live_sst_bytes": 10.9})
    number = next(t.number for t in home.trials(study.study) if t.role is Role.TRIAL)
    study.verify(number, 1000, [{**FEW, "live_sst_bytes": 11.4 + n / 100} for n in range(6)])
    view = read_study(home, "s")
    claim = claim_of(view)
    assert claim.status == "no gain"
    assert [step.kind for step in claim.steps][:2] == ["relax_constraint", "keep_baseline"]
    headline = headline_of(claim)
    assert "50 %" in headline
    assert "live space" in headline
    assert len(headline.split()) <= MAX_WORDS
