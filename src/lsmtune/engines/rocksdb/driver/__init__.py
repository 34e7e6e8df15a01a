"""RocksDB's library in any version, in lsmtune's own driver."""
