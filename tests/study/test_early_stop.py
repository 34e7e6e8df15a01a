"""When a trial is cut: only once a config that is there beats all that it can still reach."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from fakes.studies import open_study
from lsmtune.engines.base import Hopeless, Outcome, Places, Watch
from lsmtune.objective import Metrics, Objective, parse_objective
from lsmtune.pruning import PruneRule, value_noise
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, Role, Status, TrialResult, TrialSpec

BASE: Metrics = {"write_amp": 4.0, "live_sst_bytes": 100.0, "total_s": 10.0}
QUIET = [[BASE, BASE]]


def judge(objective: Objective, repeated: list[list[Metrics]] | None = None) -> Hopeless:
    noise = value_noise(objective, BASE, repeated or QUIET)
    return PruneRule.of(objective, BASE, noise, []).reason


def test_what_may_still_beat_the_base_goes_on() -> None:
    balanced = parse_objective("balanced", ())
    reachable = {"write_amp": 3.9, "live_sst_bytes": 50.0, "total_s": 9.0}
    assert judge(balanced)(reachable) is None


def test_what_cannot_reach_the_base_is_cut_with_both_values_told() -> None:
    reason = judge(parse_objective("total_s", ()))({"total_s": 12.0})
    assert reason is not None
    assert "1.200" in reason
    assert "1.000" in reason


def test_bounds_that_lack_a_metric_of_the_objective_tell_nothing() -> None:
    assert judge(parse_objective("balanced", ()))({"total_s": 1e9}) is None


def test_the_noise_of_repeated_runs_is_allowed_for() -> None:
    noisy = [[{**BASE, "total_s": 8.0}, {**BASE, "total_s": 12.5}]]
    objective = parse_objective("total_s", ())
    assert judge(objective, noisy)({"total_s": 15.0}) is None
    assert judge(objective)({"total_s": 15.0}) is not None


def test_with_several_goals_one_config_must_be_better_in_all() -> None:
    objective = parse_objective(["write_amp", "total_s"], ())
    assert judge(objective)({"write_amp": 8.0, "total_s": 5.0}) is None
    assert judge(objective)({"write_amp": 8.0, "total_s": 11.0}) is not None


class Cutting(ScriptedEngine):
    """Asks once in every trial whether its bounds may still win."""

    def run(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Outcome:
        bounds: Mapping[str, float] = {"total_s": float(spec.settings["block_size"]) / 4096}
        reason = watch.hopeless(bounds)
        if reason is None:
            return super().run(spec, base, places, watch)
        return Outcome(TrialResult(status=Status.CUT, reason=reason, bounds=dict(bounds)), {})


@pytest.mark.parametrize("early_stop", [True, False])
def test_only_trials_of_the_search_are_cut_and_kept_as_bounds(
    tmp_path: Path, early_stop: bool
) -> None:
    def script(spec: TrialSpec) -> TrialResult:
        return measured(total_s=float(spec.settings["block_size"]) / 4096)

    spec = make_spec(
        {"study": "s", "objective": "total_s", "knobs": "block_size", "trials": 12,
         "memory": "4GiB", "early_stop": early_stop},
        "test",
    )  # fmt: skip
    with (
        Home(tmp_path / "home", create=True) as home,
        open_study(home, spec, Cutting(script), lambda event: None) as study,
    ):
        run_search(study)
        cut = [t for t in study.trials() if t.result.status is Status.CUT]
        told = [o for o in study.history.observations if o.cut]
        best = study.best()
    assert bool(cut) == early_stop
    assert {t.role for t in cut} <= {Role.TRIAL}
    assert [o.values for o in told] == [(t.result.bounds["total_s"],) for t in cut]
    assert best is not None
    assert best.trial.result.status is Status.COMPLETE
