"""The db_bench study (2021): three commands of db_bench, and RocksDB against other stores."""
