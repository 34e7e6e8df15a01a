"""Installed libraries of RocksDB: any version, without a compiler.

The Maven artifact rocksdbjni contains a Release build of RocksDB with its C API.
"""
