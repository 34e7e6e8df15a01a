"""The real db_bench, run on an OPTIONS file for no more than one write."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.option_text import Sections, read_value, statements
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import parse_options, replace_options

CATALOGUE = load("rocksdb")
CAPTURED = Path(__file__).parent.parent / "data" / "captured"


def captured(run: str) -> Sections:
    """The OPTIONS that a captured run has written."""
    return parse_options((CAPTURED / run / "OPTIONS").read_text()).sections


def read_all(sections: Sections) -> Settings:
    """All that the file says of the catalogue's knobs."""
    told = {knob.name: read_value(knob, sections) for knob in CATALOGUE.knobs}
    return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Opened:
    """What came of an open: the exit code, all output, the OPTIONS (empty when it was refused)."""

    code: int
    output: str
    sections: Sections


class Bench:
    """db_bench with a base: the OPTIONS that it writes when it is given none."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.base_text = ""
        self._run([])
        self.base_text = self._written()
        self.base = parse_options(self.base_text).sections

    def open(self, raw: Settings, *flags: str) -> Opened:
        """Set the raw values in the base's OPTIONS and open a database with them."""
        file = self._folder / "given.ini"
        changes = statements(CATALOGUE.knobs, raw, self.base)
        file.write_text(replace_options(self.base_text, changes))
        done = self._run([f"--options_file={file}", *flags])
        sections = parse_options(self._written()).sections if done.returncode == 0 else {}
        return Opened(done.returncode, done.stdout + done.stderr, sections)

    def flags(self, *flags: str) -> Opened:
        """Open a database without an OPTIONS file."""
        done = self._run(list(flags))
        return Opened(done.returncode, done.stdout + done.stderr, {})

    def _run(self, flags: list[str]) -> subprocess.CompletedProcess[str]:
        database = self._folder / "db"
        shutil.rmtree(database, ignore_errors=True)
        return subprocess.run(
            ["db_bench", "--benchmarks=fillseq", "--num=1", f"--db={database}", *flags],
            capture_output=True,
            text=True,
            check=False,
        )

    def _written(self) -> str:
        return sorted((self._folder / "db").glob("OPTIONS-*"))[-1].read_text()
