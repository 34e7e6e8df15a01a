"""The signals that end a scheduler or a worker."""

import asyncio
import signal


def stop_event() -> asyncio.Event:
    """Return an event of the running loop that Ctrl-C, SIGTERM or a closed terminal sets."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            loop.add_signal_handler(number, stop.set)
    return stop
