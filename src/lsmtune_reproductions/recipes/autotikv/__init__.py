"""Recipe autotikv: the searches of AutoTiKV (2019) on RocksDB and MyRocks."""
