"""The reference page of the knobs."""

from pathlib import Path

from typer.testing import CliRunner

from lsmtune.cli.main import app
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.reference import page

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


def test_the_page_tells_of_every_knob_under_its_area() -> None:
    told = page(CATALOGUE)
    for knob in CATALOGUE.knobs:
        above, _, below = told.partition(f"| `{knob.name}` |")
        assert below.count(f"| `{knob.name}` |") == 0 < len(below)
        assert above.rpartition("## ")[2].splitlines()[0].lower() == knob.area.lower()
