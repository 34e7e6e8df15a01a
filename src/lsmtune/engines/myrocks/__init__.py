"""The engine myrocks: RocksDB in a private MariaDB server, loaded by sysbench."""
