"""Files that are exported from a home of an earlier version are those of the record.

`--write-contract` writes only records that are missing, so that no wrong change is recorded.
"""

from pathlib import Path

import pytest

from fakes.recorded_home import Enter, studies_in
from lsmtune.cli.main import run

EXPORTS = Path(__file__).parent / "exports"
FORMATS = {
    "verified": ("options", "db_bench"), "server": ("my.cnf",), "cluster": ("tikv-toml",),
    "stores": ("toml",),
}  # fmt: skip
CASES = [
    (name, form, flags) for name in FORMATS for form in FORMATS[name] for flags in ([], ["--back"])
]
PICKED = {
    "cluster": "1",
    "screening": "2",
    "experiment": "1",
    "cached-interrupted": "3",
    "sized-interrupted": "3",
}
"""Trials of studies without a winner."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_exported_file_has_the_values_of_the_record(
    place: Path, capsys: pytest.CaptureFixture[str], write: bool, case: tuple[str, str, list[str]]
) -> None:
    study, form, flags = case
    picked = ["--trial", "1"] if study == "cluster" else []
    assert run(["export", study, "--format", form, *picked, *flags]) == 0
    text = capsys.readouterr().out
    kept = EXPORTS / f"{form}{'.back' if flags else ''}.txt"
    if write and not kept.exists():
        EXPORTS.mkdir(exist_ok=True)
        kept.write_text(text)
    assert _values(text) or flags  # an option that tikv.toml did not have is left out again
    assert _values(text) == _values(kept.read_text())


def _values(text: str) -> list[str]:
    """Return the lines of a file without its comments."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.slow
@pytest.mark.parametrize("version", ["0.2.0", "removed-optimizers", "0.3.0.dev0"])
def test_export_of_an_earlier_version_gives_the_bytes_of_the_record(
    enter: Enter, capsys: pytest.CaptureFixture[str], write: bool, version: str
) -> None:
    folder, found = EXPORTS / version, dict[str, str]()
    for study in studies_in(enter(version)):
        for form in _formats(study):
            for flags in ([], ["--back"]):
                picked = ["--trial", PICKED[study]] if study in PICKED else []
                code = run(["export", study, "--format", form, *picked, *flags])
                text, error = capsys.readouterr()
                assert code == 0, error
                found[f"{study}.{form}{'.back' if flags else ''}.txt"] = text
    if write and not folder.exists():
        folder.mkdir()
        for name, text in found.items():
            (folder / name).write_bytes(text.encode())
    recorded = {path.name: path.read_bytes().decode() for path in folder.iterdir()}
    assert sorted(found) == sorted(recorded)
    assert [name for name in found if found[name] != recorded[name]] == []


def _formats(study: str) -> tuple[str, ...]:
    """Return the formats in which a study of a recorded home can be exported."""
    others = {"server": ("my.cnf",), "cluster": ("tikv-toml",), "stores": ("toml",),
              "stores-simplified": ("toml",), "online": ("options",)}  # fmt: skip
    return others.get(study, ("options", "db_bench"))
