"""Schedulers, workers and commands on hosts, forked from a process that has imported Dask.

A start of one takes two seconds of CPU time, nearly all of it imports.
"""

import gc
import sys
from importlib import import_module

from fakes.forks import serve
from lsmtune.errors import LsmtuneError
from lsmtune.hosts.extra import silence_dask

_MODULES = ("scripted_host", "scripted_commander", "scripted_tune", "scripted_experiments")
_PARTS_OF_DASK = ("scheduler", "worker")


def _be_a_module(arguments: list[str]) -> None:
    name, *given = arguments
    try:
        import_module(name).main(*given)
    except LsmtuneError as error:
        sys.exit(f"lsmtune: {error}")


if __name__ == "__main__":
    silence_dask()
    for part in _PARTS_OF_DASK:
        import_module(f"distributed.{part}")
    for module in _MODULES:
        import_module(f"fakes.{module}")
    gc.collect()
    gc.freeze()  # a collection in a fork would copy the memory of all of it
    serve(_be_a_module)
