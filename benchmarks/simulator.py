"""Compare the simulator's predictions with real runs that were not used to fit it.

    .venv/bin/python benchmarks/simulator.py

The real runs are the screening that ships: level compaction, 25 knobs, 200,000 records, a build
with assertions. The simulator's constants come from the first 80 configs, which are left out here.

More runs are from two other machines. On the second machine: random configs with all compaction
knobs (styles.jsonl), more universal ones (universal.jsonl), 1,000,000 records (million.jsonl),
universal configs that ran three times (repeats.jsonl) and again later (repeats_later.jsonl), and
FIFO (fifo.jsonl). elsewhere_machine.json is the result of one `lsmtune doctor --calibrate` before
the later repeats. Nothing was fitted to these runs.

On the third machine: runs of random_configs.py (zstd.jsonl, lz4hc.jsonl, and snappy_million.jsonl
with 1,000,000 records). zstd_machine.json and similar files are its calibrations, each made just
before the runs. After the first of them, one thing changed in the simulator: the last flush of a
load waits. After the others nothing changed.

On other versions of RocksDB: runs of version_runs.py, with its calibrations.

Writes results/simulator.json. If the median error of write amplification of a version changes,
write it into COMPARED in src/lsmtune/simulator/modelled.py too.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import spearmanr

from lsmtune.analysis.importance import runs_of
from lsmtune.analysis.screened import shipped
from lsmtune.api.simulate import run_of
from lsmtune.batch import BatchLine, read_batch
from lsmtune.learning.models import FOREST, MODELS, fitted_model
from lsmtune.simulator import Prediction, predict
from lsmtune.spec import catalogue_of
from lsmtune.workloads import Workload

FOLDER = Path(__file__).parent / "results"
RESULTS = FOLDER / "simulator.json"
FITTED, TRAINED = 80, 400
METRICS = ("write_amp", "live_sst_bytes", "flush_write_bytes", "compact_write_bytes",
           "load_s", "settle_s", "total_s", "stall_s", "cpu_s", "get_p50_us", "get_p99_us",
           "get_missing_p50_us", "get_missing_p99_us", "scan_p50_us", "scan_p99_us",
           "read_amp")  # fmt: skip
OF_STYLES = ("write_amp", "live_sst_bytes", "total_s", "stall_s")
ELSEWHERE, REPEATED = ("styles", "universal", "million", "fifo"), ("repeats", "repeats_later")
THIRD = ("zstd", "lz4hc", "snappy_million")
VERSIONS = ("11.8.1",)
STYLES = ("level", "universal", "FIFO")
FEWER, WIDENED = 200_000, 0.05
OF_CODECS = ("write_amp", "live_sst_bytes", "total_s")

Pair = tuple[BatchLine, Prediction]
"""A real run, and what was told of it."""


def held_out() -> list[BatchLine]:
    """Return the runs of configs that no constant was fitted to."""
    lines = [line for line in shipped() if line.metrics]
    configs = list(map(config_of, lines))
    fitted = set(list(dict.fromkeys(configs))[:FITTED])
    return [line for line, config in zip(lines, configs, strict=True) if config not in fitted]


def config_of(line: BatchLine) -> str:
    """Return a name for the knobs."""
    return json.dumps(sorted(line.knobs.items()))


def agreement(pairs: Sequence[Pair], metric: str) -> dict[str, float]:
    """Return the errors of the predictions, and whether they rank the runs correctly."""
    x = np.array([line.metrics[metric] for line, _ in pairs])
    y = np.array([prediction.metrics[metric] for _, prediction in pairs])
    off = np.abs(y[x > 0] / x[x > 0] - 1)
    return {
        "median_error": float(np.median(off)),
        "error_of_nine_in_ten": float(np.quantile(off, 0.9)),
        "spearman": float(spearmanr(x, y).statistic),
    }


def beside_models(pairs: Sequence[Pair]) -> dict[str, dict[str, object]]:
    """Compare the simulator with the study's models, trained on 400 real configs.

    For each metric it uses the model that was best afterwards, which no user could know before.
    """
    catalogue = catalogue_of("rocksdb", Workload())
    table = runs_of([line for line, _ in pairs], catalogue)
    told = {id(line): prediction for line, prediction in pairs}
    matrix, names = table.design.matrix, (*MODELS, FOREST)
    found: dict[str, dict[str, object]] = {}
    for metric in OF_CODECS:
        real = table.outcome(metric)
        models = {
            name: fitted_model(name, 1, matrix[:TRAINED], real[:TRAINED]).predict(matrix[TRAINED:])
            for name in names
        }
        errors = {n: float(np.median(np.abs(p / real[TRAINED:] - 1))) for n, p in models.items()}
        ours = np.array([told[id(line)].metrics[metric] for line in table.first[TRAINED:]])
        best = min(errors, key=lambda name: errors[name])
        found[metric] = {
            "rows": len(ours), "model": best, "model_error": errors[best],
            "simulator_error": float(np.median(np.abs(ours / real[TRAINED:] - 1))),
        }  # fmt: skip
    return found


def elsewhere(names: Sequence[str], machine: str = "elsewhere_machine") -> list[Pair]:
    """Return the errors for runs on another machine, with and without its calibration."""
    lines = [line for name in names for line in read_batch(FOLDER / f"{name}.jsonl")]
    constants = json.loads((FOLDER / f"{machine}.json").read_text())["constants"]
    return list(zip(lines, predict(list(map(run_of, lines)), constants), strict=True))


def of_version(version: str) -> dict[str, object]:
    """Return the errors for the runs of another version of RocksDB."""
    name = f"rocksdb-{version}"
    pairs = elsewhere([name], f"{name}_machine")
    both = [(line, told) for line, told in pairs if line.metrics and told.metrics]
    disturbed = sum(line.disturbance is not None for line, _ in pairs)
    return {
        "runs": len(both),
        "disturbed": disturbed,
        "metrics": {metric: agreement(both, metric) for metric in METRICS},
        "styles": apart(pairs, shape_of),
        "failed": failed(pairs),
    }


def failed(pairs: Sequence[Pair]) -> dict[str, int]:
    """Return the runs that failed, and those predicted to fail."""
    nothing = [(not line.metrics, not prediction.metrics) for line, prediction in pairs]
    return {
        "real": sum(real for real, _ in nothing),
        "foretold": sum(foretold for _, foretold in nothing),
        "both": sum(real and foretold for real, foretold in nothing),
    }


def repeated(pairs: Sequence[Pair]) -> dict[str, int]:
    """Count the configs with several runs, and those whose live space is predicted in their range.

    The range is 5 % wider than that of the runs, because three runs do not show all of it.
    """
    inside = 0
    groups = grouped(pairs, config_of)
    for own in groups.values():
        real = [line.metrics["live_sst_bytes"] for line, _ in own]
        foretold = median(prediction.metrics["live_sst_bytes"] for _, prediction in own)
        inside += min(real) * (1 - WIDENED) <= foretold <= max(real) * (1 + WIDENED)
    return {"configs": len(groups), "inside": inside}


def apart(pairs: Sequence[Pair], by: Callable[[BatchLine], str]) -> dict[str, dict[str, object]]:
    """Return the errors of the predictions by group of runs."""
    told = [(line, prediction) for line, prediction in pairs if line.metrics and prediction.metrics]
    return {
        common: {"runs": len(own), **{name: agreement(own, name) for name in OF_STYLES}}
        for common, own in sorted(grouped(told, by).items())
    }


def grouped(pairs: Sequence[Pair], by: Callable[[BatchLine], str]) -> dict[str, list[Pair]]:
    """Return the pairs by what their lines have in common."""
    groups: dict[str, list[Pair]] = {}
    for line, prediction in pairs:
        groups.setdefault(by(line), []).append((line, prediction))
    return groups


def codec_of(line: BatchLine) -> str:
    """Return the codec of the files."""
    return str(line.knobs.get("compression_type", "snappy"))


def shape_of(line: BatchLine) -> str:
    """Return the style, whether levels are dynamic, and the number of records."""
    style = STYLES[int(str(line.knobs.get("compaction_style", 0)))]
    if line.workload.num > FEWER:
        return f"{style}, {line.workload.num:,} records"
    if style != "level":
        return style
    dynamic = line.knobs.get("level_compaction_dynamic_level_bytes", False)
    return "level, dynamic" if dynamic else "level, static"


def codec_and_shape_of(line: BatchLine) -> str:
    """Return both."""
    return f"{codec_of(line)}, {shape_of(line)}"


def main() -> None:
    lines = held_out()
    begun = time.perf_counter()
    told = predict(list(map(run_of, lines)))
    took_s = time.perf_counter() - begun
    pairs = list(zip(lines, told, strict=True))
    others = elsewhere(ELSEWHERE)
    third = [pair for name in THIRD for pair in elsewhere([name], f"{name}_machine")]
    found = {
        "runs": len(lines),
        "seconds_a_run": took_s / len(lines),
        "metrics": {name: agreement(pairs, name) for name in METRICS},
        "styles elsewhere": apart(others, shape_of),
        "codecs elsewhere": apart(others, codec_of),
        "codecs and styles on a third machine": apart(third, codec_and_shape_of),
        "versions": {version: of_version(version) for version in VERSIONS},
        "failed elsewhere": failed([*others, *third]),
        "repeated elsewhere": [repeated(elsewhere([name])) for name in REPEATED],
        "beside models": beside_models(pairs),
        "codecs": {
            codec: {name: agreement(own, name)["median_error"] for name in OF_CODECS}
            for codec, own in sorted(grouped(pairs, codec_of).items())
        },
    }
    RESULTS.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
