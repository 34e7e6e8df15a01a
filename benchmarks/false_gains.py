"""Count how often lsmtune claims a gain where there is none: baseline against baseline.

    .venv/bin/python benchmarks/false_gains.py HOME

Runs 20 real verifications of the baseline against itself with 50,000 records. An interrupted call
continues. Writes the counts and the runs to benchmarks/results/. tests/study/test_false_gains.py
samples 100 more verifications from these runs. Nothing else may run on the machine.
"""

import json
import sys
from pathlib import Path
from typing import Any

from opened import open_study

from lsmtune.cli.progress import TerminalObserver
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.store.records import complete_pairs, complete_trials
from lsmtune.study.baselines import measure_baseline
from lsmtune.study.verify import verify_trial
from lsmtune.trials import Role
from lsmtune.verdict import Pair, Verdict
from lsmtune.workloads import Workload

REAL = 20
RESULTS = Path(__file__).parent / "results"
SPEC = StudySettings(study="false-gains", workload=Workload(num=50_000), base_runs=REAL)


def real_verifications(home: Home) -> tuple[list[Verdict], list[list[Pair]]]:
    """Verify each run of the baseline as if it were a winner."""
    with open_study(home, SPEC, RocksDB(DbBench("db_bench")), TerminalObserver()) as study:
        measure_baseline(study)
        base_trials = complete_trials(study.trials(), Role.BASE)
        verdicts = [verify_trial(study, t, SPEC.scale, SPEC.workload) for t in base_trials]
        stored = home.trials(study.stored)
        pairs = [complete_pairs(stored, v) for v in home.verifications(study.stored)]
    return verdicts, pairs


def main() -> None:
    """Run the verifications and write their runs and claims."""
    with Home(Path(sys.argv[1]), create=True) as home:
        verdicts, pairs = real_verifications(home)
    gains = sum(verdict.claim == "gain" for verdict in verdicts)
    document: dict[str, Any] = {
        "verifications": len(verdicts),
        "claims_of_gain": gains,
        "pairs": [verdict.pairs for verdict in verdicts],
        "objective": [
            [round(x, 4) for x in (v.objective.median, v.objective.low, v.objective.high)]
            for v in verdicts
        ],
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "false_gains.json").write_text(json.dumps(document, indent=1) + "\n")
    noise = [[[rounded(run) for run in pair] for pair in group] for group in pairs]
    (RESULTS / "base_noise.json").write_text(json.dumps(noise) + "\n")
    sys.stdout.write(json.dumps(document, indent=1) + "\n")


def rounded(metrics: Any) -> dict[str, float]:
    """Return metrics with six significant digits, more than their accuracy."""
    return {name: float(f"{value:.6g}") for name, value in metrics.items()}


if __name__ == "__main__":
    main()
