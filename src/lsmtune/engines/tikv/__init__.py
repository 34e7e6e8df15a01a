"""The engine tikv: a TiKV of the user, loaded by go-ycsb."""
