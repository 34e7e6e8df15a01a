"""Settings that RocksDB changes silently, and settings that it refuses."""

from lsmtune.knobs.types import Settings

SILENTLY_CHANGED: list[Settings] = [
    {
        "write_buffer_size": 1000,
        "max_write_buffer_number": 1,
        "min_write_buffer_number_to_merge": 7,
        "memtable_bloom_size_ratio": 0.5,
        "memtable_whole_key_filtering": True,
        "memtablerep": "prefix_hash",
        "allow_concurrent_memtable_write": False,
        "level0_file_num_compaction_trigger": 30,
        "num_levels": 1,
        "soft_pending_compaction_bytes_limit": 0,
        "max_compaction_bytes": 0,
        "arena_block_size": 0,
        "open_files": 5,
        "use_direct_reads": True,
        "delayed_write_rate": 0,
        "block_size_deviation": 200,
        "block_restart_interval": 0,
        "index_block_restart_interval": 0,
        "bloom_bits": 10,
        "partition_filters": True,
        "ttl_seconds": 2**64 - 2,
        "periodic_compaction_seconds": 2**64 - 2,
    },
    {
        "write_buffer_size": 1 << 40,
        "level0_file_num_compaction_trigger": 0,
        "level0_slowdown_writes_trigger": 50,
        "level0_stop_writes_trigger": 10,
        "soft_pending_compaction_bytes_limit": 1 << 40,
        "target_file_size_base": 1 << 20,
        "max_compaction_bytes": 25 << 20,
        "max_write_buffer_size_to_maintain": -1,
        "open_files": 10_000_000,
        "max_bytes_for_level_multiplier": 0.0,
        "atomic_flush": True,
        "enable_pipelined_write": False,
        "max_write_buffer_number": 4,
        "min_write_buffer_number_to_merge": 2,
        "prefix_size": 4,
        "index_type": "hash",
        "index_block_restart_interval": 8,
    },
    {
        "compaction_style": 1,
        "level_compaction_dynamic_level_bytes": True,
        "periodic_compaction_seconds": 0,
        "num_levels": 1,
        "rate_limiter_bytes_per_sec": 1 << 25,
        "bytes_per_sync": 0,
        "delayed_write_rate": 0,
    },
    {"compaction_style": 1, "ttl_seconds": 86400, "periodic_compaction_seconds": 100_000},
    {"compaction_style": 1, "ttl_seconds": 86400, "periodic_compaction_seconds": 2**64 - 2},
    {"compaction_style": 2},
]

CONCURRENT, PIPELINED = "allow_concurrent_memtable_write", "enable_pipelined_write"
LEGAL_BY_THEMSELVES = {CONCURRENT, PIPELINED, "compression_type"}
"""What is set only so that nothing else is wrong."""

REFUSED: list[Settings] = [
    {"inplace_update_support": True},
    {"memtablerep": "vector"},
    {"compression_zstd_max_train_bytes": 65536},
    {"compaction_style": 2, "open_files": 1000},
    {"use_direct_reads": True, "mmap_read": True},
    {"use_direct_io_for_flush_and_compaction": True, "mmap_write": True},
    {"unordered_write": True, PIPELINED: False, CONCURRENT: False},
    {"unordered_write": True, PIPELINED: True},
    {"unordered_write": True, PIPELINED: False, "max_successive_merges": 3},
    {"atomic_flush": True, PIPELINED: True},
    {"use_direct_io_for_flush_and_compaction": True, "writable_file_max_buffer_size": 0},
    {"no_block_cache": True, "cache_index_and_filter_blocks": True},
    {"no_block_cache": True, "pin_l0_filter_and_index_blocks_in_cache": True},
    {"block_align": True},
    {"block_align": True, "compression_type": "none", "block_size": 5000},
    {"index_type": "hash"},
]

ABORTED: list[Settings] = [{"use_direct_io_for_flush_and_compaction": True, "mmap_read": True}]
"""With these, builds with assertions abort."""
