"""Metrics of operations and seconds, for all engines."""


def time_metrics(operations: float, load_s: float, settle_s: float) -> dict[str, float]:
    """Return times and rates for the operations of all clients, with and without settling."""
    total_s = load_s + settle_s
    return {
        "load_s": load_s,
        "settle_s": settle_s,
        "total_s": total_s,
        "throughput_ops_s": operations / load_s,
        "sustained_ops_s": operations / total_s,
    }
