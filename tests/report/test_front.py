"""Several objectives: the front, its chart, and the trials to pick from."""

import json
import re
from dataclasses import replace
from html import unescape

import pytest
from sample import EMPTY, pareto_view, study_view, trial

from lsmtune.report.front import Front, front_keys, front_plot, pareto
from lsmtune.report.page import render_page
from lsmtune.trials import Role

THREE = ("write_amp", "throughput_ops_s", "total_s")


def front_of(goals: tuple[str, ...] = THREE[:2]) -> Front:
    record = pareto(pareto_view(goals))
    assert record
    return record


def test_a_single_goal_has_no_front() -> None:
    assert pareto(study_view()) is None


def test_every_trial_has_its_place() -> None:
    places = {point.number: point.place for point in front_of().points}
    assert [n for n, place in places.items() if place == "front"] == [5, 8, 12, 18, 19]
    assert places[10] == "cut"
    assert places[16] == "breaks a limit"
    assert places[9] == "beaten"


def test_a_trial_far_off_is_left_out_and_said_so() -> None:
    record = front_of()
    assert 15 not in {point.number for point in record.points}
    assert "leaves out 1 trial" in record.see


def test_a_pick_tells_its_gains_its_options_and_how_to_get_them() -> None:
    pick = next(pick for pick in front_of().picks if pick.number == 8)
    assert pick.summary == "trial 8: write_amp 0.66 \N{MULTIPLICATION SIGN}, " + (
        "throughput_ops_s 1.03 \N{MULTIPLICATION SIGN}"
    )
    assert pick.command == "lsmtune export two-goals --trial 8 --format options -o OPTIONS"
    assert "write_buffer_size" in [row.name for row in pick.options]
    gains = {row.metric.name: row.gain for row in pick.metrics}
    assert gains["write_amp"] == pytest.approx(0.66, rel=0.05)
    assert gains["throughput_ops_s"] == pytest.approx(0.97, rel=0.05)


def test_the_winner_is_shown_first_or_else_the_first_of_the_front() -> None:
    assert front_of().chosen == 18
    off = replace(pareto_view(), best_trial=trial(9, Role.TRIAL, 0.9))
    record = pareto(off)
    assert record
    assert record.chosen == 5


def test_two_goals_make_a_plane_and_three_a_line_a_trial() -> None:
    plane, lines = front_plot(front_of()), front_plot(front_of(THREE))
    stairs = plane.data[0]
    assert list(stairs.x) == sorted(stairs.x)
    assert list(stairs.y) == sorted(stairs.y, reverse=True)
    assert plane.layout.yaxis.title.text.startswith("throughput_ops_s, baseline / ")
    assert len(next(t for t in lines.data if t.customdata).x) == 3


def test_the_ring_lies_around_the_pick_that_is_shown_first() -> None:
    ring = next(trace for trace in front_plot(front_of()).data if trace.name == "picked")
    assert (ring.x, ring.y) == ((0.71,), (0.88,))


def test_the_key_names_what_there_is() -> None:
    shapes = {key.shape.symbol for key in front_keys(front_of())}
    assert shapes == {"circle", "circle-open", "triangle-up-open", "diamond-open", "square"}


def test_the_page_holds_a_panel_and_a_choice_for_every_pick() -> None:
    page = render_page(pareto_view())
    assert re.findall(r'<article data-trial="(\d+)"', page) == ["5", "8", "18", "12", "19"]
    assert re.findall(r'<option value="(\d+)"', page) == ["5", "8", "18", "12", "19"]
    assert page.count(' selected=""') == 1
    assert "lsmtune export two-goals --trial 12 --format options" in unescape(page)
    figure = re.search(r'id="front".*?application/json">(.*?)</script>', page)
    assert figure
    assert any(trace.get("name") == "picked" for trace in json.loads(figure[1])["data"])


def test_without_a_trial_on_the_front_there_is_nothing_to_pick() -> None:
    record = pareto(replace(pareto_view(), **EMPTY, front=()))
    assert record
    assert (record.picks, record.chosen) == ((), None)
