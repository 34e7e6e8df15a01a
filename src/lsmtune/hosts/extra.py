"""Dask and cryptography, which only the extra `hosts` installs, and the settings of Dask."""

import logging
from importlib.util import find_spec

from lsmtune.errors import UserError

_PACKAGES = ("distributed", "cryptography")
_SILENT = logging.CRITICAL
TIMEOUTS = {"distributed.comm.timeouts.tcp": "11s", "distributed.comm.timeouts.connect": "11s"}
"""Settings of Dask for each process: a broken connection is noticed after the shortest time that
Dask accepts (`set_tcp_timeout` in distributed/comm/tcp.py)."""


def need_extra() -> None:
    """Raise UserError if a package of the extra `hosts` is missing."""
    if any(find_spec(name) is None for name in _PACKAGES):
        raise UserError(
            "hosts: the packages for many hosts are not installed; install them with "
            "`pip install 'lsmtune[hosts]'`"
        )


def silence_dask() -> None:
    """Keep Dask's own log off the terminal, unless the user configured it.

    lsmtune reports in its own words what its user must know. `DASK_LOGGING__DISTRIBUTED=info` shows
    Dask's log.
    """
    import dask
    import distributed  # noqa: F401 - sets up its log when it is imported

    if "logging" not in dask.config.config:
        for name in ("distributed", "distributed.client", "distributed.gc", "tornado"):
            logging.getLogger(name).setLevel(_SILENT)
