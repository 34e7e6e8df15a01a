"""A commander as a process of its own: it gives one attempt to each host and waits for ever.

Arguments: address, folder of the certificates, seconds per trial, names of the attempts.
"""

import sys
from pathlib import Path

from fakes.host_processes import host_task
from lsmtune.hosts.connect import connect


def main(address: str, keys: str, seconds: str, *attempts: str) -> None:
    """Give the attempts, and wait."""
    with connect(address, Path(keys), alive_s=0.5) as hosts:
        for info, attempt in zip(hosts.hosts(), attempts, strict=True):
            hosts.start(info.address, host_task(attempt, seconds=float(seconds)))
        print("started", flush=True)
        while True:
            hosts.wait(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
