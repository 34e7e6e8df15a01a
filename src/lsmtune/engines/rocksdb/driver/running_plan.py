"""Plans of the driver for trials of a running store: the template, and the steps on its copy."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

from lsmtune.engines.rocksdb.bench import Part
from lsmtune.engines.rocksdb.driver.live import compresses_in_parallel
from lsmtune.engines.rocksdb.driver.plans import run, settled, store
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.knobs.option_text import struct_fields
from lsmtune.metrics.options_file import parse_options, unescaped
from lsmtune.trials import LONGEST_WINDOW_S, RATE_S, Protocol, Running
from lsmtune.workloads import PROBED, Records, Workload
from lsmtune.workloads.key_values import UNIFORM, Json, group

TURN, CAPACITY, CALM, WINDOW = "turn", "capacity", "calm", "window"
"""Names of the runs in events."""

_REPORT: Json = {"do": "report"}
_UNIQUE: Json = {"kind": "unique"}
_SAMPLE_MS = 50
_WITH_BLOBS = 3
"""How many times as often keys are written before the measurement if values are in blob files.

Blob files are cleaned only when they contain much garbage. After one time, the store had 0.80 of
the baseline's space, and after three times 1.07.
"""
_OWN_CHOICE = 4
"""All keys / the writes with the workload's own choice of keys, before the measurement."""
_WATCH = {"get": 400.0, "get_missing": 400.0, "scan": 100.0}
"""Reads per second next to a workload without reads. They take about 3 % of a core."""
_WATCH_SCAN = 10
_ENDLESS = 10**12
"""Writes of a run that time ends, as an upper bound for its range deletions."""
_SEED_STEP = 100_003
"""Distance of the seeds of groups. Gets would else read the keys that puts have just written."""

_UNIVERSAL = "kCompactionStyleUniversal"
_FULL_MERGE = 200.0
"""RocksDB's default of max_size_amplification_percent."""


def template_plan(part: Part, limits: Protocol) -> Json:
    """Return the plan that writes every key, and then every key again in another order."""
    runs = [
        run(name, part.workload, [_every_key(part, part.seed, number, 1.0)])
        for number, name in enumerate(("fill", "overwrite"))
    ]
    phases = [*runs, {"do": "flush"}, settled(limits)]
    return {"existing": False, **store(part.options, part.settings), "phases": phases}


def running_plan(part: Part, steps: Running, limits: Protocol, tree: int) -> Json:
    """Return the plan of a trial. `tree` is the seed of the template.

    The store settles before the rate begins. The writes at full speed leave more owed compactions
    than a store at the rate ever has, and at half of the capacity these take 10 s and longer.
    """
    phases = [*_turned_over(part, steps, tree), _REPORT]
    timed: Json = {"sample_ms": _SAMPLE_MS, "seconds": steps.capacity_s}
    phases += [run(CAPACITY, part.workload, _without_limit(part, tree), **timed), _REPORT]
    if steps.rate is not None:
        window_s = max(steps.window_s, _between_full_merges(part, steps.rate))
        whole = steps.model_copy(update={"window_s": window_s})
        phases += _window(part, whole, steps.rate, limits, tree)
    return _on_copy(part, phases)


def rate_plan(part: Part, steps: Running, rate: float, limits: Protocol, tree: int) -> Json:
    """Return the plan that measures the store at another rate, after the steps of a trial."""
    short = steps.model_copy(update={"window_s": RATE_S})
    return _on_copy(part, [_REPORT, *_window(part, short, rate, limits, tree)])


def _on_copy(part: Part, phases: list[Json]) -> Json:
    return {"existing": True, **store(part.options, part.settings), "phases": phases}


def _window(part: Part, steps: Running, rate: float, limits: Protocol, tree: int) -> Iterator[Json]:
    yield settled(limits)
    for number, (name, seconds) in enumerate(((CALM, steps.calm_s), (WINDOW, steps.window_s))):
        if seconds:
            groups = list(_at_rate(part, rate, tree, number))
            yield run(name, part.workload, groups, sample_ms=_SAMPLE_MS, seconds=seconds)
            yield _REPORT


def _between_full_merges(part: Part, rate: float) -> float:
    """Return the time between two full merges of universal compaction, limited; 0 without them.

    A shorter window sees the small merges only, and always at the same place of their sequence: one
    of 6 s found a write amplification of 2.0, and one of 180 s 7.3.
    """
    full_merge, load = Style.of(part.options).full_merge, part.workload
    writes_s = load.definition_of(Records).written_bytes_s(rate) / load.record_bytes
    if not full_merge or not writes_s:
        return 0.0
    return min(LONGEST_WINDOW_S, full_merge * _records(load) / writes_s)


def _turned_over(part: Part, steps: Running, tree: int) -> Iterator[Json]:
    """Yield the phases that replace the baseline's tree by one of the config.

    With blob files, the copy is compacted first. Flushes then contain only keys and references,
    which never push the baseline's values out of the last level.
    """
    turns = steps.turn_over
    if Style.of(part.options).blobs:
        yield {"do": "compact"}
        turns *= _WITH_BLOBS
    for number in range(ceil(turns)):
        writers = _every_key(part, tree, 2 + number, min(1.0, turns - number))
        yield run(TURN, part.workload, [writers])
    own = _writers_choice(part.workload)
    if turns and own != UNIFORM and part.workload.has_all_keys:
        operations = max(1, part.workload.num // _OWN_CHOICE // part.workload.threads)
        yield run(TURN, part.workload, [_writers(part, operations, seed=_seed(part, 0), keys=own)])


def _every_key(part: Part, tree: int, number: int, share: float) -> Json:
    """Return writers of a share of all keys, each once. `number` decides their order.

    Of a store in which not all keys have a record, they are the keys that have one, always in the
    same order.
    """
    records = _records(part.workload)
    seed = part.seed + number * _SEED_STEP if part.workload.has_all_keys else tree
    operations = max(1, ceil(share * records / part.workload.threads))
    return _writers(part, operations, seed=seed, keys=_UNIQUE)


def _writers(part: Part, operations: int, *, seed: int, keys: Json) -> Json:
    deletions = part.workload.definition_of(Records).range_delete(operations)
    fields = {"clients": part.workload.threads, "keys": keys, "operations": operations}
    return group(seed, {"put": 1}, **fields, **deletions)


def _without_limit(part: Part, tree: int) -> list[Json]:
    """Return the clients of the workload, which work until the time is over."""
    definition = part.workload.definition_of(Records)
    groups = definition.clients(_seed(part, 1))
    for one in groups:
        one.pop("operations", None)
        if "range_delete" in one:
            one.update(definition.range_delete(_ENDLESS))
    return [_of_existing(one, part.workload, tree) for one in groups]


def _at_rate(part: Part, rate: float, tree: int, step: int) -> Iterator[Json]:
    """Yield the clients of each kind of operation, and watch reads if the workload has no reads.

    Each kind has clients of its own, so that a stalled write delays no get.
    """
    load = part.workload
    definition = load.definition_of(Records)
    groups = [
        (kind, per_second, {"clients": load.threads, **definition.keys_of(kind)})
        for kind, per_second in definition.rates(rate).items()
    ]
    if not definition.read_shares:
        groups += [(kind, per_second, {"keys": UNIFORM}) for kind, per_second in _WATCH.items()]
    for number, (kind, per_second, fields) in enumerate(groups):
        fields["per_second"] = per_second
        if kind in PROBED:
            fields["count_blocks"] = True
        else:
            fields.update(definition.range_delete(_ENDLESS))
        if kind == "scan":
            fields["scan_length"] = load.scan_length or _WATCH_SCAN
        if kind == "get_missing":
            fields["missing"] = True
        operation = "get" if kind == "get_missing" else kind
        seed = _seed(part, 2 + step * len(groups) + number)
        yield _of_existing(group(seed, {operation: 1}, **fields), load, tree)


def _of_existing(clients: Json, load: Workload, tree: int) -> Json:
    """Return clients that write only keys that have a record.

    With this seed, the first keys of the order are those of the template.
    """
    if load.has_all_keys or clients["mix"].keys() <= {*PROBED}:
        return clients
    operations = max(1, _records(load) // clients.get("clients", 1))
    return {**clients, "seed": tree, "write_keys": _UNIQUE, "operations": operations}


def _records(load: Workload) -> int:
    return max(1, round((load.present or 1.0) * load.num))


def _writers_choice(load: Workload) -> Json:
    """Return the choice of the keys that the workload writes."""
    fields = load.definition_of(Records).keys_of("put")
    return dict(fields.get("write_keys") or fields["keys"])


def _seed(part: Part, number: int) -> int:
    return part.seed + (number + 1) * _SEED_STEP


@dataclass(frozen=True, slots=True)
class Style:
    """Options on which a trial depends.

    `full_merge` is the size of all other sorted runs / the last one at which universal compaction
    merges all; None for other styles. With `parallel`, RocksDB's counters miss written bytes.
    `blobs`: values are in blob files.
    """

    full_merge: float | None
    parallel: bool
    blobs: bool

    @classmethod
    def of(cls, options: str) -> "Style":
        """Read the text of an OPTIONS file."""
        family = parse_options(options).sections.get(f'CFOptions "{DEFAULT_FAMILY}"', {})
        full_merge = None
        if family.get("compaction_style") == _UNIVERSAL:
            text = unescaped(family.get("compaction_options_universal", ""))
            fields = struct_fields(text) or {}
            full_merge = float(fields.get("max_size_amplification_percent", _FULL_MERGE)) / 100
        blobs = family.get("enable_blob_files") == "true"
        return cls(full_merge, compresses_in_parallel(options), blobs)
