"""The rules between RocksDB's options, by what they do with settings that break them."""
