"""Read damaged inputs: each must be read or be refused in a sentence, without a traceback.

    .venv/bin/python benchmarks/mutated_inputs.py [--inputs N]
    .venv/bin/python benchmarks/mutated_inputs.py --reader NAME [--seed N]

Each reader of benchmarks/mutated/ reads N inputs, made from valid ones with the seeds 0 to N - 1,
in a process of its own. An input is a problem if its reader raises another error than a refusal,
takes more than 10 s of CPU time, or takes 300 MB more than the process had when it had read a valid
input. Writes benchmarks/results/mutated_inputs.json after each reader and skips the readers that it
contains. With --reader, reads one reader's inputs again; with --seed, only one of them and in this
process, and says how that ended.
"""

import argparse
import faulthandler
import json
import multiprocessing
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from mutated import before_after, engines, homes, libraries, logs, pastes, runs, settings
from mutated.reader import Reader

RESULTS = Path(__file__).parent / "results" / "mutated_inputs.json"
READERS: dict[str, Reader] = {
    **settings.READERS,
    **runs.READERS,
    **engines.READERS,
    **libraries.READERS,
    **logs.READERS,
    **pastes.READERS,
    **before_after.READERS,
    **homes.READERS,
}
LONGEST_S, MOST_MB = 10, 300
_WALL_S = 60
"""After this time, a process ends: other programs may run on the machine."""
_MB = 10**6
_FENCE_BYTES = 8 << 30
"""Address space that a process may add: it protects the machine."""


@cache
def valid_inputs(name: str) -> Sequence[bytes]:
    """Return the valid inputs of a reader."""
    return READERS[name].seeds()


def outcome(name: str, seed: int, folder: Path) -> tuple[str, str]:
    """Return whether the input was read, was refused or is a problem, and the error."""
    reader = READERS[name]
    rng = random.Random(f"{name} {seed}")  # noqa: S311 - not for secrets
    data = reader.input(valid_inputs(name), rng)
    try:
        reader.read(data, folder)
    except reader.refuses as error:
        return "refused", str(error)
    except BaseException:  # a SystemExit is a problem, too
        return "problem", traceback.format_exc()
    return "read", ""


def _peak_mb() -> float:
    """Return the largest resident memory since the last call."""
    status = Path("/proc/self/status").read_text()
    kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    Path("/proc/self/clear_refs").write_text("5")
    return kib * 1024 / _MB


def work(name: str, seeds: range, folder: Path, answers: Connection) -> None:
    """Send the outcome, CPU seconds and megabytes of each input.

    Ends the process if an input takes a minute.
    """
    with suppress(*READERS[name].refuses):
        READERS[name].read(valid_inputs(name)[0], folder)  # imports what it needs
    _peak_mb()
    before = _peak_mb()
    size = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (_FENCE_BYTES, size))
    for seed in seeds:
        faulthandler.dump_traceback_later(_WALL_S, exit=True)
        started = time.process_time()
        kind, error = outcome(name, seed, folder)
        took_s = time.process_time() - started
        faulthandler.cancel_dump_traceback_later()
        answers.send((kind, error, took_s, _peak_mb() - before))


def measure(name: str, inputs: int, folder: Path) -> dict[str, Any]:
    """Read the inputs, in a new process after each that ended its process; what became of them."""
    kinds: Counter[str] = Counter()
    problems, longest_s, most_mb, seed = [], 0.0, 0.0, 0
    while seed < inputs:
        ours, theirs = multiprocessing.Pipe(duplex=False)
        arguments = (name, range(seed, inputs), folder, theirs)
        worker = multiprocessing.get_context("spawn").Process(target=work, args=arguments)
        worker.start()
        theirs.close()
        while seed < inputs:
            try:
                kind, error, took_s, added_mb = ours.recv()
            except EOFError:
                kind, error, took_s, added_mb = "problem", "the process ended", 0.0, 0.0
            if added_mb > MOST_MB:
                kind, error = "problem", f"takes {added_mb:.0f} MB"
            if took_s > LONGEST_S:
                kind, error = "problem", f"takes {took_s:.0f} s"
            kinds[kind] += 1
            if kind == "problem":
                problems.append({"seed": seed, "error": error.strip().splitlines()[-1][:300]})
                print(f"{name} --seed {seed}:\n{error}", file=sys.stderr, flush=True)
            longest_s, most_mb = max(longest_s, took_s), max(most_mb, added_mb)
            seed += 1
            if error == "the process ended":
                break
        worker.join()
    return {
        "inputs": inputs,
        "read": kinds["read"],
        "refused": kinds["refused"],
        "problems": problems,
        "longest_s": round(longest_s, 2),
        "most_mb": round(most_mb),
    }


def main() -> None:
    """Do what the module says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--reader", choices=READERS)
    parser.add_argument("--seed", type=int)
    given = parser.parse_args()
    if given.seed is not None:
        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(": ".join(outcome(given.reader, given.seed, Path(folder))) + "\n")
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in [given.reader] if given.reader else READERS:
        if name in results and not given.reader:
            continue
        folder = Path(tempfile.mkdtemp())
        started = time.monotonic()
        results[name] = measure(name, given.inputs, folder)
        shutil.rmtree(folder)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        took_s = time.monotonic() - started
        print(name, {**results[name], "problems": len(results[name]["problems"])},
              f"{took_s:.0f} s", flush=True)  # fmt: skip
    total = sum(done["inputs"] for done in results.values())
    print(total, "inputs,", sum(len(done["problems"]) for done in results.values()), "problems")


if __name__ == "__main__":
    main()
