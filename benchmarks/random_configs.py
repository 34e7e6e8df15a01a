"""Print random configs of level and universal compaction with one codec.

    .venv/bin/python benchmarks/random_configs.py CODEC COUNT SEED RECORDS > FILE
    .venv/bin/lsmtune doctor --calibrate --db-bench db_bench --home HOME
    .venv/bin/lsmtune screen --batch FILE --db-bench db_bench --home HOME -o RUNS

The runs of these configs check the simulator. The baseline is db_bench's defaults. For configs
around the defaults of a library, see benchmarks/version_runs.py. Half of the configs have universal
compaction. All compaction knobs of the simulator vary; the tree is at 1/64. A run of 200,000
records takes about ten seconds if nothing else runs on the machine.
"""

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from lsmtune.batch import BatchLine, as_flags
from lsmtune.engines.registry import engine_of
from lsmtune.knobs.types import Settings, Value
from lsmtune.spaces import knob_space
from lsmtune.spec import Ground, StudySettings, catalogue_of, make_spec, without_load
from lsmtune.study.opening import describe
from lsmtune.trials import Base
from lsmtune.workloads import Workload

OPEN_FILES = 20_000
STYLES = (0, 1)
KNOBS = (
    "block_size", "compaction_pri", "hard_pending_compaction_bytes_limit",
    "level0_file_num_compaction_trigger", "level0_slowdown_writes_trigger",
    "level0_stop_writes_trigger", "level_compaction_dynamic_level_bytes",
    "max_background_compactions", "max_background_flushes", "max_bytes_for_level_base",
    "max_bytes_for_level_multiplier", "max_write_buffer_number", "min_level_to_compress",
    "min_write_buffer_number_to_merge", "mmap_write", "num_levels",
    "soft_pending_compaction_bytes_limit", "subcompactions", "target_file_size_base",
    "target_file_size_multiplier", "universal_compression_size_percent",
    "universal_max_merge_width", "universal_max_size_amplification_percent",
    "universal_min_merge_width", "universal_size_ratio", "write_buffer_size",
)  # fmt: skip


def lines(
    codec: str, count: int, seed: int, load: Workload, version: str | None = None
) -> Iterator[BatchLine]:
    """Yield random legal configs with a codec, half of them with universal compaction.

    With a version, they are configs of this installed version of RocksDB, around the defaults of
    its library. Without one, they are configs of db_bench, around its defaults.
    """
    settings = {"workload": load.model_dump(), "knobs": ",".join(KNOBS), "rocksdb": version}
    spec = make_spec({k: v for k, v in settings.items() if v is not None}, "random configs")
    ground = _of_db_bench(spec) if version is None else _of_library(spec)
    for style in STYLES:
        own = {"compaction_style": style, "compression_type": codec}
        rng = np.random.default_rng((seed, style))
        flags_of_all = _configs(spec, ground, own, rng)
        for place, flags in zip(range(count // len(STYLES)), flags_of_all, strict=False):
            yield BatchLine(f"{codec}-{style}-{place}", load, flags)


def _configs(
    spec: StudySettings, ground: Ground, own: Settings, rng: np.random.Generator
) -> Iterator[dict[str, Value]]:
    """Yield random configs with some values of their own as flags of db_bench, without end."""
    base = ground.base.model_copy(update={"settings": {**ground.base.settings, **own}})
    space = knob_space(spec, replace(ground, base=base))
    catalogue = catalogue_of(spec.engine, spec.workload)
    while True:
        flags = as_flags(without_load(space.settings(space.sample(rng))), catalogue)
        yield {name: value for name, value in flags.items() if name in (*KNOBS, *own)}


def _of_db_bench(spec: StudySettings) -> Ground:
    catalogue = catalogue_of(spec.engine, spec.workload)
    return Ground(catalogue, Base(options="", settings=catalogue.defaults(1)), OPEN_FILES)


def _of_library(spec: StudySettings) -> Ground:
    with tempfile.TemporaryDirectory() as folder:
        _, ground = describe(spec, engine_of(spec), Path(folder))
    return replace(ground, open_files=OPEN_FILES)


def main() -> None:
    codec, (count, seed, records) = sys.argv[1], map(int, sys.argv[2:])
    for line in lines(codec, count, seed, Workload(num=records)):
        print(line.to_json())


if __name__ == "__main__":
    main()
