"""What a RocksDB LOG, or an output of db_bench, says about a store."""
