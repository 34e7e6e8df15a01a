"""Figures of the simulator: its errors against real runs, and its ranking of knobs."""

from typing import Any

from figures_text import BUILDS, ROCKSDB, table_text

_MOST_SHOWN = 3
_COUNTED = ("write_amp", "live_sst_bytes", "flush_write_bytes", "compact_write_bytes")
_SUMMARY = ("write_amp", "live_sst_bytes", "total_s", "stall_s", "get_p99_us", "scan_p99_us")
_ERROR_HEADS = ["metric", "median error", "90 % of the errors are below", "rank correlation"]


def _errors(metrics: dict[str, Any]) -> str:
    rows = []
    for name, row in metrics.items():
        errors = (100 * row[key] for key in ("median_error", "error_of_nine_in_ten"))
        rows.append([f"`{name}`", *(f"{e:.1f} %" for e in errors), f"{row['spearman']:.2f}"])
    return table_text(_ERROR_HEADS, rows)


def summary(found: dict[str, Any]) -> str:
    shown = {name: found["metrics"][name] for name in _SUMMARY}
    runs = f"The table compares the simulator's predictions with {found['runs']} real runs."
    return f"{ROCKSDB}. {runs}\n\n{_errors(shown)}"


def accuracy(found: dict[str, Any]) -> str:
    """Return how close predictions are to runs that no constant was fitted to."""
    metrics = ("write_amp", "live_sst_bytes", "total_s")
    rows = []
    places = {
        "styles elsewhere": "second", "codecs elsewhere": "second",
        "codecs and styles on a third machine": "third",
    }  # fmt: skip
    for kind, place in places.items():
        for name, row in found[kind].items():
            errors = [f"{100 * row[metric]['median_error']:.1f} %" for metric in metrics]
            rows.append([place, name, str(row["runs"]), *errors,
                         f"{row['stall_s']['spearman']:.2f}"])  # fmt: skip
    heads = ["machine", "runs with", "runs", *(f"`{m}`" for m in metrics),
             "`stall_s`, rank correlation"]  # fmt: skip
    failed, repeated = found["failed elsewhere"], found["repeated elsewhere"]
    inside = " and ".join(str(times["inside"]) for times in repeated)
    models = [
        [f"`{name}`", f"{100 * row['simulator_error']:.1f} %",
         f"{100 * row['model_error']:.1f} %, {row['model']}"]
        for name, row in found.get("beside models", {}).items()
    ]  # fmt: skip
    return "\n".join([
        f"{ROCKSDB}. The first table compares the simulator's predictions with {found['runs']} "
        "real runs of the first machine.", "",
        _errors(found["metrics"]),
        *(part for version, own in found["versions"].items() for part in _version(version, own)),
        "The next table shows the median errors of predictions per compaction style and codec:", "",
        table_text(heads, rows),
        f"**Failed runs.** On the second and third machine, {failed['real']} further runs failed: "
        "writes waited forever, or FIFO compaction dropped records that reads needed. The "
        f"simulator predicted {failed['both']} of the {failed['real']} failed runs. The simulator "
        f"predicted {failed['foretold'] - failed['both']} failures that did not happen.",
        "",
        f"**Noise of real runs.** {repeated[0]['configs']} configs with universal compaction ran "
        "three times, and three times again at another hour. We compared the predicted live space "
        "with the range of three real runs, widened by 5 %. The predicted live space is inside the "
        f"range of the real runs for {inside} of the {repeated[0]['configs']} configs.", "",
        "**Comparison with other models.** We compared the simulator "
        "with models that were fitted to 400 of the measured runs. The table shows the median "
        "error of the simulator and of the best fitted model:", "",
        table_text(["metric", "simulator", "best model of 400 runs"], models),
    ])  # fmt: skip


def _version(version: str, found: dict[str, Any]) -> list[str]:
    """Return how close predictions are to the runs of another version.

    Of runs that other programs disturbed, only what does not depend on time is shown.
    """
    failed, metrics = found["failed"], found["metrics"]
    remarks = f"{failed['real']} further runs failed; {failed['both']} of them were predicted."
    if found["disturbed"]:
        metrics = {name: metrics[name] for name in _COUNTED}
        remarks += (
            f" Other programs disturbed {found['disturbed']} of these runs, so the table does not "
            "show times."
        )
    heads = [f"runs on {version} with", "runs", *(f"`{name}`" for name in _COUNTED[:2])]
    rows = [
        [name, str(row["runs"]),
         *(f"{100 * row[metric]['median_error']:.1f} %" for metric in _COUNTED[:2])]
        for name, row in found["styles"].items()
    ]  # fmt: skip
    return [
        f"The next table compares the predictions for RocksDB {version} with {found['runs']} runs "
        f"of random configs on RocksDB {version} {BUILDS[version]}. {remarks}", "",
        _errors(metrics),
        f"The median errors on RocksDB {version} per compaction style:", "",
        table_text(heads, rows),
    ]  # fmt: skip


def knob_ranking(found: dict[str, Any]) -> str:
    """Return by how much held-out R² falls without a knob: in real runs and in simulated ones."""
    methods = ("permutation", "mdi", "ped_anova")
    rows = []
    for name, row in found["metrics"].items():
        real, simulated = row["real"], row["simulated"]
        most = sorted(real["permutation"], key=lambda knob: -real["permutation"][knob])
        falls = (f"`{knob}` {_both(real['permutation'], simulated['permutation'], knob)}"
                 for knob in most[:_MOST_SHOWN])  # fmt: skip
        rows.append([f"`{name}`", ", ".join(falls),
                     *(f"{row['spearman'][method]:.2f}" for method in methods)])  # fmt: skip
    heads = ["metric", "R² lost without the knob, real / simulated", "permutation", "forest",
             "PED-ANOVA"]  # fmt: skip
    return (
        f"{ROCKSDB}. The simulator ran {found['configs']:,} configs with {found['num']:,} records "
        f"in {found['seconds']:.0f} s. On the real RocksDB, {found['real_configs']} configs ran "
        "with 200,000 records. The second column of the table shows how much the R² of a model "
        "falls if the model gets shuffled values of one knob. The last three columns compare the "
        "real and the simulated ranking of the knobs that the simulator supports, by their rank "
        f"correlation.\n\n{table_text(heads, rows)}"
    )


def _both(real: dict[str, float], simulated: dict[str, float], key: str) -> str:
    return f"{real[key]:.2f} / {f'{simulated[key]:.2f}' if key in simulated else '-'}"
