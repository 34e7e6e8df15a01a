"""Kinds of operations of a workload, named as the prefix of their latency metrics."""

from lsmtune.workloads.presets import EngineName
from lsmtune.workloads.workload import TRANSACTION_BYTES, Workload

READS = frozenset({"get", "get_missing", "scan", "order_status", "stock_level"})
"""Kinds that only read."""

_PROBED = ("get", "get_missing", "scan")
"""Kinds that the read probe measures after a workload that only writes."""


def own_operations(load: Workload, engine: EngineName) -> tuple[str, ...]:
    """Return the kinds of operations of a workload whose latency the engine measures."""
    if load.mix is not None:
        shares = {"get": load.mix.get, "write": load.mix.put, "scan": load.mix.scan}
        return tuple(kind for kind, share in shares.items() if share > 0)
    if engine == "simulated":
        return ()  # the simulator predicts no latency of writes, and follows only writes
    return load.preset.measured


def probed_operations(load: Workload, engine: EngineName) -> tuple[str, ...]:
    """Return the kinds of reads that the read probe measures after the workload."""
    if load.kind != "write":
        return ()
    return ("get", "scan") if engine == "tikv" else _PROBED


def written_bytes(load: Workload) -> int | None:
    """Return the key and value bytes that the clients write during the load; None if unknown.

    A deletion writes its key only. For SQL, it is an estimate.
    """
    if load.client_operations is None:
        return None
    operations = load.client_operations * load.threads
    if load.preset.engine == "myrocks" and load.kind != "read":
        return operations * TRANSACTION_BYTES
    share = _write_share(load)
    size = load.key_size if load.name == "deleterandom" else load.record_bytes
    return None if share is None else round(share * operations * size)


def _write_share(load: Workload) -> float | None:
    """Return the share of the operations that write, if it is known."""
    if load.kind == "write" or load.name == "updaterandom":
        return 1.0
    if load.get_percent is not None:
        return 1 - load.get_percent / 100
    return load.preset.write_share if load.mix is None else load.mix.put
