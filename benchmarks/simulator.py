"""How close the simulator comes to real runs that it was not fitted to.

    .venv/bin/python benchmarks/simulator.py

The real runs are the screening that ships: levelled compaction, 25 knobs, 200,000 records, with a
build that has its assertions on. The simulator's constants come from the first 80 configs, which
are left out. Runs of random configs with all knobs of compaction on another machine are in
styles.jsonl, more universal ones in universal.jsonl, those of 1,000,000 records in million.jsonl,
universal configs that ran three times in repeats.jsonl, and again in another hour in
repeats_later.jsonl, FIFO in fifo.jsonl, and what one `lsmtune doctor --calibrate` before the latter
repeats told of that machine in elsewhere_machine.json: nothing was fitted to them.
zstd.jsonl, lz4hc.jsonl and, of 1,000,000 records, snappy_million.jsonl are runs of
random_configs.py on a third machine; zstd_machine.json and so on are its calibrations, each made
just before. All that changed in the simulator behind the first is that the last flush of a load
waits; nothing did behind the others. Writes results/simulator.json.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import numpy as np
from scipy.stats import spearmanr

from lsmtune.analysis.importance import runs_of
from lsmtune.batch import BatchLine, read_batch
from lsmtune.cli.simulating import run_of
from lsmtune.learning.models import FOREST, MODELS, fitted_model
from lsmtune.recipes.jin2022.study import shipped
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
STYLES = ("level", "universal", "FIFO")
FEWER, WIDENED = 200_000, 0.05
OF_CODECS = ("write_amp", "live_sst_bytes", "total_s")

Pair = tuple[BatchLine, Prediction]
"""A real run, and what was told of it."""


def held_out() -> list[BatchLine]:
    """The runs of configs that no constant was fitted to."""
    lines = [line for line in shipped("honest") if line.metrics]
    configs = list(map(config_of, lines))
    fitted = set(list(dict.fromkeys(configs))[:FITTED])
    return [line for line, config in zip(lines, configs, strict=True) if config not in fitted]


def config_of(line: BatchLine) -> str:
    """A name for its knobs."""
    return json.dumps(sorted(line.knobs.items()))


def agreement(pairs: Sequence[Pair], metric: str) -> dict[str, float]:
    """How far predictions are off, and whether they rank the runs as they were."""
    x = np.array([line.metrics[metric] for line, _ in pairs])
    y = np.array([prediction.metrics[metric] for _, prediction in pairs])
    off = np.abs(y[x > 0] / x[x > 0] - 1)
    return {
        "median_error": float(np.median(off)),
        "error_of_nine_in_ten": float(np.quantile(off, 0.9)),
        "spearman": float(spearmanr(x, y).statistic),
    }


def beside_models(pairs: Sequence[Pair]) -> dict[str, dict[str, object]]:
    """The simulator beside the study's models, trained on 400 real configs, on the others.

    Of each metric the model that did best there, as only hindsight can choose it.
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
    """Runs on another machine, and what is told of them where it was calibrated."""
    lines = [line for name in names for line in read_batch(FOLDER / f"{name}.jsonl")]
    constants = json.loads((FOLDER / f"{machine}.json").read_text())["constants"]
    return list(zip(lines, predict(list(map(run_of, lines)), constants), strict=True))


def failed(pairs: Sequence[Pair]) -> dict[str, int]:
    """Runs that came to nothing, as they really did and as was foretold."""
    nothing = [(not line.metrics, not prediction.metrics) for line, prediction in pairs]
    return {
        "real": sum(real for real, _ in nothing),
        "foretold": sum(foretold for _, foretold in nothing),
        "both": sum(real and foretold for real, foretold in nothing),
    }


def repeated(pairs: Sequence[Pair]) -> dict[str, int]:
    """Configs that ran three times: whose live space is foretold inside their range.

    The range is widened by a twentieth, for three runs do not show all of it.
    """
    inside = 0
    groups = grouped(pairs, config_of)
    for own in groups.values():
        real = [line.metrics["live_sst_bytes"] for line, _ in own]
        foretold = median(prediction.metrics["live_sst_bytes"] for _, prediction in own)
        inside += min(real) * (1 - WIDENED) <= foretold <= max(real) * (1 + WIDENED)
    return {"configs": len(groups), "inside": inside}


def apart(pairs: Sequence[Pair], by: Callable[[BatchLine], str]) -> dict[str, dict[str, object]]:
    """How far predictions are off for the runs that have something in common."""
    told = [(line, prediction) for line, prediction in pairs if line.metrics and prediction.metrics]
    return {
        common: {"runs": len(own), **{name: agreement(own, name) for name in OF_STYLES}}
        for common, own in sorted(grouped(told, by).items())
    }


def grouped(pairs: Sequence[Pair], by: Callable[[BatchLine], str]) -> dict[str, list[Pair]]:
    """The pairs by what their lines have in common."""
    groups: dict[str, list[Pair]] = {}
    for line, prediction in pairs:
        groups.setdefault(by(line), []).append((line, prediction))
    return groups


def codec_of(line: BatchLine) -> str:
    """What its files are compressed with."""
    return str(line.knobs.get("compression_type", "snappy"))


def shape_of(line: BatchLine) -> str:
    """Its style, with or without dynamic levels, and its size."""
    style = STYLES[int(str(line.knobs.get("compaction_style", 0)))]
    if line.workload.num > FEWER:
        return f"{style}, {line.workload.num:,} records"
    if style != "level":
        return style
    dynamic = line.knobs.get("level_compaction_dynamic_level_bytes", False)
    return "level, dynamic" if dynamic else "level, static"


def codec_and_shape_of(line: BatchLine) -> str:
    """Both."""
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
