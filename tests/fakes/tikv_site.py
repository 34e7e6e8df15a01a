"""A user's place with a TiKV: its file, its restart command, go-ycsb, and a study on them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fakes import fake_go_ycsb
from fakes.fake_tikv import FakeTiKV, serving

FILE = """# the user's own file
[server]
labels = { zone = "a" }

[storage]
data-dir = "/data/tikv"   # big disk

[storage.block-cache]
capacity = "1GB"

[rocksdb.defaultcf]
block-size = "64KB" # as ever

[security.encryption.master-key]
type = "file"
path = "never-to-be-shown"
"""
NUM = 64_000_000
"""Enough records to fill memtables often; the stand-in has none of them anyway."""


@dataclass
class Site:
    """The stand-ins, and where they are."""

    folder: Path
    tikv: FakeTiKV
    port: int
    program: Path

    @property
    def config(self) -> Path:
        return self.folder / "tikv.toml"

    @property
    def restart(self) -> Path:
        return self.folder / "restart"

    def ycsb(self, mode: fake_go_ycsb.Mode) -> None:
        """What go-ycsb does from now on, but for loading records."""
        self.program.with_name("mode").write_text(mode)

    def runs(self) -> list[dict[str, str]]:
        """The properties of every start of go-ycsb, with its command."""
        path = self.program.with_name("runs")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def cluster(self, **changes: Any) -> dict[str, Any]:
        """The table [tikv] of a study file."""
        address = f"127.0.0.1:{self.port}"
        return {
            "status": address, "pd": address, "config": str(self.config),
            "restart": [str(self.restart)], "start_s": 60, "refresh_s": 0.05,
        } | changes  # fmt: skip

    def study(self, load: str = "ycsb_a", **changes: Any) -> dict[str, Any]:
        """A study on this TiKV."""
        return {
            "engine": "tikv", "program": str(self.program), "tikv": self.cluster(),
            "workload": {"name": load, "num": NUM, "threads": 4}, "knobs": "autotikv",
            "protocol": {"probe_reads": 100},
        } | changes  # fmt: skip

    def file(self, load: str = "ycsb_a", text: str = "") -> str:
        """The same as a study file, with more of it."""
        table = "\n".join(f"{key} = {value!r}" for key, value in self.cluster().items())
        return (
            f'engine = "tikv"\nprogram = "{self.program}"\n{text}\n'
            f'workload = {{ name = "{load}", num = {NUM}, threads = 4 }}\n'
            f"protocol = {{ probe_reads = 100 }}\n[tikv]\n{table}\n"
        )


@contextmanager
def site(folder: Path, text: str = FILE) -> Iterator[Site]:
    """A TiKV that runs, with a go-ycsb beside it."""
    program = fake_go_ycsb.install(folder / "bin")
    with serving(folder, text) as (tikv, port):
        yield Site(folder, tikv, port, program)
