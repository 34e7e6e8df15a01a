"""Opens stores with OPTIONS files by db_bench itself, which has RocksDB linked into it."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.libraries.steps import Event, StepFailedError
from lsmtune.engines.rocksdb.bench import Files
from lsmtune.engines.rocksdb.db_bench.client import Client
from lsmtune.engines.rocksdb.opener import LISTS_LEFT_OUT, folders_inside
from lsmtune.knobs.families import DEFAULT_FAMILY
from lsmtune.trials import Status
from lsmtune.workloads import Workload

_BENCHMARKS = {
    "put": ("overwrite",), "overwrite": ("readseq", "overwrite", "readseq"), "flush": ("flush",),
    "compact": ("compact",), "digest": ("readseq",),
}  # fmt: skip
"""The benchmarks that do about the same as a step. Other steps are left out."""
_WRITES, _ALL = 2000, 1 << 40
_READ = re.compile(r"^readseq +:.* (\d+) operations;", re.MULTILINE)
_FEWER = (
    "RocksDB is a part of this db_bench, so db_bench opened the store; not shown: values of "
    "records (only their number), other column families than default, and data in the last level"
)


@dataclass(frozen=True, slots=True)
class BenchOpener:
    """A db_bench, a work directory, the time limit of each opening in seconds, and the records."""

    program: str
    folder: Path
    limit_s: float
    load: Workload

    reads_files = True

    def remarks(self, replaced: Collection[str]) -> tuple[str, ...]:
        """Return what an opening does not show."""
        lists = any(key.endswith("_paths") for key in replaced)
        return (_FEWER, *([LISTS_LEFT_OUT] if lists else []))

    def open(
        self,
        name: str,
        store: Path,
        options: str,
        steps: Sequence[Mapping[str, Any]],
        **more: bool,
    ) -> list[Event]:
        """Open a store with an OPTIONS file and do what db_bench can of the steps.

        The sum of a digest is the number of records. StepFailedError if db_bench fails.
        """
        file = self.folder / f"{name}.ini"
        file.write_text(folders_inside(options, store)[0])
        benchmarks = [name for step in steps for name in _BENCHMARKS.get(step["do"], ())]
        argv = [
            self.program,
            f"--db={store}",
            f"--use_existing_db={int(store.exists() or not more.get('create'))}",
            f"--options_file={file}",
            f"--benchmarks={','.join(benchmarks)}",
            f"--num={self.load.num}",
            f"--key_size={self.load.key_size}",
            f"--value_size={self.load.record_bytes - self.load.key_size}",
            f"--writes={_WRITES}",
            f"--reads={_ALL}",
            "--seed=1",
        ]
        files = Files.of(self.folder, name)
        try:
            what = "lsmtune stopped db_bench while it used a store"
            Client(argv, store, files).run_to_end(what, self.limit_s, self.limit_s)
        except TrialFailedError as failure:
            if failure.status is Status.OUT_OF_SPACE:
                raise
            failed = "open" if "open error" in str(failure) else "use"
            raise StepFailedError(failed, str(failure)) from failure
        counts = iter(map(int, _READ.findall(files.stdout_text())))
        results: list[Event] = []
        for step in steps:
            found: Any = {"errors": 0}.get(step["do"])
            if step["do"] == "overwrite":
                found = {DEFAULT_FAMILY: -next(counts) + next(counts)}
            elif step["do"] == "digest":
                number = next(counts)
                found = {DEFAULT_FAMILY: (number, number)}
            results.append({"event": step["do"], "result": found})
        return results
