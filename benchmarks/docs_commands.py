"""The commands of README.md and docs/ that need real engines, run smaller.

    .venv/bin/python benchmarks/docs_commands.py HOME [WORD …]

Runs each command of the code blocks marked `<!-- run: benchmarks/docs_commands.py -->`, with
--num, --trials and study files made smaller. Each page has its own folder below HOME. Writes
benchmarks/results/docs_commands.json after every command and skips what it contains; with words,
runs only commands that contain one of them. Commands with a `make` in front need its target.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

import documented  # noqa: E402 - it is not in the package

RESULTS = ROOT / "benchmarks" / "results" / "docs_commands.json"
NUM, TRIALS, SCREENED = 20_000, 12, 40
_BEFORE = {
    "searching": f"lsmtune tune --workload readrandom --num {NUM} --trials 6 --study reads",
}
"""What a page expects to be in the home."""


def run(command: str, folder: Path) -> dict[str, Any]:
    """Run a command smaller; how it ended and how long it took."""
    trials = SCREENED if command.startswith("lsmtune screen") else TRIALS
    given = documented.arguments(command, NUM, trials, {})
    if given[0] == "reproduce" and "--num" not in given:
        given += ["--num", str(NUM), "--repeats", "2"]
    if given[:1] == ["compare"] and "--real" not in given:
        given += ["--trials", str(TRIALS), "--repeats", "2"]
    print("lsmtune", *given, flush=True)
    environment = {**os.environ, "LSMTUNE_HOME": str(folder / "lsmtune-data")}
    argv = [sys.executable, "-c", "from lsmtune.cli.main import main; main()", *given]
    started = time.monotonic()
    done = subprocess.run(
        argv, cwd=folder, env=environment, check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        sys.stderr.write(done.stdout[-2000:])
    return {
        "ran": " ".join(["lsmtune", *given]),
        "exit_code": done.returncode,
        "seconds": round(time.monotonic() - started, 1),
    }


def folder_of(page: Path, home: Path) -> Path:
    """The folder of a page's commands, with smaller study files."""
    folder = home / page.stem
    if not folder.exists():
        folder.mkdir(parents=True)
        documented.make_sandbox(folder)
        for study in folder.rglob("*.toml"):
            study.write_text(_smaller(study.read_text()))
        if before := _BEFORE.get(page.stem):
            run(before, folder)
    return folder


def _smaller(study: str) -> str:
    smaller = re.sub(r"^num = \d+", f"num = {NUM}", study, flags=re.MULTILINE)
    smaller = re.sub(r"^operations = \d+", f"operations = {NUM}", smaller, flags=re.MULTILINE)
    if "[sweep]" in smaller:
        return re.sub(r"^repeats = \d+", "repeats = 2", smaller, flags=re.MULTILINE)
    return f"trials = {TRIALS}\n" + re.sub(r"^trials = \d+.*\n", "", smaller, flags=re.MULTILINE)


def main() -> None:
    """Run the commands that have not run yet, and write how each ended."""
    home, words = Path(sys.argv[1]).absolute(), sys.argv[2:]
    results = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    for page in documented.pages():
        for block in documented.blocks(page):
            if block.runner != documented.REAL:
                continue
            for command in block.commands:
                wanted = not words or any(word in command for word in words)
                if not wanted or results.get(command, {}).get("exit_code") == 0:
                    continue
                results[command] = run(command, folder_of(page, home))
                RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
