"""What was expected of RocksDB, and what becomes of it."""

from collections.abc import Iterator

from lsmtune.recipes.db_bench_study.study import (
    ALIKE,
    COMMANDS,
    DEFAULT,
    LEVELDB,
    LMDB,
    PUBLISHED,
    ROCKSDB,
    Name,
    Results,
    paper,
)
from lsmtune.recipes.experiment import Cell, Value, metric
from lsmtune.recipes.published import Claim, judged
from lsmtune.stats import Interval

_EMBEDDED = {"LevelDB": LEVELDB, "LMDB": LMDB}
OTHERS = (*_EMBEDDED, "MyRocks")
"""The stores beside RocksDB."""
_EXPECTED = (
    ("throughput_ops_s", True, "writes faster", "records written a second"),
    ("get_p50_us", False, "finds a record faster", "median time of a get"),
    ("disk_bytes", False, "takes less disk", "size of all files"),
    ("disk_write_amp", False, "hands less to the disk", "bytes handed to the disk"),
)
"""Metrics in which RocksDB may stand out; whether less is to be expected of the others."""


def published_cell(name: Name) -> Cell:
    """The cell of a command that was published."""
    return DEFAULT if name == "fillseq" else PUBLISHED


def of_rocksdb(results: Results, store: str, name: str) -> Interval | None:
    """What another store has of RocksDB's metric, under the same records block by block."""
    stores = results.parts["stores"]
    if store == "MyRocks":
        return results.parts["myrocks"].ratio(ALIKE, ROCKSDB, metric(name), of=stores)
    return stores.ratio(_EMBEDDED[store], ROCKSDB, metric(name))


def between(results: Results, name: Name, other: Name, value: Value) -> Interval | None:
    """What one published command has of another's."""
    found, against = results.parts[name], results.parts[other]
    return found.ratio(published_cell(name), published_cell(other), value, of=against)


def claims(results: Results) -> Iterator[Claim]:
    """What the slides show and what they expect, against what was measured."""
    rate = metric("throughput_ops_s")
    for place, name in enumerate(COMMANDS[1:]):
        before = COMMANDS[place]
        theirs = paper()[name]["ops_s"] / paper()[before]["ops_s"]
        yield judged(
            f"{name} does fewer operations a second than {before} ({theirs:.2g} × as many)",  # noqa: RUF001
            between(results, name, before, rate), falls=True, of=f"{name} / {before}",
        )  # fmt: skip
    for store in OTHERS:
        for metric_name, falls, does, what in _EXPECTED:
            yield judged(
                f"expected to stand out: it {does} than {store}",
                of_rocksdb(results, store, metric_name),
                falls=falls, of=f"{what}, {store} / RocksDB",
            )  # fmt: skip
