"""Run the commands whose output README.md and docs/ quote, and put the output there.

    python scripts/outputs.py

The commands run in a temporary folder with the files of examples/ and docs/studies. Outputs marked
"by hand" stay as they are: their commands take minutes.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from documented import arguments, make_sandbox, pages, with_outputs

_FILES = {"/var/lib/store": "store", "/var/lib/store/LOG": "store/LOG"}


def output(command: str, folder: Path) -> str:
    """Return what the command prints on standard output; CalledProcessError when it fails."""
    # Without one, lsmtune would take the number of columns from the terminal of whoever runs this.
    environment = {**os.environ, "COLUMNS": "100", "LSMTUNE_HOME": str(folder / "lsmtune-data")}
    argv = [sys.executable, "-c", "from lsmtune.cli.main import main; main()"]
    argv += arguments(command, 10**12, 10**5, _FILES)
    done = subprocess.run(
        argv, cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def filled(page: Path) -> str:
    """Return the text of a page with its outputs made again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_sandbox(folder)
        return with_outputs(page.read_text(encoding="utf-8"), lambda c: output(c, folder))


def main() -> None:
    """Write the outputs into all pages."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        if "<!-- output of: " in text:
            page.write_text(filled(page), encoding="utf-8")


if __name__ == "__main__":
    main()
