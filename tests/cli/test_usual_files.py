"""`report` and `export` without --output and --format: the study's page, its engine's format."""

from pathlib import Path

import pytest

from fakes.made_home import enter_home
from lsmtune.cli.main import run


@pytest.fixture
def place(made_home: Path, tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a home in which studies of several engines are."""
    return enter_home(made_home, tmp_path / "place", monkeypatch)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (["verified"], "verified/report.html"),
        (["verified", "--trial", "2"], "verified/report-trial-2.html"),
        (["verified", "finished"], "overview.html"),
    ],
)
def test_report_without_output_writes_a_page_into_the_home(
    place: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], name: str
) -> None:
    assert run(["report", *arguments]) == 0
    page = Path(capsys.readouterr().out.strip())
    assert page.parts[-len(Path(name).parts) - 1 :] == ("results", *Path(name).parts)
    assert page.read_text().startswith("<!")
    assert [file.resolve() for file in place.rglob("*.html")] == [page.resolve()]


@pytest.mark.parametrize(
    ("study", "form"), [("verified", "options"), ("server", "my.cnf"), ("stores", "toml")]
)
def test_export_without_format_writes_the_file_to_deploy(
    place: Path, capsys: pytest.CaptureFixture[str], study: str, form: str
) -> None:
    assert run(["export", study]) == 0
    usual = capsys.readouterr().out
    assert run(["export", study, "--format", form]) == 0
    assert usual == capsys.readouterr().out
