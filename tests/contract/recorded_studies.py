"""The studies of the recorded homes: their settings, and the engine that runs each of them.

`make_homes.py` runs them once; tests continue them. Trials are computed by rule.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from scripted import failing, measurement

from lsmtune.api.resolve_experiment import with_screen
from lsmtune.engines.base import EngineFacts, Live, OwnBase, Places, Watch, Window
from lsmtune.engines.rocksdb.options import own_options, read_settings
from lsmtune.knobs.types import Settings
from lsmtune.metrics.options_file import parse_options
from lsmtune.spec import StudySettings, make_spec
from lsmtune.spec_defaults import NO_MEMORY_LIMIT, WITHOUT_SEARCH
from lsmtune.testing.scripted import Script, ScriptedEngine
from lsmtune.trials import Base, Status, TrialResult, TrialSpec

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
OPTIONS = (CAPTURED / "rocksdb-7.8.3-level" / "OPTIONS").read_text()
OPTIONS_OF_MYROCKS = own_options((CAPTURED / "myrocks-6.29-OPTIONS").read_text())
USER_FILE = "OPTIONS"
"""The file that the study `cached` names, in the current folder."""
METRICS = (
    "write_amp", "w_amp_table", "flush_write_bytes", "compact_write_bytes", "live_sst_bytes",
    "peak_space_bytes", "load_s", "settle_s", "total_s", "throughput_ops_s", "sustained_ops_s",
    "stall_s", "stall_percent", "write_p99_us", "get_p99_us", "get_missing_p99_us", "scan_p99_us",
    "get_p50_us", "get_missing_p50_us", "scan_p50_us", "get_mean_us", "read_amp", "disk_bytes",
    "peak_rss_bytes", "transaction_p99_us",
)  # fmt: skip
LATER_METRICS = (*METRICS, "get_data_blocks", "get_missing_data_blocks", "scan_sorted_runs")
"""The metrics that the default limits of version 0.3.0 need."""
SMALL: dict[str, Any] = {
    "optimizer": "random", "trials": 3, "base_runs": 1, "finalists": 1, "repeats": 0,
    "pairs": 0, "max_pairs": 0, "early_stop": False,
    "objective": "write_amp", "limits": ["live_sst_bytes <= 1.1 * base"],
    "knobs": "block_size,compression_type,write_buffer_size",
}  # fmt: skip
LIKE_A_USER: dict[str, Any] = {
    "optimizer": "random", "trials": 6, "finalists": 2, "repeats": 1, "pairs": 6, "max_pairs": 6,
}  # fmt: skip
"""Knobs, objective and constraints are the defaults of the workload."""
CRASHED = TrialResult(status=Status.CRASHED, reason="db_bench was killed by signal 9")
CUT = TrialResult(
    status=Status.CUT, reason="write_amp is beyond its limit", bounds={"write_amp": 90.0}
)
_WINDOWS = 3
_SIMPLIFIES = 21
"""A run within the simplification of the study `simplified`."""


def _full_size(text: str) -> str:
    """Return a captured OPTIONS file, which is of a small tree, with 64 times its sizes."""
    for name, size in (("write_buffer_size", 1 << 20), ("target_file_size_base", 1 << 20),
                       ("max_bytes_for_level_base", 4 << 20)):  # fmt: skip
        assert f"  {name}={size}\n" in text
        text = text.replace(f"  {name}={size}\n", f"  {name}={64 * size}\n")
    return text


OPTIONS_OF_USER = _full_size(
    own_options((CAPTURED / "rocksdb-11.8.1-level" / "OPTIONS").read_text())
)


def few(trial: TrialSpec, metrics: tuple[str, ...] = METRICS) -> TrialResult:
    """Return a result with the metrics that a stored home needs, to keep it small."""
    return measurement(trial, metrics)


def large_memtables_gain(trial: TrialSpec, names: tuple[str, ...] = METRICS) -> TrialResult:
    """Return the result of `few`, but better for larger memtables."""
    return _with_gain(trial, few(trial, names))


def later_large_memtables_gain(trial: TrialSpec) -> TrialResult:
    """Return the result of `large_memtables_gain`, with the metrics of version 0.3.0."""
    return _with_gain(trial, measurement(trial, LATER_METRICS))


def _with_gain(trial: TrialSpec, result: TrialResult) -> TrialResult:
    assert result.measurement is not None
    settings = trial.settings
    memtables = float(settings["write_buffer_size"]) * float(settings["max_write_buffer_number"])
    cost = (memtables / (2 << 20)) ** -0.2
    metrics = dict(result.metrics)
    for name in ("write_amp", "total_s", "load_s", "stall_s"):
        metrics[name] = float(f"{metrics[name] * cost:.6g}")
    for name in ("throughput_ops_s", "sustained_ops_s"):
        metrics[name] = float(f"{metrics[name] / cost:.6g}")
    measured = result.measurement.model_copy(update={"metrics": metrics})
    return result.model_copy(update={"measurement": measured})


class OwnOptions(ScriptedEngine):
    """A scripted RocksDB whose baseline has the values of its OPTIONS, as the real one's has."""

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the values of the user's file, or of the engine's own OPTIONS."""
        text = facts.options if own is None else own.options
        version = parse_options(text).rocksdb_version
        assert version is not None
        settings = read_settings(self.catalogue.of_version(version), text)
        return Base(options=text, settings=settings, given=own and own.options)


class _Running:
    """A store that is faster with more background jobs."""

    def __init__(self) -> None:
        self._speed = 1000.0
        self._count = 0

    def change(self, settings: Settings) -> None:
        """Set the options."""
        self._speed = 1000.0 + 100.0 * int(settings["max_background_jobs"])

    def window(self, seconds: float) -> Window:
        """Return the speed, with a little noise."""
        self._count += 1
        return Window({"throughput_ops_s": self._speed + self._count % 3}, {})


class Running(OwnOptions):
    """A scripted RocksDB that runs while its options are changed."""

    @contextmanager
    def serve(self, spec: TrialSpec, base: Base, places: Places, watch: Watch) -> Iterator[Live]:
        """Run it."""
        yield _Running()


@dataclass(frozen=True, slots=True)
class Recorded:
    """A study of a recorded home. `script` and `kind` make its engine."""

    given: dict[str, Any]
    script: Script = few
    options: str = OPTIONS
    kind: Callable[[Script, str, str], ScriptedEngine] = ScriptedEngine

    @property
    def spec(self) -> StudySettings:
        """The settings as `lsmtune` makes them of what the user gave."""
        return make_spec(self.given, "recorded")

    def engine(self, script: Script | None = None) -> ScriptedEngine:
        """Return a new engine; with another script if one is given."""
        return self.kind(script or self.script, self.spec.engine, self.options)


def _small(name: str, **given: Any) -> dict[str, Any]:
    return {**SMALL, "study": name, **given}


def _user(name: str, **given: Any) -> Recorded:
    settings = {**LIKE_A_USER, "study": name, **given}
    return Recorded(settings, large_memtables_gain, OPTIONS_OF_USER, OwnOptions)


def _later(name: str, **given: Any) -> Recorded:
    return replace(_user(name, deploy_cores=4, **given), script=later_large_memtables_gain)


def _interrupted(whole: Recorded, name: str, run: int) -> Recorded:
    """Return the study under another name; Ctrl-C ends it in this run."""
    script = failing({run: None}, whole.script)
    return replace(whole, given={**whole.given, "study": name}, script=script)


def recorded_studies() -> dict[str, Recorded]:
    """Return the studies of the home of version 0.2.0, with engines that have not run yet."""
    whole = Recorded(_small("whole"))
    cached = _user("cached", cache="32MiB", base=USER_FILE)
    uncached = _user("uncached")
    studies = {
        "finished": Recorded(_small("finished", trials=5), failing({3: CRASHED, 4: CUT}, few)),
        "interrupted": _interrupted(whole, "interrupted", 4),
        "whole": whole,
        "verified": Recorded(_small("verified", pairs=6, max_pairs=6)),
        "front": Recorded(
            _small("front", objective=["write_amp", "throughput_ops_s"], limits=[])
        ),
        "server": Recorded(
            _small("server", trials=8, engine="myrocks", workload={"name": "oltp_write_only",
                   "duration_s": 2}, knobs="default.block_size,cache_size,"
                   "default.write_buffer_size"),
            options=OPTIONS_OF_MYROCKS,
        ),
        "cluster": Recorded(
            _small("cluster", engine="tikv", scale="1", workload={"name": "ycsb_a", "num": 20_000},
                   knobs="online", objective="get_mean_us", limits=[]),
            options="",
        ),
        "stores": Recorded(
            _small("stores", engine="embedded", workload={"name": "fillrandom", "num": 5000,
                   "value_size": 100}, knobs="write_buffer_size,compression_type,store",
                   objective="disk_bytes", limits=[]),
            options="",
        ),
        "screening": Recorded(
            with_screen({"study": "screening", "knobs": "core", "trials": 4, "base_runs": 1},
                        {"replicated": 1, "runs": 2}),
            large_memtables_gain, OPTIONS_OF_USER, OwnOptions,
        ),
        "experiment": Recorded(
            {"study": "experiment", "scale": "1", "memory": NO_MEMORY_LIMIT, **WITHOUT_SEARCH,
             "knobs": "write_buffer_size,level0_file_num_compaction_trigger", "sweep": {
                 "repeats": 2, "metrics": ["write_amp"], "factors": {
                     "memtable": {"write_buffer_size": ["16MiB", "128MiB"]},
                     "trigger": {"level0_file_num_compaction_trigger": [2, 4]}}}},
            large_memtables_gain, OPTIONS_OF_USER, OwnOptions,
        ),
        "online": Recorded(
            {"study": "online", "rocksdb": "11.8.1", "optimizer": "random", "trials": 4,
             "workload": "overwrite", "online": {"windows": _WINDOWS}},
            few, OPTIONS_OF_USER, Running,
        ),
        "published": _user("published", knobs="jin2022"),
        "preset-base": _user("preset-base", knobs="autotikv-writes"),
        "cached": cached,
        "cached-interrupted": _interrupted(cached, "cached-interrupted", 5),
        "uncached": uncached,
        "uncached-interrupted": _interrupted(uncached, "uncached-interrupted", 5),
    }  # fmt: skip
    unnamed = Recorded({"trials": 2, "pairs": 0, "repeats": 0}, few, OPTIONS_OF_USER, OwnOptions)
    return {**studies, unnamed.spec.name: unnamed}


def later_studies() -> dict[str, Recorded]:
    """Return the studies of the home of version 0.3.0.dev0, with engines that have not run yet.

    They have a rule of sizes and a memory limit at full size, and winners with few changes.
    """
    sized = _later("sized", cache="32MiB", base=USER_FILE, simplify=False)
    simplified = _later("simplified", trials=12)
    studies = {
        "sized": sized,
        "sized-interrupted": _interrupted(sized, "sized-interrupted", 5),
        "limited": _later("limited", memory="400MiB", simplify=False),
        "simplified": simplified,
        "simplified-interrupted": _interrupted(simplified, "simplified-interrupted", _SIMPLIFIES),
        "stores-simplified": Recorded(
            _small("stores-simplified", engine="embedded", workload={"name": "fillrandom",
                   "num": 400_000, "value_size": 100}, trials=8, repeats=1, pairs=6, max_pairs=6,
                   knobs="write_buffer_size,compression_type,store,block_size",
                   objective="disk_bytes", limits=[]),
            options="",
        ),
        "published": _later("published", knobs="jin2022"),
    }  # fmt: skip
    given = {"trials": 2, "pairs": 0, "repeats": 0, "deploy_cores": 2}
    unnamed = Recorded(given, later_large_memtables_gain, OPTIONS_OF_USER, OwnOptions)
    return {**studies, unnamed.spec.name: unnamed}


def studies_of_removed_optimizers() -> dict[str, Recorded]:
    """Return the studies of the home `removed-optimizers`, with optimizers that 0.3 does not have.

    Only `verified` and `interrupted` were verified and interrupted. The others have ended.
    """
    small = {**SMALL, "deploy_cores": 2, "trials": 4}
    script = partial(large_memtables_gain, names=LATER_METRICS)

    def gaining(name: str, optimizer: str, **given: Any) -> Recorded:
        return Recorded({**small, "study": name, "optimizer": optimizer, **given}, script)

    verified = gaining("verified", "forest", pairs=6, max_pairs=6)
    return {
        "verified": verified,
        "ended": gaining("ended", "cmaes"),
        "interrupted": _interrupted(gaining("interrupted", "qmc"), "interrupted", 3),
        "small-generations": gaining("small-generations", "genetic-jin2022-small"),
        "online": Recorded(
            {"study": "online", "rocksdb": "11.8.1", "optimizer": "qmc", "trials": 4,
             "deploy_cores": 2, "workload": "overwrite", "online": {"windows": _WINDOWS}},
            few, OPTIONS_OF_USER, Running,
        ),
        "screening": Recorded(
            with_screen({"study": "screening", "knobs": "core", "trials": 3, "base_runs": 1,
                         "deploy_cores": 2, "optimizer": "cmaes"}, {"replicated": 1, "runs": 2}),
            script, OPTIONS_OF_USER, OwnOptions,
        ),
    }  # fmt: skip


STUDIES = {
    "0.2.0": recorded_studies,
    "removed-optimizers": studies_of_removed_optimizers,
    "0.3.0.dev0": later_studies,
}
"""The studies of the homes that can be continued, by the name of the home."""
