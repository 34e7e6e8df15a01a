"""Recipe compaction-style: level and universal compaction (2021), with db_bench and MyRocks."""
