"""Rehearse with stores that other programs made, and kill rehearsals.

    .venv/bin/python benchmarks/rehearsed_stores.py FOLDER

Needs the installed versions 6.29.5 and 11.8.1 of RocksDB, Java with javac, and a network for the
packages rocksdict (PyPI) and rocksdbjni (Maven). Makes stores in FOLDER: by rocksdict in raw mode
and in its own mode, by rocksdbjni, by RocksDB 6.29.5, one with three column families of which one
has the merge operator stringappend, and one of 2 GiB. Each gets a study from its newest OPTIONS
file, whose trials follow a rule, because the rehearsal needs only the files of the study. Then
`lsmtune rehearse` runs. After that, 20 rehearsals are killed at random moments, and the next call
must remove what they left. Each time, list, checksums, sizes and modification times of the store's
files must be as before. Writes benchmarks/results/rehearsed_stores.json after every run and skips
what it contains.
"""

import json
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.user_stores import PUTS, make_store, make_study, state  # noqa: E402 - not in the package
from lsmtune.engines.libraries.installed import (  # noqa: E402
    engine_of_version,
    engines_folder,
    installed_engines,
)
from lsmtune.engines.libraries.maven import fetch_jar  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results" / "rehearsed_stores.json"
KILLS, SEED = 20, 20261128
NEW, OLD = "11.8.1", "6.29.5"
ROCKSDICT = "rocksdict==0.3.29"
LARGE_KEYS, LARGE_VALUE = 560_000, 4000
FAMILIES = {
    "default": "", "lists": "merge_operator=stringappend",
    "blobs": "enable_blob_files=true;min_blob_size=50",
}  # fmt: skip
PYTHON = """\
import sys
from rocksdict import Options, Rdict
store = Rdict(sys.argv[1], Options(raw_mode=sys.argv[2] == "raw"))
for number in range(20_000):
    text = b"%016d" % number
    store[text] = text * 20
    if number == 10_000:
        store.flush()
store.close()
"""
JAVA = """\
import org.rocksdb.*;
public class Fill {
  public static void main(String[] given) throws Exception {
    RocksDB.loadLibrary();
    try (Options options = new Options().setCreateIfMissing(true).setWriteBufferSize(1 << 20);
         RocksDB store = RocksDB.open(options, given[0])) {
      for (int n = 0; n < 20000; n++) {
        byte[] key = String.format("%016d", n).getBytes();
        store.put(key, String.format("%0300d", n).getBytes());
      }
    }
  }
}
"""


def library(version: str) -> Path:
    """The installed library of a version."""
    engine = engine_of_version(installed_engines(engines_folder()), version)
    if engine is None:
        sys.exit(f"RocksDB {version} is not installed: lsmtune engines install rocksdb@{version}")
    return engine.library


def by_rocksdict(mode: str) -> Callable[[Path], None]:
    def make(store: Path) -> None:
        place = store.parent / "rocksdict"
        if not place.exists():
            venv.create(place, with_pip=True)
            pip = [str(place / "bin" / "pip"), "install", "--quiet", ROCKSDICT]
            subprocess.run(pip, check=True)
        subprocess.run([str(place / "bin" / "python"), "-c", PYTHON, str(store), mode], check=True)

    return make


def by_java(store: Path) -> None:
    jar = fetch_jar(NEW, store.parent / "maven")
    source = store.parent / "Fill.java"
    source.write_text(JAVA)
    subprocess.run([shutil.which("javac") or "javac", "-cp", str(jar), str(source)], check=True)
    path = f"{jar}:{store.parent}"
    subprocess.run([shutil.which("java") or "java", "-cp", path, "Fill", str(store)], check=True)


def by_old_version(store: Path) -> None:
    make_store(library(OLD), store)


def with_families(store: Path) -> None:
    merge = {"do": "put", "keys": 300, "size": 30, "family": "lists", "how": "merge"}
    make_store(library(NEW), store, FAMILIES, [*PUTS, merge, {"do": "flush"}, merge])


def large(store: Path) -> None:
    fill = [{"do": "put", "keys": LARGE_KEYS, "size": LARGE_VALUE}, {"do": "flush"}]
    make_store(library(NEW), store, {"default": "compression=kNoCompression"}, [*fill, *PUTS[3:]])


STORES: dict[str, tuple[Callable[[Path], None], str, int]] = {
    "rocksdict, raw mode": (by_rocksdict("raw"), NEW, 0),
    "rocksdict, own comparator": (by_rocksdict("own"), NEW, 2),
    "rocksdbjni": (by_java, NEW, 0),
    "RocksDB 6.29.5": (by_old_version, OLD, 0),
    "three families": (with_families, NEW, 0),
    "2 GiB": (large, NEW, 0),
}
"""How each store is made, the RocksDB of its study, and the expected exit code."""


def command(folder: Path, store: Path) -> list[str]:
    program = "from lsmtune.cli.start import main; main()"
    words = ["rehearse", "own", str(store), "--home", str(folder / "home"), "--json"]
    return [sys.executable, "-c", program, *words]


def left(folder: Path) -> list[str]:
    """Folders of rehearsals, complete or not."""
    return [path.name for path in folder.iterdir()
            if path.name.startswith(("lsmtune-rehearsal-", ".lsmtune-new"))]  # fmt: skip


def prepared(folder: Path, name: str) -> Path:
    """Make a store and its study, if they do not exist."""
    make, version, code = STORES[name]
    store = folder / "store"
    if not store.exists():
        folder.mkdir(parents=True)
        make(store)
        # A study cannot have a foreign comparator as its baseline: it gets another store's file.
        usual = store if code == 0 else make_store(library(NEW), folder / "usual")
        make_study(folder / "home", usual, library(version))
    return store


def rehearsed(folder: Path, name: str) -> dict[str, Any]:
    store = prepared(folder, name)
    before = state(store)
    started = time.monotonic()
    done = subprocess.run(command(folder, store), capture_output=True, text=True, check=False)
    seconds = time.monotonic() - started
    found = json.loads(done.stdout) if done.stdout else {}
    kept = ("version", "store_version", "families", "tables", "read", "records", "failed",
            "message", "plan", "remarks")  # fmt: skip
    text = json.dumps({key: found.get(key) for key in kept}).replace(str(folder), "FOLDER")
    return {
        "expected": STORES[name][2],
        "exit_code": done.returncode,
        "unchanged": state(store) == before,
        "left": left(folder),
        "store_bytes": sum(size for size, *_ in before.values()),
        "seconds": round(seconds, 1),
        "rehearsal_s": round(found["seconds"], 2) if found else None,
        "error": done.stderr.splitlines()[-1].replace(str(folder), "FOLDER") if not found else "",
        **json.loads(text),
    }


def killed(folder: Path, store: Path, after_s: float) -> dict[str, Any] | None:
    """Kill a rehearsal this time after it has printed its plan, then call it again.

    None if it ended before.
    """
    before = state(store)
    with subprocess.Popen(
        command(folder, store), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        if process.stderr is not None:
            process.stderr.readline()
        time.sleep(after_s)
        running = process.poll() is None
        process.kill()
    if not running:
        return None
    unchanged, found = state(store) == before, left(folder)
    again = subprocess.run(command(folder, store), capture_output=True, check=False)
    return {
        "after_s": round(after_s, 3),
        "left_by_kill": len(found),
        "unchanged": unchanged and state(store) == before,
        "second_exit_code": again.returncode,
        "left_by_second_call": left(folder),
    }


def main() -> None:
    """Do what the module says."""
    found = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"stores": {}, "kills": []}

    def write() -> None:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")

    places = {name: Path(sys.argv[1]) / str(at) for at, name in enumerate(STORES)}
    for name in STORES:
        if name not in found["stores"]:
            found["stores"][name] = rehearsed(places[name], name)
            write()
        one = found["stores"][name]
        print(
            name,
            one["exit_code"],
            f"unchanged {one['unchanged']}",
            f"{one['seconds']} s",
            flush=True,
        )
    name = "three families"
    store = prepared(places[name], name)
    whole_s = found["stores"][name]["rehearsal_s"]
    draw = np.random.default_rng([SEED, len(found["kills"])])
    while len(found["kills"]) < KILLS:
        if (one := killed(places[name], store, draw.uniform(0, whole_s))) is not None:
            found["kills"].append(one)
            write()
            print(one, flush=True)


if __name__ == "__main__":
    main()
