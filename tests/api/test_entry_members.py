"""What the entry of an engine says about its runs, as commands use it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lsmtune.api.resolve import Request, resolve
from lsmtune.api.simulate import asked_lines
from lsmtune.batch import BatchLine
from lsmtune.cli.main import run
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.function import function_engine
from lsmtune.errors import UserError
from lsmtune.knobs.types import Knob
from lsmtune.simulator import is_installed

KNOB = Knob(
    name="write_buffer_size", area="a", kind="int", unit="bytes", low=65536, high=1 << 30,
    default=1 << 26, shapes=True, apply="restart", trade="A larger buffer needs memory.",
)  # fmt: skip


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    """An engine in this process, whose members tests change."""
    ENGINES["toy"] = function_engine("toy", lambda *_: {}, knobs=[KNOB], metrics=["write_amp"])
    change(workloads=("fillrandom",))  # which the simulator models
    yield
    del ENGINES["toy"]


def change(**members: Any) -> None:
    ENGINES["toy"] = replace(ENGINES["toy"], **members)


def test_jobs_of_an_engine_that_runs_one_at_a_time_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    change(one_at_a_time=True)
    command = ["screen", "--engine", "toy", "--jobs", "2", "--home", str(tmp_path / "home")]
    assert run(command) == 2
    message = capsys.readouterr().err
    assert "--jobs" in message
    assert "toy" in message


@pytest.mark.skipif(not is_installed(), reason="the simulator is not installed")
def test_a_simulator_that_predicts_an_engine_leads_its_search(tmp_path: Path) -> None:
    request = Request(keys={"engine": "toy"})
    assert resolve(request, tmp_path).settings.optimizer == "tpe"
    change(predicted_by="simulated", workloads=("fillrandom",))
    assert resolve(request, tmp_path).settings.optimizer == "guided"


def test_runs_of_an_engine_without_a_simulator_cannot_be_simulated(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(BatchLine("1", knobs={"write_buffer_size": 1 << 20}, engine="toy").to_json())
    with pytest.raises(UserError, match="toy; supported: rocksdb"):
        asked_lines(file)
    change(predicted_by="simulated")
    assert [line.error for line in asked_lines(file)] == [None]


def test_an_engine_without_column_families_refuses_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["tune", "--engine", "toy", "--family", "orders", "--home", str(tmp_path / "home")]
    assert run(command) == 2
    assert "--family" in capsys.readouterr().err
