"""Level against universal compaction (2021), run again on db_bench and under TPC-C on MyRocks."""
