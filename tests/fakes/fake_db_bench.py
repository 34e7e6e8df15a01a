"""A stand-in for db_bench that behaves like it at the level of the process, and fails on demand.

It understands the flags that lsmtune gives, makes a database directory with LOG, OPTIONS and
tables, prints what a recorded run of RocksDB 7.8.3 printed (`recorded/`), compacts in a thread
of its own, and blocks when nobody reads what it prints. It is run as a program, so it imports
nothing but the standard library, and knows RocksDB's option names by itself.

Beside the installed program stand `runs`, a line "PID WHAT" for every start, and, where a test
has put it there, `hold`: loads from the one of that number on (1 is the first) do not end.
"""

import os
import re
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import NoReturn

RECORDED = Path(__file__).parent / "recorded"
RECORDED_NUM = 3000
SETTLE_S = 0.1


class Mode(StrEnum):
    """What the stand-in does; all but WORKS happens in the load unless the name says otherwise."""

    WORKS = "works"
    HANGS = "hangs"
    NEVER_SETTLES = "never settles"
    SPINS = "spins"
    PRINTS_GARBAGE = "prints garbage"
    PRINTS_BAD_RESULT = "prints a bad result"
    SAYS_NOTHING = "says nothing"
    PRINTS_NO_STATISTICS = "prints no statistics"
    KILLED = "killed"
    SEGFAULTS = "segfaults"
    ABORTS_SETTLING = "aborts while it settles"
    REFUSES = "refuses"
    DISK_FULL = "disk full"
    ENDS_UNSETTLED = "ends unsettled"
    LOSES_DATABASE = "loses its database"
    OTHER_OPTIONS = "other options"
    OTHER_CACHE = "other cache"
    LEAVES_GRANDCHILD = "leaves a grandchild"
    GRANDCHILD_HOLDS_OUTPUT = "grandchild holds the output"
    IGNORES_SIGNALS = "ignores signals"
    PROBE_FAILS = "probe fails"
    PROBE_HANGS = "probe hangs"
    PROBE_MISSES = "probe misses"
    PROBE_IS_SHORT = "probe is short"


def install(directory: Path, mode: Mode = Mode.WORKS) -> Path:
    """Make a db_bench of that mode in a new directory; its path."""
    directory.mkdir(parents=True)
    program = directory / "db_bench"
    program.write_text(
        f"#!{sys.executable} -ISB\n"
        f"import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from fake_db_bench import main\n"
        f"main({mode.value!r}, {str(directory)!r})\n"
    )
    program.chmod(0o755)
    return program


def main(mode: str, directory: str) -> NoReturn:
    """Run as db_bench does."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    DbBench(Mode(mode), Path(directory), sys.argv[1:]).run()
    # Like db_bench, which does not wait for its background threads.
    os._exit(0)


class DbBench:
    """One run of the program."""

    def __init__(self, mode: Mode, home: Path, arguments: list[str]) -> None:
        self._home = home
        self._flags = _flags(arguments)
        self._benchmarks = self._flags["benchmarks"].split(",")
        self._num = int(self._flags["num"])
        self._database = Path(self._flags["db"])
        describes = self._benchmarks == ["fillseq"]
        self._mode = Mode.WORKS if describes else mode
        self._describes = describes
        self._loads = self._flags.get("use_existing_db", "0") == "0"
        what = "describe" if describes else "load" if self._loads else "probe"
        with (home / "runs").open("a") as runs:
            runs.write(f"{os.getpid()} {what}\n")

    def run(self) -> None:
        """The benchmarks in turn, then the statistics."""
        if self._mode is Mode.SAYS_NOTHING:
            return
        if self._mode is Mode.PRINTS_GARBAGE:
            os.write(1, b"\x00\xff\xfe\x80 EVENT_LOG_v1 {[\n" * 50 + b"no end of line")
            return
        if self._mode is Mode.IGNORES_SIGNALS:
            for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(ignored, signal.SIG_IGN)
        self._print_banner()
        self._open()
        for name in self._benchmarks:
            self._benchmark(name)
        if "statistics" in self._flags and self._mode is not Mode.PRINTS_NO_STATISTICS:
            recorded = self._recorded("statistics.txt" if self._loads else "probe.txt")
            _print("STATISTICS:\n" + self._scaled(recorded.partition("STATISTICS:\n")[2]))

    def _print_banner(self) -> None:
        _complain("RocksDB:    version 7.8.3\nDate:       Sat Nov 21 22:25:47 2026\n")
        _complain("CPU:        2 * Some Processor\nCPUCache:   16384 KB\n")
        _print(self._recorded("load.txt").partition("DB path:")[0])

    def _open(self) -> None:
        if self._mode is Mode.REFUSES or self._refused_by_rocksdb():
            self._give_up(
                "open error: Invalid argument: Enable cache_index_and_filter_blocks, , "
                "but block cache is disabled"
            )
        if self._loads:
            if self._database.exists():
                _remove(self._database)
            self._database.mkdir()
        elif self._mode is Mode.PROBE_FAILS:
            self._give_up("open error: Corruption: Corrupt or unsupported format_version: 77")
        log, number = self._database / "LOG", 7 if self._loads else 23
        if log.exists():
            log.rename(f"{log}.old.{_micros()}")
        cache = self._flags.get("cache_size", str(8 << 20))
        if self._mode is Mode.OTHER_CACHE:
            cache = "4096"
        header = self._recorded("LOG").replace("capacity : 8388608", f"capacity : {cache}")
        self._log(header.replace("{stamp}", "2026/11/21-22:25:47.235256 1"))
        (self._database / f"OPTIONS-{number:06}").write_text(self._options())
        (self._database / "CURRENT").write_text("MANIFEST-000005\n")

    def _refused_by_rocksdb(self) -> bool:
        no_cache = int(self._flags.get("cache_size", "1")) <= 0
        return no_cache and "  cache_index_and_filter_blocks=true" in self._options()

    def _options(self) -> str:
        """What RocksDB writes down: the file that it was given, or db_bench's own options."""
        file = self._flags.get("options_file")
        text = Path(file).read_text() if file else self._recorded("OPTIONS")
        return _changed(text, "num_levels", "5") if self._mode is Mode.OTHER_OPTIONS else text

    def _benchmark(self, name: str) -> None:
        if name.startswith("fill"):
            self._fill(name)
        elif name == "flush":
            _print("flush memtable\n")
        elif name == "stats":
            _print(self._scaled(self._recorded("stats.txt")))
        else:
            self._read(name)

    def _fill(self, name: str) -> None:
        _print(f"DB path: [{self._database}]\n")
        for count in range(100, 700, 100):
            _complain(f"... finished {count} ops{' ' * 30}\r")
        if self._mode is not Mode.LOSES_DATABASE:  # or its LOG may be gone amid a flush
            self._flush()
        self._misbehave_in_load()
        while self._is_held():
            self._log("still loading\n")
            time.sleep(0.02)
        if self._mode is Mode.LOSES_DATABASE:
            _remove(self._database)
        else:
            self._event(3, "compaction_started", '"input_data_size": 1576947')
        result = "fillrandom" + self._recorded("load.txt").partition("fillrandom")[2]
        result = result.partition("flush memtable")[0]
        line, _, histogram = self._scaled(result).replace("fillrandom", name).partition("\n")
        if self._mode is Mode.PRINTS_BAD_RESULT:
            line = f"{name} : nan micros/op inf ops/sec"
        _print(line + "\n" + (histogram if "histogram" in self._flags else ""))
        if self._mode is Mode.ENDS_UNSETTLED:
            os._exit(0)
        if self._mode not in (Mode.LOSES_DATABASE, Mode.NEVER_SETTLES):
            threading.Thread(target=self._compact, daemon=True).start()

    def _is_held(self) -> bool:
        if self._describes:
            return False
        try:
            first = int((self._home / "hold").read_text())
        except FileNotFoundError:
            return False
        return (self._home / "runs").read_text().count(" load\n") >= first

    def _flush(self) -> None:
        for job in range(100, 107):
            self._event(job, "flush_started", '"flush_reason": "Write Buffer Full"')
            self._event(job, "flush_finished", '"lsm_state": [1, 0, 0, 0, 0, 0, 0]')
        self._event(2, "flush_started", '"flush_reason": "Write Buffer Full"')
        with (self._database / "000009.sst").open("wb") as table:
            table.truncate(self._num * 540)  # all holes
        self._event(2, "table_file_creation", '"file_number": 9, "file_size": 491713')
        self._event(2, "flush_finished", '"lsm_state": [1, 0, 0, 0, 0, 0, 0]')

    def _compact(self) -> None:
        if self._mode is Mode.ABORTS_SETTLING:
            time.sleep(SETTLE_S)
            _complain("db_bench: ./db/compaction/compaction_job.cc:1: Assertion `false' failed.\n")
            os.abort()
        with (self._database / "000016.sst").open("wb") as table:
            table.truncate(self._num * 380)
        sizes = '"table_properties": {"index_size": 24000, "filter_size": 0}'
        made = f'"file_number": 16, "file_size": {self._num * 380}, {sizes}'
        self._event(3, "table_file_creation", made)
        while (self._home / "waits").exists() and not (self._home / "settle").exists():
            time.sleep(0.01)
        time.sleep(SETTLE_S)
        (self._database / "000009.sst").unlink()
        self._event(3, "compaction_finished", '"compaction_time_micros": 12903')

    def _misbehave_in_load(self) -> None:
        actions: dict[Mode, Callable[[], object]] = {
            Mode.HANGS: _hang,
            Mode.IGNORES_SIGNALS: _hang,
            Mode.SPINS: _spin,
            Mode.KILLED: lambda: os.kill(os.getpid(), signal.SIGKILL),
            Mode.SEGFAULTS: lambda: os.kill(os.getpid(), signal.SIGSEGV),
            Mode.DISK_FULL: lambda: self._give_up(
                "put error: IO error: No space left on device: While appending to file: "
                f"{self._database}/000008.log: No space left on device"
            ),
            Mode.LEAVES_GRANDCHILD: lambda: _leave_grandchild(holds_output=False),
            Mode.GRANDCHILD_HOLDS_OUTPUT: lambda: _leave_grandchild(holds_output=True),
        }
        actions.get(self._mode, lambda: None)()

    def _read(self, name: str) -> None:
        if self._mode is Mode.PROBE_HANGS:
            _hang()
        if self._mode is Mode.PROBE_IS_SHORT and name == "seekrandom":
            return
        recorded = self._recorded("probe.txt").partition("STATISTICS:")[0]
        reads = self._flags.get("reads", "500")
        for part in recorded.split("DB path: ")[1:]:
            if f"\n{name} " in part:
                text = part.replace("500 operations", f"{reads} operations")
                text = text.replace("(500 of 500", f"({reads} of 500")
                if self._mode is Mode.PROBE_MISSES:
                    text = text.replace(f"({reads} of 500", "(1 of 500")
                _print("DB path: " + text.replace("of 500 found", f"of {reads} found"))

    def _scaled(self, text: str) -> str:
        """The recorded text with the counts that follow from the number of records."""

        def scaled(match: re.Match[str]) -> str:
            return match[1] + str(int(match[2]) * self._num // RECORDED_NUM)

        written = (
            r"(rocksdb\.(?:bytes\.written|wal\.bytes|(?:flush|compact)\.write\.bytes) COUNT : )"
        )
        text = re.sub(written + r"(\d+)", scaled, text)
        return text.replace("3000 operations", f"{self._num} operations").replace(
            "Count: 3000", f"Count: {self._num}"
        )

    def _recorded(self, name: str) -> str:
        return (RECORDED / name).read_text().replace("{db}", str(self._database))

    def _event(self, job: int, event: str, more: str) -> None:
        payload = f'{{"time_micros": {_micros()}, "job": {job}, "event": "{event}", {more}}}'
        self._log(f"2026/11/21-22:25:47.252806 1 EVENT_LOG_v1 {payload}\n")

    def _log(self, text: str) -> None:
        with (self._database / "LOG").open("a") as log:
            log.write(text)

    def _give_up(self, message: str) -> NoReturn:
        _complain(message + "\n")
        os._exit(1)


def _flags(arguments: list[str]) -> dict[str, str]:
    pairs = (argument.removeprefix("--").partition("=") for argument in arguments)
    flags = {name: value for name, _, value in pairs}
    for name in flags:
        if name not in KNOWN_FLAGS:
            _complain(f"ERROR: unknown command line flag '{name}'\n")
            os._exit(1)
    return flags


def _changed(text: str, key: str, value: str) -> str:
    changed, count = re.subn(rf"(?m)^(  {key}=).*$", lambda match: match[1] + value, text)
    if count != 1:
        raise ValueError(f"the recorded OPTIONS file has {key} {count} times")
    return changed


def _print(text: str) -> None:
    """Print without a buffer, so that the gate holds at the byte."""
    data = text.encode()
    while data:
        data = data[os.write(1, data) :]


def _complain(text: str) -> None:
    os.write(2, text.encode())


def _micros() -> int:
    return time.time_ns() // 1000


def _remove(folder: Path) -> None:
    import shutil  # noqa: PLC0415 - few runs need it, and each pays for its imports

    shutil.rmtree(folder, ignore_errors=True)


def _hang() -> NoReturn:
    while True:
        time.sleep(3600)


def _spin() -> NoReturn:
    while True:
        pass


def _leave_grandchild(*, holds_output: bool) -> None:
    import subprocess  # noqa: PLC0415 - few runs need it, and each pays for its imports

    output = None if holds_output else subprocess.DEVNULL
    # The path of this program makes the grandchild known to the test that looks for it.
    code = "import time\nwhile True: time.sleep(3600)"
    subprocess.Popen(
        [sys.executable, "-ISBc", code, sys.argv[0]],
        stdin=subprocess.DEVNULL, stdout=output, stderr=output,
    )  # fmt: skip


KNOWN_FLAGS = {
    "benchmarks", "cache_high_pri_pool_ratio", "cache_low_pri_pool_ratio", "cache_numshardbits",
    "cache_size", "cache_type", "compression_ratio", "db", "histogram", "key_size", "num",
    "num_bottom_pri_threads", "options_file", "perf_level", "rate_limiter_auto_tuned",
    "rate_limiter_bytes_per_sec", "reads", "row_cache_size", "seed", "seek_nexts", "statistics",
    "threads", "use_existing_db", "value_size",
}  # fmt: skip
