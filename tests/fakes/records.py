"""The records of a load as records.lua writes them, computed once more."""

from collections.abc import Iterator

from lsmtune.workloads import Workload

_BITS = 2**64 - 1
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"


def mixed(number: int) -> int:
    """splitmix64."""
    number = (number + 1) * 0x9E3779B97F4A7C15 & _BITS
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 & _BITS
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB & _BITS
    return number ^ (number >> 31)


def records(load: Workload, seed: int) -> dict[str, set[str]]:
    """What may be in a store after the load: of each key the last value of every client."""
    pieces = list(_pieces(load))
    found: dict[str, dict[int, str]] = {}
    for client in range(load.threads):
        for operation in range(load.client_operations or 0):
            drawn = mixed((mixed(seed) + (client << 40) + operation) & _BITS) % load.num
            key = f"{drawn:0{load.key_size}d}"
            found.setdefault(key, {})[client] = pieces[operation % len(pieces)]
    return {key: set(values.values()) for key, values in found.items()}


def check_records(found: dict[str, str], load: Workload, seed: int) -> None:
    """Whether a store has all records of the load, and no others."""
    possible = records(load, seed)
    assert found.keys() == possible.keys()
    assert all(value in possible[key] for key, value in found.items())


def _pieces(load: Workload) -> Iterator[str]:
    random = max(1, int(load.value_size * load.compression_ratio))
    drawn = 0
    for _ in range(max(1, 2**20 // load.value_size)):
        letters = ""
        while len(letters) < random:
            letters += _LETTERS[mixed(drawn) % 64]
            drawn += 1
        yield (letters * load.value_size)[: load.value_size]
