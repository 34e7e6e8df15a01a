"""Print random configs of level and universal compaction with one codec.

    .venv/bin/python benchmarks/random_configs.py CODEC COUNT SEED RECORDS > FILE
    .venv/bin/lsmtune doctor --calibrate --home HOME
    .venv/bin/lsmtune screen --batch FILE --home HOME -o RUNS

The runs of these configs check the simulator. Half of the configs have universal compaction. All
compaction knobs of the simulator vary; the tree is at 1/64. A run of 200,000 records takes about
ten seconds if nothing else runs on the machine.
"""

import sys
from collections.abc import Iterator

import numpy as np

from lsmtune.batch import BatchLine, as_flags
from lsmtune.knobs.types import Value
from lsmtune.spec import Ground, catalogue_of, make_spec, without_load
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


def configs(
    style: int, codec: str, count: int, seed: int, load: Workload
) -> Iterator[dict[str, Value]]:
    """Yield random legal configs of a style and a codec as flags of db_bench."""
    spec = make_spec({"workload": load.model_dump(), "knobs": ",".join(KNOBS)}, "random configs")
    catalogue = catalogue_of(spec.engine, load)
    own = {"compaction_style": style, "compression_type": codec}
    base = Base(options="", settings={**catalogue.defaults(1), **own})
    space = spec.space(Ground(catalogue, base, OPEN_FILES))
    rng = np.random.default_rng((seed, style))
    for _ in range(count):
        flags = as_flags(without_load(space.settings(space.sample(rng))), catalogue)
        yield {name: value for name, value in flags.items() if name in (*KNOBS, *own)}


def main() -> None:
    codec, (count, seed, records) = sys.argv[1], map(int, sys.argv[2:])
    load = Workload(num=records)
    for style in STYLES:
        for place, flags in enumerate(configs(style, codec, count // len(STYLES), seed, load)):
            print(BatchLine(f"{codec}-{style}-{place}", load, flags).to_json())


if __name__ == "__main__":
    main()
