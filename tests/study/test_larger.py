"""A verification with a larger tree: its workload, its estimate, and its end."""

from fractions import Fraction
from typing import Any

import pytest

from fakes.studies import open_study
from lsmtune.engines.templates import MOST_TEMPLATES
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.search import run_search
from lsmtune.study.verify import VerificationPlan, verification_plan, verify, workload_at
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Role, TrialResult, TrialSpec

BEST = 0


def script(spec: TrialSpec) -> TrialResult:
    best = spec.settings["compaction_pri"] == BEST
    return measured(write_amp=0.5 if best else 1.0, peak_space_bytes=3e8 if best else 2e8)


def spec_of(**given: Any) -> Any:
    settings = {"study": "s", "objective": "write_amp", "optimizer": "random", "repeats": 0,
                "base_runs": 1, "knobs": "compaction_pri"}  # fmt: skip
    return make_spec({**settings, **given}, "test")


@pytest.mark.parametrize(
    ("workload", "larger"),
    [
        ({"name": "fillrandom", "num": 200_000}, {"num": 1_600_000}),
        ({"name": "fillrandom", "num": 200_000, "operations": 1_000},
         {"num": 1_600_000, "operations": 8_000}),
        ({"name": "readrandomwriterandom", "num": 200_000, "duration_s": 30},
         {"num": 1_600_000, "duration_s": 30}),
    ],
)  # fmt: skip
def test_records_and_operations_grow_with_the_tree(
    workload: dict[str, Any], larger: dict[str, Any]
) -> None:
    found = workload_at(spec_of(workload=workload), Fraction(1, 8))
    assert {name: getattr(found, name) for name in larger} == larger
    assert found.name == workload["name"]


def test_plan_multiplies_time_and_peak_space_by_the_bytes(home: Home) -> None:
    spec = spec_of(workload="fillrandom")
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        run_search(study)
        best = study.best()
        assert best is not None
        here, there = (
            verification_plan(study, best.trial, scale, workload_at(spec, Fraction(scale)), None)
            for scale in ("1/64", "1/8")
        )
    assert there.runs == (12, 24)
    assert here.peak_bytes == 300_000_000
    assert there.peak_bytes == 2_400_000_000
    assert there.needed_bytes == 3_120_000_000
    assert here.seconds is not None
    assert there.seconds == pytest.approx([8 * second for second in here.seconds])
    assert there.seconds[0] < there.seconds[1]


def test_plan_counts_prepared_databases_and_leaves_out_pairs_that_ran(home: Home) -> None:
    spec = spec_of(workload={"name": "readrandomwriterandom"})

    def reading(trial: TrialSpec) -> TrialResult:
        return measured(**{**script(trial).metrics, "live_sst_bytes": 1e8})

    with open_study(home, spec, ScriptedEngine(reading), lambda _: None) as study:
        run_search(study)
        best = study.best()
        assert best is not None

        def plan(pairs: int | None) -> VerificationPlan:
            return verification_plan(study, best.trial, spec.scale, spec.workload, pairs)

        assert plan(None).peak_bytes == 300_000_000 + MOST_TEMPLATES * 100_000_000
        assert plan(8).runs == (16, 16)
        verify(study, spec.scale, spec.workload, pairs=6)
        assert plan(8).runs == (4, 4)
        assert plan(6).runs == (0, 0)


@pytest.mark.parametrize(
    ("scale", "space", "asked", "runs"),
    [
        ("1/8", 30.0, None, 6),  # three pairs prove that a constraint is broken
        ("1/8", 30.0, 8, 16),  # who asks for eight pairs gets eight
        ("1/8", 10.0, None, 12),
        ("1/64", 30.0, None, 12),  # at the scale of the study, runs are short
    ],
)
def test_broken_constraint_ends_a_larger_verification_early(
    home: Home, scale: str, space: float, asked: int | None, runs: int
) -> None:
    def breaking(spec: TrialSpec) -> TrialResult:
        best = spec.settings["compaction_pri"] == BEST
        found = script(spec).metrics
        large = best and spec.seed > 1_000
        return measured(write_amp=found["write_amp"], live_sst_bytes=space if large else 10.0)

    spec = spec_of(workload="fillrandom")
    with open_study(home, spec, ScriptedEngine(breaking), lambda _: None) as study:
        run_search(study)
        verdict = verify(study, scale, workload_at(spec, Fraction(scale)), pairs=asked)
        assert verdict.claim == ("gain" if space == 10.0 else "no gain")
        assert len(_pairs(study.trials())) == runs


def _pairs(trials: list[StoredTrial]) -> list[StoredTrial]:
    return [t for t in trials if t.role in (Role.VERIFY_BEST, Role.VERIFY_BASE)]
