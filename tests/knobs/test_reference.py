"""The reference page of the knobs."""

from pathlib import Path

from typer.testing import CliRunner

from lsmtune.cli.main import app
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.reference import lines, page

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "knobs.md"
CATALOGUE = load("rocksdb")


def test_the_page_is_what_the_program_prints() -> None:
    """To generate it again: lsmtune knobs --markdown > docs/reference/knobs.md."""
    assert page(CATALOGUE) == PAGE.read_text(encoding="utf-8")
    assert CliRunner().invoke(app, ["knobs", "--markdown"]).output == page(CATALOGUE)


def test_tikv_has_a_page_of_its_own() -> None:
    """To generate it again: lsmtune knobs tikv --markdown > docs/reference/knobs-tikv.md."""
    told = page(load("tikv"))
    assert told == PAGE.with_name("knobs-tikv.md").read_text(encoding="utf-8")
    assert "`lsmtune knobs tikv --markdown`" in told
    assert "db_bench" not in told


def test_page_and_lines_tell_of_every_knob_under_its_area() -> None:
    told, listed = page(CATALOGUE), list(lines(CATALOGUE))
    for knob in CATALOGUE.knobs:
        assert told.count(f"| `{knob.name}` |") == 1
        above = listed[: place_of(listed, knob.name)]
        area = [line for line in above if not line.startswith(" ")][-1]
        assert area == f"{knob.area}:"


def place_of(listed: list[str], name: str) -> int:
    return next(at for at, line in enumerate(listed) if line.startswith(f"  {name}  ["))
