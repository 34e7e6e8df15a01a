"""Readers of what other programs print about their RocksDB: status variables, INFO, metrics.

Each program has its own names for RocksDB's counters. `names.py` lists these names as data; a
reader finds the values in one form of text. `status.py` turns them into the records that a LOG
gives, so the same rules judge them.
"""
