"""`lsmtune inspect --compare` and `--after` as their users type them."""

import json
from pathlib import Path

import pytest

from fakes.bench_texts import banner, report, result, row
from lsmtune.cli.main import run
from lsmtune.report.text.words import TIMES

LEVEL = str(Path(__file__).parents[1] / "data" / "captured" / "rocksdb-7.8.3-level" / "LOG.gz")


@pytest.fixture(name="files")
def _files(tmp_path: Path) -> list[str]:
    paths = []
    for number, ops in enumerate((50_000, 51_000, 75_000, 77_000)):
        path = tmp_path / f"run{number}.txt"
        path.write_text(banner() + result("overwrite", ops))
        paths.append(str(path))
    return paths


def test_one_run_each_is_said_in_words(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", files[0], files[2], "--compare"]) == 0
    text = capsys.readouterr().out
    verdict = f"1.5 {TIMES} faster; one run each: chance cannot be excluded"
    assert verdict in text.splitlines()[0]
    assert "better" not in text


def test_files_after_the_change_are_named_with_after(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["inspect", *files[:2], "--after", files[2], "--after", files[3]]
    assert run(words) == 0
    assert "better: 2 runs before, 2 after" in capsys.readouterr().out
    assert run([*words, "--compare", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["comparable"] is True
    assert document["benchmarks"][0]["verdict"] == "better"
    assert document["workload"].keys() >= {"writes_s", "gets_s"}
    assert {"comparable", "why", "workload", "metrics", "options"} <= document.keys()


def test_the_load_is_named_before_the_results(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.txt"
    other.write_text(banner(records=7_000_000, version="9.5.0") + result("overwrite", 99_000))
    assert run(["inspect", files[0], str(other), "--compare"]) == 0
    text = capsys.readouterr().out
    places = [text.index(word) for word in ("2,000,000", "7,000,000", "9.5.0 after", "faster")]
    assert places == sorted(places)
    assert "may come from the other load: number of records" in text


def test_a_wrong_number_of_files_is_refused(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", *files[:3], "--compare"]) == 2
    assert "--after" in capsys.readouterr().err
    assert run(["inspect", files[0], "--compare"]) == 2
    assert files[0] in capsys.readouterr().err


def test_a_report_with_two_versions_needs_no_second_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.tsv"
    path.write_text(report(row(250_000), row(200_000, version="9.5.0")))
    assert run(["inspect", str(path), "--compare"]) == 0
    assert f"1.25 {TIMES} slower" in capsys.readouterr().out
    assert run(["inspect", str(path)]) == 0
    text = capsys.readouterr().out
    assert "result of overwrite.t8.s0, 9.5.0" in text


def test_the_page_shows_the_comparison(files: list[str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ["inspect", files[0], files[2], "--compare", "--page", str(page)]
    assert run(words) == 0
    html = page.read_text()
    assert "one run each" in html
    assert "ops_per_s" in html
    assert html.index("1.5") < html.index("ops_per_s")


def test_one_log_each_proves_nothing_and_two_have_an_interval(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["inspect", LEVEL, LEVEL, "--compare"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "one run each: chance cannot be excluded" in first
    other = LEVEL.replace("level", "universal")
    words = ["inspect", LEVEL, other, "--after", LEVEL, "--after", other, "--json"]
    assert run(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["metrics"]["write_amp"]["runs_before"] == 2
    assert document["metrics"]["write_amp"]["verdict"] == "undecided"


def test_a_file_is_not_two_runs(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", files[0], files[0], "--after", files[2], "--after", files[3]]) == 2
    assert files[0] in capsys.readouterr().err
