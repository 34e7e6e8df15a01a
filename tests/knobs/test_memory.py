"""Memory of a store: memtables, caches, and tables outside the block cache."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.knobs.memory import Memory, MemoryLimit, Records, memory
from lsmtune.knobs.types import Settings

MIB = 1 << 20
STORE: Settings = {
    "write_buffer_size": 64 * MIB, "max_write_buffer_number": 2, "cache_size": 32 * MIB,
    "row_cache_size": 0, "bloom_bits": -1, "block_size": 4096, "index_type": "binary_search",
    "cache_index_and_filter_blocks": False, "partition_filters": False, "use_ribbon_filter": False,
    "optimize_filters_for_hits": False, "index_shortening_mode": 1,
}  # fmt: skip
MANY = Records(12_800_000, 16, 1024)


def of(**changes: object) -> Memory:
    return memory({**STORE, **changes}, MANY)  # type: ignore[dict-item]


def test_memory_without_records_is_memtables_and_caches() -> None:
    assert memory(STORE) == Memory(128 * MIB, 32 * MIB)


@pytest.mark.parametrize(
    ("changes", "share"),
    [
        ({}, 1.0),
        ({"use_ribbon_filter": True}, 0.7),
        ({"optimize_filters_for_hits": True}, 0.1),
        ({"partition_filters": True, "index_type": "two_level"}, 0.0),
        ({"cache_index_and_filter_blocks": True}, 0.0),
    ],
)
def test_filter_memory_is_bits_times_keys(changes: Settings, share: float) -> None:
    assert of(bloom_bits=10, **changes).filters == pytest.approx(share * 16_000_000)
    assert of(**changes).filters == 0


@pytest.mark.parametrize(("style", "stored"), [(0, 1.07), (1, 1.25)])
def test_tables_of_overwritten_records_contain_obsolete_ones(style: int, stored: float) -> None:
    overwritten = Records(MANY.count, MANY.key_bytes, MANY.value_bytes, is_overwritten=True)
    store = {**STORE, "bloom_bits": 10, "compaction_style": style}
    assert memory(store, overwritten).filters == pytest.approx(stored * memory(store, MANY).filters)


def test_index_memory_follows_blocks_and_keys() -> None:
    """Figures of real trees: 20 bytes per block; 4, 15 and 33 records per block (RocksDB 7.8.3)."""
    assert of().indexes == pytest.approx(12_800_000 / 4 * 20)
    assert of(block_size=16384).indexes == pytest.approx(12_800_000 / 15 * 20, rel=1e-6)
    short = Records(1_000_000, 16, 100)
    assert memory(STORE, short).indexes == pytest.approx(1_000_000 / 33 * 20, rel=1e-6)
    whole_keys = memory({**STORE, "index_shortening_mode": 0}, short).indexes
    assert whole_keys == pytest.approx(1_000_000 / 33 * 28, rel=1e-6)
    assert of(index_type="two_level").indexes == of(cache_index_and_filter_blocks=True).indexes == 0


@given(bits=st.integers(1, 30), block=st.sampled_from([1024, 4096, 16384, 65536]))
def test_memory_grows_with_bits_and_shrinks_with_blocks(bits: int, block: int) -> None:
    assert of(bloom_bits=bits + 1).total > of(bloom_bits=bits).total
    assert of(block_size=2 * block).total < of(block_size=block).total


def test_limit_counts_tables_of_records() -> None:
    limit = MemoryLimit(160 * MIB)
    assert limit.violation(STORE) is None
    told = MemoryLimit(160 * MIB, records=MANY).violation(STORE)
    assert told is not None
    assert "filters and indexes" in told
