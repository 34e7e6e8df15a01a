"""Readers of runs: batches of JSON lines, the machine's constants, searches of a comparison."""

import json
from contextlib import suppress
from pathlib import Path

from lsmtune.api.resolve_experiment import with_screen
from lsmtune.batch import read_batch
from lsmtune.errors import UserError
from lsmtune.simulator.native import default_constants
from lsmtune.spec import StudySettings, make_spec
from lsmtune.study.screen import usable_lines
from lsmtune.system.host import describe_host
from lsmtune_reproductions.comparison import compare as compared
from mutated.reader import Reader, command, commands, write_file
from mutated.settings import settle

BATCH = [
    {"id": "a", "workload": {"name": "fillrandom", "num": 20_000, "value_size": 100},
     "knobs": {"write_buffer_size": 1 << 20, "compression_type": "none", "compaction_style": 1},
     "metrics": {"write_amp": 3.5, "total_s": 1.25}, "seed": 3, "note": "kept"},
    {"id": "c", "workload": {"name": "overwrite", "num": 5000, "compression_ratio": 0.25},
     "engine": "rocksdb", "knobs": {}, "metrics": {}, "disturbance": None},
    {"id": 7, "knobs": {"block_size": 8192, "bloom_bits": 10, "enable_pipelined_write": True},
     "workload": {"num": 5000}, "error": "crashed"},
]  # fmt: skip


def _batch_text() -> list[bytes]:
    return ["".join(json.dumps(line) + "\n" for line in BATCH).encode()]


def _batch(data: bytes, folder: Path) -> None:
    path, page = write_file(data, folder, "runs.jsonl"), folder / "page.html"
    asked = ("simulate", "--batch", path, "--home", folder / "home")
    commands(asked, (*asked, "--page", page))


def _screen_batch(data: bytes, folder: Path) -> None:
    path = write_file(data, folder, "runs.jsonl")
    given = with_screen({}, {"batch": str(path)})
    settle(make_spec(given, "lsmtune screen", {}), folder)
    for line in usable_lines(path, read_batch(path)):
        json.loads(line.to_json())
    with suppress(UserError):  # the ranking needs more runs, and minutes
        command("importance", "--batch", path, "--repeats", "1")


def _machine_text() -> list[bytes]:
    host = describe_host()
    facts = {"cpu_model": host.cpu_model, "logical_cpus": host.logical_cpus,
             "calibrated_at": "2026-01-01T00:00:00+00:00"}  # fmt: skip
    return [json.dumps({**facts, "constants": default_constants()}).encode()]


def _machine(data: bytes, folder: Path) -> None:
    (folder / "home").mkdir(exist_ok=True)
    write_file(data, folder / "home", "machine.json")
    command("simulate", "--num", "20000", "--home", folder / "home")


def _searches_text() -> list[bytes]:
    lines = [{"optimizer": n, "seed": s, "costs": [1.0, 0.9, 0.8]}
             for n in ("tpe", "random") for s in (1, 2)]  # fmt: skip
    return ["".join(json.dumps(line) + "\n" for line in lines).encode()]


def _searches(data: bytes, folder: Path) -> None:
    """The finished searches of a comparison; a search that is missing is not run."""
    kept = write_file(data, folder, "searches.jsonl")
    compared._run_all = lambda *_: iter(())  # type: ignore[assignment]
    for curve in compared.on_model(StudySettings(), ("tpe", "random"), 2, kept, 1, home=folder):
        json.dumps(curve.costs)


READERS = {
    "batch": Reader(_batch, _batch_text),
    "screen_batch": Reader(_screen_batch, _batch_text),
    "machine": Reader(_machine, _machine_text),
    "comparison_file": Reader(_searches, _searches_text),
}
