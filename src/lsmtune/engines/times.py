"""How fast a load was: what every engine tells of operations and seconds."""


def time_metrics(operations: float, load_s: float, settle_s: float) -> dict[str, float]:
    """The metrics of the operations of all clients, load and settling apart and together."""
    total_s = load_s + settle_s
    return {
        "load_s": load_s,
        "settle_s": settle_s,
        "total_s": total_s,
        "throughput_ops_s": operations / load_s,
        "sustained_ops_s": operations / total_s,
    }
