"""Results for what the slides show and for what they expect of RocksDB."""

from collections.abc import Iterator

from lsmtune.analysis.experiment_runs import MIN_FLUSHES, Cell, Value, metric
from lsmtune.report.text.words import TIMES
from lsmtune.stats import Interval
from lsmtune_reproductions.recipes.db_bench_study.study import (
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
from lsmtune_reproductions.recipes.published import Claim, judged, unjudged

_EMBEDDED = {"LevelDB": LEVELDB, "LMDB": LMDB}
OTHERS = (*_EMBEDDED, "MyRocks")
"""Stores that are compared with RocksDB."""
_EXPECTED = (
    ("throughput_ops_s", True, "writes faster", "records written per second"),
    ("get_p50_us", False, "finds a record faster", "median time of a get"),
    ("disk_bytes", False, "uses less disk space", "size of all files"),
    ("disk_write_amp", False, "writes less to the disk", "bytes written to the disk"),
)
"""Metrics in which RocksDB may be better; True: a lower value of the other store confirms it."""
_NEEDED_FLUSHES: dict[Name, float] = {"fillseq": 1.0}
"""fillseq runs at its published size, which fills db_bench's default memtable once."""


def published_cell(name: Name) -> Cell:
    """Return the cell with the published options of a command."""
    return DEFAULT if name == "fillseq" else PUBLISHED


def of_rocksdb(results: Results, store: str, name: str) -> Interval | None:
    """Return the ratio of another store's metric to RocksDB's, over blocks of the same records."""
    stores = results.parts["stores"]
    if store == "MyRocks":
        return results.parts["myrocks"].ratio(ALIKE, ROCKSDB, metric(name), of=stores)
    return stores.ratio(_EMBEDDED[store], ROCKSDB, metric(name))


def between(results: Results, name: Name, other: Name, value: Value) -> Interval | None:
    """Return the ratio of one published command to another."""
    found, against = results.parts[name], results.parts[other]
    return found.ratio(published_cell(name), published_cell(other), value, of=against)


def too_small(results: Results) -> str | None:
    """Return why the runs of some part write too little data to be judged, or None."""
    reasons = (
        part.too_small(
            _NEEDED_FLUSHES.get(name, MIN_FLUSHES), (ALIKE,) if name == "myrocks" else None
        )
        for name, part in results.parts.items()
    )
    return next((reason for reason in reasons if reason is not None), None)


def claims(results: Results) -> Iterator[Claim]:
    """Yield the claims of the slides with their results."""
    yield from unjudged(_claims(results), too_small(results))


def _claims(results: Results) -> Iterator[Claim]:
    rate = metric("throughput_ops_s")
    for place, name in enumerate(COMMANDS[1:]):
        before = COMMANDS[place]
        theirs = paper()[name]["ops_s"] / paper()[before]["ops_s"]
        published = f"(published: {theirs:.2g} {TIMES})"
        yield judged(
            f"{name} has fewer operations per second than {before} {published}",
            between(results, name, before, rate),
            falls=True, of=f"operations per second, {name} / {before}",
        )  # fmt: skip
    for store in OTHERS:
        for metric_name, falls, does, what in _EXPECTED:
            yield judged(
                f"Expected: RocksDB {does} than {store}",
                of_rocksdb(results, store, metric_name),
                falls=falls, of=f"{what}, {store} / RocksDB",
            )  # fmt: skip
