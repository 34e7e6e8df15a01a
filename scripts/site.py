"""Build the documentation site into site/.

    python scripts/site.py

Generates the reference and the tables of measurements, builds the site, and adds a page on which
the simulator plays two runs (if the simulator is installed).
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
_LSMTUNE = (sys.executable, "-c", "from lsmtune.cli.main import main; main()")
_PLAYED = ("simulate", "--num", "100000", "--set", "compaction_style=1", "--page")
_GENERATED = {
    "docs/reference/knobs.md": ("knobs", "--markdown"),
    "docs/reference/knobs-tikv.md": ("knobs", "tikv", "--markdown"),
    "docs/reference/study.schema.json": ("schema",),
}


def main() -> None:
    """Run the generators, then Zensical, then the simulator."""
    for path, command in _GENERATED.items():
        done = subprocess.run(
            [*_LSMTUNE, *command], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
        )
        if (ROOT / path).read_text(encoding="utf-8") != done.stdout:
            (ROOT / path).write_text(done.stdout, encoding="utf-8")
    for script in ("scripts/reference.py", "benchmarks/figures.py"):
        _python(script)
    _python("-m", "zensical", "build", "--clean")
    page = ROOT / "site" / "played" / "compaction.html"
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "LSMTUNE_HOME": home}
        played = subprocess.run(
            [*_LSMTUNE, *_PLAYED, str(page)], cwd=ROOT, env=environment, check=False,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
    if played.returncode != 0:
        sys.stderr.write("site: the page of the simulator is missing; `make setup` builds it\n")
    sys.stdout.write(f"{ROOT / 'site' / 'index.html'}\n")


def _python(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True)


if __name__ == "__main__":
    main()
