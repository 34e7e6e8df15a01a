"""The engine rocksdb: RocksDB under lsmtune's driver, or its program db_bench."""
