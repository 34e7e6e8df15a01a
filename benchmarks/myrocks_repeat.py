"""Measure how much runs with the same transactions and seed differ on MyRocks.

    .venv/bin/python benchmarks/myrocks_repeat.py

TPC-C with two warehouses, six runs per compaction style; it also measures the time that a trial
adds to a run. Nothing else may run on the machine. Writes benchmarks/results/myrocks_repeat.json;
benchmarks/figures.py copies it into the docs.
"""

import json
import tempfile
import time
from pathlib import Path
from typing import Any

from lsmtune.engines.base import Places, Watch
from lsmtune.engines.myrocks.engine import MyRocks
from lsmtune.spaces import knob_space
from lsmtune.spec import make_spec
from lsmtune.study.opening import describe
from lsmtune.system.workdir import workdir
from lsmtune.trials import TrialSpec

RESULTS = Path(__file__).parent / "results" / "myrocks_repeat.json"
RUNS = 6
STYLES = {"level": 0, "universal": 1}


def main() -> None:
    """Run everything and store the results."""
    spec = make_spec({"workload": {"name": "tpcc", "operations": 1500}}, "here")
    engine = MyRocks(spec.program)
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as folder:
        work = Path(folder)
        _, ground = describe(spec, engine, work)
        space = knob_space(spec, ground)
        base = space.settings(space.default())
        found: dict[str, list[dict[str, float]]] = {}
        for name, style in STYLES.items():
            settings = space.settings({**space.default(), "default.compaction_style": style})
            trial = TrialSpec(
                settings=settings, base_settings=base, workload=spec.workload,
                protocol=spec.protocol, seed=7,
            )  # fmt: skip
            found[name] = [_run(engine, trial, ground.base, work) for _ in range(RUNS)]
            print(name, found[name])
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


def _run(engine: MyRocks, trial: TrialSpec, base: Any, work: Path) -> dict[str, float]:
    """Return one run: its metrics, and its time outside load, settling and building."""
    phases: dict[str, float] = {}
    with workdir(work, "trial") as directory:
        began = time.monotonic()
        places = Places(directory, work / "templates")
        watch = Watch(lambda phase: phases.setdefault(phase, time.monotonic()) and None)
        outcome = engine.run(trial, base, places, watch)
        took_s = time.monotonic() - began
    m = outcome.result.metrics
    if not m:
        raise SystemExit(f"a run failed: {outcome.result.reason}")
    building_s = m["build_s"] if "build" in phases else 0.0
    return {
        "write_amp": m["write_amp"],
        "live_sst_bytes": m["live_sst_bytes"],
        "tpmc": m["tpmc"],
        "added_s": took_s - m["load_s"] - m["settle_s"] - building_s,
        "others_cpu_percent": m["others_cpu_percent"],
    }


if __name__ == "__main__":
    main()
