"""Replaces the package lsmsim: its driver runs a load without end, and without a store.

The file of the library says what the driver does: WORKS, IDLE (no operation), SILENT, DIES while it
prints an event, or REFUSES to open. A second of its clock lasts SECOND_S. Some options do something
else than being set.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

SECOND_S = 0.02
COUNTS, P99_US = (1000, 3000), (100.0, 300.0)
"""Of seconds with even and with odd numbers."""
REFUSED = {"write_buffer_size=666", "max_background_jobs=15"}
IGNORED, DEADLY, FATAL = (
    "max_write_buffer_number=9", "max_background_jobs=13", "max_background_jobs=14"
)  # fmt: skip
DATABASE = {"max_background_jobs", "bytes_per_sync"}
PER_SECOND = {
    "number.keys.written": 2000, "bytes.written": 2_000_000, "flush.write.bytes": 2_000_000,
    "compact.write.bytes": 6_000_000, "compact.read.bytes": 6_000_000, "wal.bytes": 2_000_000,
    "stall.micros": 250_000, "number.keys.read": 0, "bytes.read": 0, "number.db.seek": 0,
    "block.cache.miss": 0, "block.cache.add": 0, "bloom.filter.useful": 0, "memtable.hit": 0,
    "memtable.miss": 0,
    **{f"block.cache.{kind}.{what}": 0 for kind in ("data", "index", "filter")
       for what in ("hit", "miss")},
}  # fmt: skip


def install(folder: Path) -> Path:
    """Put the package into a folder."""
    package = folder / "lsmsim"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(Path(__file__).read_text())
    return folder


class _Store:
    def __init__(self, plan: dict) -> None:
        self.mode = Path(plan["library"]).read_text()
        pairs = (text.partition("=") for text in plan["options"].split(";") if text)
        self.options = {key: value for key, _, value in pairs}
        self.folder = Path(plan["folder"])
        self.seconds = 0
        self.lock = threading.Lock()

    def tell(self, event: str, **fields: object) -> None:
        with self.lock:
            print(json.dumps({"event": event, **fields, "time_s": time.time()}), flush=True)

    def text(self) -> str:
        of_database = [f"  {k}={v}" for k, v in self.options.items() if k in DATABASE]
        of_family = [f"  {k}={v}" for k, v in self.options.items() if k not in DATABASE]
        return "\n".join(["[DBOptions]", *of_database, '[CFOptions "default"]', *of_family, ""])

    def work(self) -> None:
        while True:
            time.sleep(SECOND_S)
            kind = self.seconds % 2
            put = {"count": COUNTS[kind], "records": COUNTS[kind], "checked": 0}
            put |= dict.fromkeys(("mean_us", "p50_us", "p75_us", "p999_us", "p9999_us"), 50.0)
            put |= {"p99_us": P99_US[kind], "max_us": 900.0}
            if self.mode == "IDLE":
                put = {"count": 0, "records": 0, "checked": 0}
            begin, self.seconds = self.seconds, self.seconds + 1
            self.tell("second", phase="load", from_s=begin, to_s=begin + 1.0,
                      operations={"put": put})  # fmt: skip

    def answer(self, command: dict) -> None:
        number, do = command.pop("id"), command.pop("do")
        with (self.folder / "commands").open("a") as file:
            file.write(json.dumps([do, command]) + "\n")
        if do == "report":
            lines = (f"rocksdb.{k} COUNT : {n * self.seconds}" for k, n in PER_SECOND.items())
            self.tell("report", id=number, statistics="\n".join(lines), tables={}, database="")
            return
        texts = {f"{key}={value}" for key, value in command["options"].items()}
        if DEADLY in texts:
            os._exit(3)
        if FATAL in texts:
            self.tell("failed", kind="operation", message="put: IO error: it broke")
            os._exit(1)
        if REFUSED & texts:
            self.tell("refused", id=number, message="Invalid argument: no such size")
            return
        self.options |= dict(text.split("=", 1) for text in texts - {IGNORED})
        self.tell("changed", id=number, options_file="OPTIONS-9", options=self.text())


def drive() -> None:
    """Open the store of the plan, and answer commands."""
    store = _Store(json.loads(sys.stdin.readline()))
    if store.mode == "REFUSES":
        store.tell("failed", kind="open", message="IO error: it does not open")
        os._exit(2)
    print("a line that the library prints", flush=True)
    (store.folder / "LOG").write_text("")
    store.tell("opened", version="9.9.9", options_file="OPTIONS-1", options=store.text())
    if store.mode == "DIES":
        print('{"event": "second", "pha', end="", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if store.mode != "SILENT":
        threading.Thread(target=store.work, daemon=True).start()
    for line in sys.stdin:
        if store.mode != "SILENT":
            store.answer(json.loads(line))
