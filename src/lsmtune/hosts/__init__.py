"""Trials on other hosts: Dask carries them, lsmtune runs them and keeps their results."""
