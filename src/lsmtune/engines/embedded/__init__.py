"""The engine embedded: RocksDB, LevelDB and LMDB under lsmtune's driver."""
