"""Inspect each planted and captured LOG in every frame, and parts of it.

    .venv/bin/python benchmarks/inspect_inputs.py [LOG ...]

Every LOG is put into each of the frames of tests/fakes/frames.py and must have the same findings.
Then it is cut at 20 random places, which a seed fixes, and the part before or after the cut is
inspected. A part has the verdict "no findings" only if no rule lacks data. Findings that only a
part has are printed with their evidence: the part itself must prove them. Writes
benchmarks/results/inspect_inputs.json.
"""

import gzip
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.frames import FRAMES  # noqa: E402
from lsmtune.analysis.inspect.inspection import Inspection  # noqa: E402
from lsmtune.analysis.inspect.read import inspect_path  # noqa: E402
from lsmtune.errors import UserError  # noqa: E402

DATA = ROOT / "tests" / "data"
RESULTS = ROOT / "benchmarks" / "results" / "inspect_inputs.json"
CUTS = 20


def logs() -> list[Path]:
    """Return the LOGs that are named, or those of the tests."""
    if sys.argv[1:]:
        return [Path(name) for name in sys.argv[1:]]
    folders = [DATA / name for name in ("planted", "healthy", "captured")]
    return sorted(path for folder in folders for path in folder.rglob("*LOG.gz"))


def content(path: Path) -> bytes:
    """Return the text of a LOG, plain or gzip."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def inspected(data: bytes, folder: Path) -> Inspection | None:
    """Return what inspect says; None if it refuses the text."""
    path = folder / "LOG"
    path.write_bytes(data)
    try:
        return inspect_path(path)
    except UserError:
        return None


def codes(log: Inspection | None) -> list[str]:
    """Return the codes of the findings, the first one first."""
    return [finding.code for finding in log.findings] if log else []


def parts(data: bytes, seed: str) -> Iterator[bytes]:
    """Yield the part before or after each random place."""
    rng = random.Random(seed)  # noqa: S311
    for _ in range(CUTS):
        place = rng.randrange(1, len(data))
        yield data[:place] if rng.random() < 0.5 else data[place:]  # noqa: PLR2004


def judged(path: Path, folder: Path) -> dict[str, Any]:
    """Return in how many frames and parts the findings are right, and print the others."""
    data = content(path)
    whole = inspected(data, folder)
    framed = 0
    for name, frame in FRAMES.items():
        if codes(inspected(frame(data.decode(errors="replace")), folder)) == codes(whole):
            framed += 1
        else:
            print(f"{path.name} in {name}: other findings")
    clear, refused, own = 0, 0, 0
    for part in parts(data, path.name):
        found = inspected(part, folder)
        if found is None:
            refused += 1
            continue
        clear += found.verdict == "no_findings"
        for finding in found.findings:
            if finding.code not in codes(whole):
                own += 1
                print(f"{path.name}, part of {len(part):,} bytes: {finding.code}: "
                      f"{finding.evidence}")  # fmt: skip
    return {
        "verdict": whole.verdict if whole else None, "findings": codes(whole),
        "frames": len(FRAMES), "frames_alike": framed, "parts": CUTS, "parts_refused": refused,
        "parts_without_findings": clear, "findings_of_parts_alone": own,
    }  # fmt: skip


def main() -> None:
    """Judge each LOG and write the results."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in logs():
            name = f"{path.parent.name}/{path.name}"
            results[name] = judged(path, Path(folder))
            print(name, results[name], flush=True)
            RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
