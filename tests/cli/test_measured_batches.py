"""Files of measured runs: what other programs measured is read and predicted."""

import json
from pathlib import Path
from typing import Any

import pytest

from lsmtune.cli.main import run

LOAD = {"name": "fillrandom", "num": 20_000}
CACHES = [0, 1 << 20, 8 << 20]


def written(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return str(path)


def measured(number: int) -> dict[str, Any]:
    """A run whose time grows with smaller caches; each fifth one has no value of read_amp."""
    cache, block = CACHES[number % 3], 4096 << (number // 3 % 3)
    return {
        "id": f"run-{number}", "workload": LOAD,
        "knobs": {"cache_size": cache, "block_size": block, "num_levels": 5 + number % 4},
        "metrics": {
            "total_s": 10 - 3 * CACHES.index(cache) + number % 7 / 10,
            "write_amp": 3 + number % 5 / 10,
            "read_amp": None if number % 5 == 0 else 2.0 + number % 3,
        },
    }  # fmt: skip


@pytest.mark.slow
def test_importance_reads_runs_without_a_metric_and_without_a_block_cache(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], quick_models: None
) -> None:
    lines = [measured(number) for number in range(180)]
    lines.append({"id": "failed", "error": "out of space"})
    flags = ["--batch", written(tmp_path / "runs.jsonl", lines), "--repeats", "1"]
    metrics = ["--metric", "total_s", "--metric", "read_amp"]
    assert run(["importance", *flags, *metrics, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["failed"] == 1
    assert found["metrics"]["total_s"]["knobs"][0]["knob"] == "cache_size"
    assert found["metrics"]["total_s"]["missing_runs"] == 0
    read = found["metrics"]["read_amp"]
    assert read["missing_runs"] > 0
    assert read["runs"] + read["missing_runs"] == found["runs"]
    assert run(["importance", *flags, *metrics]) == 0
    assert f"{read['missing_runs']} of {found['runs']} runs" in " ".join(
        capsys.readouterr().out.split()
    )


def test_importance_names_line_knob_and_value_of_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [measured(number) for number in range(40)]
    lines[6]["knobs"]["cache_size"] = -5
    assert run(["importance", "--batch", written(tmp_path / "runs.jsonl", lines)]) == 2
    err = capsys.readouterr().err
    for words in ("line 7", "cache_size", "-5"):
        assert words in err


def test_importance_without_a_usual_metric_offers_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [measured(number) for number in range(40)]
    for line in lines:
        line["metrics"] = {"build_s": line["metrics"]["total_s"], "write_amp": None}
    assert run(["importance", "--batch", written(tmp_path / "runs.jsonl", lines)]) == 2
    assert "--metric with another metric: build_s" in capsys.readouterr().err


def predicted(path: Path, capsys: pytest.CaptureFixture[str], *knobs: dict[str, Any]) -> list[Any]:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    lines = [{"id": str(n), "workload": LOAD, "knobs": given} for n, given in enumerate(knobs)]
    assert run(["simulate", "--batch", written(path / "runs.jsonl", lines)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_run_without_a_block_cache_is_predicted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = {"write_buffer_size": 1 << 20}
    without, tiny, large = (
        answer["metrics"]
        for answer in predicted(
            tmp_path, capsys, *({**small, "cache_size": size} for size in (0, 1000, 256 << 20))
        )
    )
    assert without["read_amp"] > 1.5 * large["read_amp"]
    assert without["get_mean_us"] > large["get_mean_us"]
    assert without["write_amp"] == large["write_amp"]
    assert tiny["read_amp"] == pytest.approx(without["read_amp"], rel=0.05)


def test_what_the_simulator_does_not_model_is_an_error_of_its_line_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uncached = {"cache_size": 0, "cache_index_and_filter_blocks": True}
    raised = {"max_write_buffer_number": 0, "num_levels": 0, "write_buffer_size": 1}
    as_raised = {"max_write_buffer_number": 2, "num_levels": 2, "write_buffer_size": 65536}
    answers = predicted(
        tmp_path, capsys, {"target_file_size_base": 1}, uncached, {"cache_size": -1}, raised,
        as_raised, {"bytes_per_sync": 1},
    )  # fmt: skip
    errors = [answer.get("error", "") for answer in answers]
    assert "target_file_size_base: the simulator does not model the value 1" in errors[0]
    assert "cache_index_and_filter_blocks needs cache_size above 0" in errors[1]
    assert errors[2].startswith("line 3: knobs.cache_size: value -1")
    assert errors[3:] == ["", "", ""]
    assert answers[3]["metrics"] == answers[4]["metrics"]


def test_set_takes_the_values_that_the_simulator_models(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    few = ["simulate", "--json", "--num", "20000"]
    assert run([*few, "--set", "cache_size=0"]) == 0
    plain, changed = map(json.loads, capsys.readouterr().out.splitlines())
    assert changed["metrics"]["read_amp"] > plain["metrics"]["read_amp"]
    assert run([*few, "--set", "cache_size=-1"]) == 2
    assert run([*few, "--set", "target_file_size_base=1"]) == 2
    assert run([*few, "--set", "cache_size=0", "--set", "cache_index_and_filter_blocks=1"]) == 2
    assert "cache_size above 0" in capsys.readouterr().err


def test_a_screening_refuses_values_that_a_trial_cannot_have(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "runs.jsonl", [measured(1), measured(3)])
    flags = ["--batch", file, "--home", str(tmp_path / "home"), "--db-bench", "db_bench"]
    assert run(["screen", *flags]) == 2
    err = capsys.readouterr().err
    assert "run-3" in err
    assert "cache_size" in err
