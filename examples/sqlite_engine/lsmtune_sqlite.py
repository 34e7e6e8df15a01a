"""An engine for lsmtune: SQLite as a key-value store."""

import random
import sqlite3
import time
from pathlib import Path

from lsmtune import Knob, Metric, function_engine

RECORDS, BATCH = 20_000, 200
"""The workload: records that are written in random order, and how many share a transaction."""

KNOBS = [
    Knob.choice("page_size", (1024, 4096, 16384, 65536), default=4096, unit="bytes",
                trade="Larger pages are fewer, but each change writes a whole page."),
    Knob.integer("cache_kib", 64, 16384, default=2000, log=True, unit="KiB",
                 trade="A larger cache needs more memory."),
    Knob.choice("journal_mode", ("delete", "truncate", "wal"), default="delete",
                trade="wal writes less, and leaves a second file next to the database."),
    Knob.boolean("without_rowid", default=False,
                 trade="The table has one tree instead of two; large values make it deep."),
]  # fmt: skip

METRICS = [
    "throughput_ops_s",
    "disk_bytes",
    Metric("pages", unit="pages", better="lower", meaning="pages of the database", label="pages"),
]


def benchmark(config: dict, seed: int, workdir: str, batch: int = BATCH) -> dict[str, float]:
    """Write and read records with the values of the knobs; return the metrics."""
    file = Path(workdir) / "store.sqlite"
    store = sqlite3.connect(file, isolation_level=None)
    store.execute(f"PRAGMA page_size = {config['page_size']}")
    store.execute(f"PRAGMA journal_mode = {config['journal_mode']}")
    store.execute(f"PRAGMA cache_size = -{config['cache_kib']}")
    rowid = "WITHOUT ROWID" if config["without_rowid"] else ""
    store.execute(f"CREATE TABLE record (key BLOB PRIMARY KEY, value BLOB) {rowid}")
    keys = random.Random(seed)
    started = time.perf_counter()
    for _ in range(RECORDS // batch):
        rows = [(keys.randbytes(16), keys.randbytes(100)) for _ in range(batch)]
        store.execute("BEGIN")
        store.executemany("INSERT OR REPLACE INTO record VALUES (?, ?)", rows)
        store.execute("COMMIT")
    took_s = time.perf_counter() - started
    (pages,) = store.execute("PRAGMA page_count").fetchone()
    store.close()
    size = sum(one.stat().st_size for one in Path(workdir).iterdir())
    return {"throughput_ops_s": RECORDS / took_s, "disk_bytes": size, "pages": pages}


SQLITE = function_engine(
    "sqlite", benchmark, knobs=KNOBS, metrics=METRICS, summary="SQLite as a key-value store",
    version=sqlite3.sqlite_version,
)  # fmt: skip
