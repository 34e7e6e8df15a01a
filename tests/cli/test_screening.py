"""Screening and importance as commands, on the real db_bench and on the data that ships."""

import gzip
import json
from pathlib import Path

import pytest

import lsmtune
from lsmtune.cli.main import run

SHIPPED = Path(lsmtune.__file__).parent / "data" / "jin2022" / "honest.jsonl.gz"


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory, quick_models: None) -> Path:
    """Few enough configs to be quick."""
    file = tmp_path_factory.mktemp("batch") / "some.jsonl"
    lines = gzip.decompress(SHIPPED.read_bytes()).splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:80]))
    return file


@pytest.mark.slow
@pytest.mark.db_bench
def test_a_screening_writes_what_another_can_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], crowd: None
) -> None:
    home, first, second = tmp_path / "home", tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    common = ["--home", str(home), "--json"]
    file = tmp_path / "quick.toml"
    file.write_text("[protocol]\nprobe_reads = 100\n")
    flags = ["--num", "5000", "--trials", "3", "--replicated", "1", "--runs", "2"]
    command = ["screen", str(file), *common]
    assert run([*command, *flags, "--study", "a", "-o", str(first)]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 4
    lines = [json.loads(line) for line in first.read_text().splitlines()]
    assert lines[0]["knobs"] == lines[3]["knobs"]
    assert lines[0]["metrics"]["write_amp"] > 0
    again = ["--batch", str(first), "--replicated", "0", "--study", "b", "-o", str(second)]
    assert run([*command, *again]) == 0
    rerun = [json.loads(line) for line in second.read_text().splitlines()]
    for again, line in zip(rerun, lines, strict=False):  # what has no effect there is left out
        assert again["knobs"].items() <= line["knobs"].items()
    assert [line["workload"] for line in rerun] == [line["workload"] for line in lines[:3]]


def test_importance_of_a_batch_has_the_shape_of_the_contract(
    batch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    flags = ["--batch", str(batch), "--metric", "live_sst_bytes", "--repeats", "1"]
    assert run(["importance", *flags, "--page", str(page), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = document["metrics"]["live_sst_bytes"]
    assert found["r2_holdout"].keys() == {"median", "low", "high"}
    assert found["model"]
    assert -1 < found["r2_oob"] < 1
    wanted = {"knob", "mdi", "permutation", "permutation_low", "permutation_high", "anova_p",
              "eta_squared", "lasso_rank"}  # fmt: skip
    assert all(wanted <= knob.keys() for knob in found["knobs"])
    falls = [knob["permutation"] for knob in found["knobs"]]
    assert falls == sorted(falls, reverse=True)
    assert {knob["knob"] for knob in found["knobs"][:2]} == {
        "compression_type", "min_level_to_compress",
    }  # fmt: skip
    assert "compression_type" in page.read_text()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ([], "--batch FILE"),
        (["s", "--batch", "x"], "--batch FILE"),
        (["--batch", "nowhere.jsonl"], "nowhere.jsonl"),
        (["--batch", "BATCH", "--metric", "speed"], "'speed'"),
        (["--batch", "BATCH", "--metric", "build_s"], "'build_s'"),
    ],
)
def test_importance_refuses_what_it_cannot_do(
    batch: Path, capsys: pytest.CaptureFixture[str], flags: list[str], told: str
) -> None:
    given = [str(batch) if flag == "BATCH" else flag for flag in flags]
    assert run(["importance", *given]) == 2
    assert told in capsys.readouterr().err


def test_too_few_configs_are_refused(
    batch: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = tmp_path / "few.jsonl"
    few.write_text("".join(batch.read_text().splitlines(keepends=True)[:5]))
    assert run(["importance", "--batch", str(few)]) == 2
    assert "5" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.db_bench
def test_the_top_knobs_of_a_screening_are_tuned(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], quick_models: None
) -> None:
    flags = ["tune", "--workload", "fillrandom", "--knobs", "top:3", "--num", "5000"]
    flags += ["--home", str(tmp_path), "--dry-run"]
    assert run([*flags, "--json"]) == 0
    captured = capsys.readouterr()
    assert "knobs: top:3" in captured.err
    assert len(json.loads(captured.out)["knobs"]) == 3


@pytest.mark.usefixtures("fake_db_bench")
@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--knobs", "top:0"], "top:N with N >= 1"),
        (["--knobs", "top:many"], "top:N with N >= 1"),
        (["--knobs", "top:3", "--workload", "readrandom"], "lsmtune screen --workload readrandom"),
    ],
)
def test_top_knobs_that_cannot_be_told_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], told: str
) -> None:
    assert run(["tune", *flags, "--home", str(tmp_path)]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.usefixtures("fake_db_bench")
@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--design", "grid"], "--design"),
        (["--runs", "1"], "--runs 1"),
        (["--batch", "x.jsonl", "--num", "5000"], "workload: not allowed with --batch"),
        (["--batch", "x.jsonl"], "batch x.jsonl"),
    ],
)
def test_a_screening_refuses_what_it_cannot_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], told: str
) -> None:
    assert run(["screen", *flags, "--home", str(tmp_path / "home")]) == 2
    assert told in capsys.readouterr().err


def test_an_unknown_recipe_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reproduce", "jin2023"]) == 2
    assert "did you mean 'jin2022'" in capsys.readouterr().err
