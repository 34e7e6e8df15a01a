"""Sizes of records that servers and embedded stores accept."""

from lsmtune.workloads import Records, Workload

_MOST_KEY_BYTES, _MOST_VALUE_BYTES = 500, 60_000
"""LMDB keys have 511 bytes, SQL rows 64 KiB."""


def refused_size(engine: str, load: Workload) -> str | None:
    """Return which size of the records is not possible with an engine, or None.

    A key is the number of the record with leading zeros.
    """
    if not isinstance(load.definition, Records):
        return None
    digits = len(str(load.num - 1))
    if not digits <= load.key_size <= _MOST_KEY_BYTES:
        return (
            f"key_size: {load.key_size} is not possible with engine {engine} and {load.num} "
            f"records; use {digits} to {_MOST_KEY_BYTES}"
        )
    if load.value_size > _MOST_VALUE_BYTES:
        return (
            f"value_size: {load.value_size} is too large for engine {engine}; "
            f"use 1 to {_MOST_VALUE_BYTES}"
        )
    return None
