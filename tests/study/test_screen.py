"""Screening, driven by a scripted engine: every point, the replicates, resuming, batches."""

import json
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fakes.cuts import check_goes_on
from fakes.patience import PATIENCE_S
from fakes.studies import open_study
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings, make_spec
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial
from lsmtune.study.screen import screen
from lsmtune.tables import Screen
from lsmtune.testing.scripted import Script, ScriptedEngine, measured
from lsmtune.trials import Role, Status, TrialResult, TrialSpec


def make(table: dict[str, Any] | None = None, **given: Any) -> StudySettings:
    fixed = {"study": "s", "workload": "fillrandom", "knobs": "core", "trials": 12,
             "early_stop": False}  # fmt: skip
    screen_table = {"replicated": 3, "runs": 3, **(table or {})}
    return make_spec({**fixed, **given, "screen": screen_table}, "test")


def run(home: Home, spec: StudySettings, script: Script) -> list[StoredTrial]:
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        screen(study, spec.screen or Screen())
        return home.trials(study.stored)


def flat(_: TrialSpec) -> TrialResult:
    return measured()


def of(trials: list[StoredTrial], role: Role) -> list[StoredTrial]:
    return [trial for trial in trials if trial.role is role]


@pytest.mark.parametrize("design", ["random", "latin", "sobol"])
def test_every_config_runs_once_and_the_replicated_ones_again(home: Home, design: str) -> None:
    trials = run(home, make({"design": design}), flat)
    points, again = of(trials, Role.TRIAL), of(trials, Role.REPEAT)
    assert len({trial.config for trial in points}) == len(points) == 12
    assert Counter(t.config for t in again) == {t.config: 2 for t in points[:3]}


def test_every_run_has_a_workload_seed_of_its_own(home: Home) -> None:
    trials = run(home, make(), flat)
    assert len({trial.spec.seed for trial in trials}) == len(trials)


def test_an_interrupted_screening_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    check_goes_on(tmp_path, lambda home, script: run(home, make(), script), (4, 9, 17))


def test_a_config_that_failed_is_kept_and_not_tried_again(home: Home) -> None:
    calls = 0

    def second_crashes(_: TrialSpec) -> TrialResult:
        nonlocal calls
        calls += 1
        return TrialResult(status=Status.CRASHED, reason="x") if calls == 5 else measured()

    trials = run(home, make(), second_crashes)
    points, again = of(trials, Role.TRIAL), of(trials, Role.REPEAT)
    assert points[1].result.status is Status.CRASHED
    assert set(Counter(t.config for t in again)) == {points[n].config for n in (0, 2, 3)}
    assert len(run(home, make(), flat)) == len(trials)


def test_as_published_the_load_varies_with_the_knobs(home: Home) -> None:
    trials = run(home, make(knobs="jin2022-published", workload={"num": 8000}), flat)
    points = of(trials, Role.TRIAL)
    loads = [trial.spec.workload for trial in points]
    assert len({load.threads for load in loads}) > 3
    assert len({load.compression_ratio for load in loads}) > 8
    for trial in points:
        load = trial.spec.workload
        assert load.threads * load.client_operations == pytest.approx(8000, rel=0.01)
        assert trial.config["threads"] == load.threads
        assert not {"threads", "compression_ratio"} & trial.spec.settings.keys()
    assert of(trials, Role.BASE)[0].spec.workload.threads == 1


def batch(tmp_path: Path, *lines: dict[str, Any]) -> StudySettings:
    file = tmp_path / "batch.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return make(
        {"batch": str(file), "replicated": 0}, knobs="block_size,num_levels", scale="1",
        memory="1TiB",
    )  # fmt: skip


def test_a_batch_is_run_as_it_says(home: Home, tmp_path: Path) -> None:
    spec = batch(
        tmp_path,
        {"id": "a", "knobs": {"block_size": 9000}},
        {"id": "bad", "knobs": {"block_size": "big"}},
        {"id": "b", "knobs": {"num_levels": 5}, "workload": {"num": 5000, "threads": 2}},
    )
    first, second = of(run(home, spec, flat), Role.TRIAL)
    assert first.spec.settings["block_size"] == 9000
    assert first.spec.settings["num_levels"] == 7
    assert second.spec.settings["block_size"] == 4096
    assert second.spec.settings["num_levels"] == 5
    assert (second.spec.workload.num, second.spec.workload.threads) == (5000, 2)


def test_a_batch_without_a_usable_line_is_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^batch .*line 1"):
        run(home, batch(tmp_path, {"id": "bad", "knobs": {"block_size": "big"}}), flat)


def side_by_side(home: Home, script: Script, jobs: int = 2) -> tuple[str | None, list[StoredTrial]]:
    spec = make(trials=16)
    with open_study(home, spec, ScriptedEngine(script), lambda _: None) as study:
        return screen(study, spec.screen or Screen(), jobs), home.trials(study.stored)


def is_alone() -> bool:
    """Whether the run is in no thread of its own, as runs side by side are."""
    return threading.current_thread() is threading.main_thread()


def test_runs_go_side_by_side_once_that_is_seen_to_change_nothing(home: Home) -> None:
    running, most = 0, 0
    lock, met = threading.Lock(), threading.Event()

    def counted(spec: TrialSpec) -> TrialResult:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            if running == 2:
                met.set()
        assert is_alone() or met.wait(PATIENCE_S)
        time.sleep(0.02)  # in which a third run would begin
        with lock:
            running -= 1
        return measured(write_amp=2 + spec.seed % 7 / 100)

    remark, trials = side_by_side(home, counted)
    assert remark is None
    assert most == 2
    assert len(of(trials, Role.SHARED)) == 10
    points = of(trials, Role.TRIAL)
    assert len(points) == len({trial.config for trial in points}) == 16
    assert len(of(trials, Role.REPEAT)) == 6


def test_runs_stay_alone_where_company_slows_them(home: Home) -> None:
    pair = threading.Barrier(2, timeout=PATIENCE_S)
    in_company: list[TrialSpec] = []

    def slowed(spec: TrialSpec) -> TrialResult:
        if is_alone():
            return measured(total_s=10.0)
        pair.wait()
        in_company.append(spec)
        return measured(total_s=20.0)

    remark, trials = side_by_side(home, slowed)
    assert remark is not None
    assert remark.startswith("total_s ")
    assert len(of(trials, Role.TRIAL)) == 16
    assert len(of(trials, Role.SHARED)) == len(in_company) == 10


def test_noise_that_hides_whether_runs_agree_keeps_them_alone(home: Home) -> None:
    calls = iter(range(1000))

    def noisy(_: TrialSpec) -> TrialResult:
        return measured(throughput_ops_s=100.0 * 3 ** (next(calls) % 3))

    remark, _ = side_by_side(home, noisy)
    assert remark is not None
    assert "throughput_ops_s" in remark


def test_an_interruption_ends_runs_side_by_side(home: Home) -> None:
    calls = 0

    def dies(_: TrialSpec) -> TrialResult:
        nonlocal calls
        calls += 1
        if calls == 20:
            raise KeyboardInterrupt
        return measured()

    with pytest.raises(KeyboardInterrupt):
        side_by_side(home, dies)
    remark, trials = side_by_side(home, flat)
    assert remark is None
    assert len(of(trials, Role.TRIAL)) == 16
