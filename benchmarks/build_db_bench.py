"""Build db_bench of RocksDB 11.8.1 as a Release build, in about a minute.

    .venv/bin/python benchmarks/build_db_bench.py FOLDER

Compiles only db_bench itself, with the sources in the crate librocksdb-sys, and links it with the
library that `lsmtune engines install rocksdb@11.8.1` has installed. So this db_bench and the driver
run the same code of RocksDB. Needs cargo, g++ and Debian's libgflags-dev. Writes FOLDER/db_bench.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from lsmtune.engines.libraries.installed import loaded_library

VERSION = "11.8.1"
CRATE, CRATE_VERSION = "librocksdb-sys", "0.19.0"
MANIFEST = f"""\
[package]
name = "sources"
version = "0.0.0"
edition = "2021"

[dependencies]
{CRATE} = {{ version = "={CRATE_VERSION}", default-features = false }}
"""
SOURCES = (
    "tools/db_bench.cc",
    "tools/db_bench_tool.cc",
    "tools/simulated_hybrid_file_system.cc",
    "tools/tool_hooks.cc",
    "test_util/testutil.cc",
)
# Without the macros of codecs, the headers of codecs are not needed. The library has the codecs.
FLAGS = (
    "-std=c++20", "-O2", "-DNDEBUG", "-fno-rtti", "-faligned-new", "-DROCKSDB_PLATFORM_POSIX",
    "-DROCKSDB_LIB_IO_POSIX", "-DOS_LINUX", "-DGFLAGS=gflags", "-I", ".", "-I", "include",
)  # fmt: skip


def main() -> None:
    """Build db_bench, and print its version."""
    folder = Path(sys.argv[1]).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    library = loaded_library(VERSION, None).path
    program = folder / "db_bench"
    objects = compiled(sources(folder), folder)
    link = ["-lgflags", "-lpthread", "-ldl", f"-Wl,-rpath,{library.parent}"]
    subprocess.run([compiler(), *objects, library, *link, "-o", program], check=True)
    subprocess.run([program, "--version"], check=True)


def compiler() -> str:
    """Return the path of g++."""
    return shutil.which("g++") or "g++"


def sources(folder: Path) -> Path:
    """Let cargo download the crate; return the folder with the sources of RocksDB."""
    package = folder / "sources"
    (package / "src").mkdir(parents=True, exist_ok=True)
    (package / "Cargo.toml").write_text(MANIFEST)
    (package / "src" / "lib.rs").touch()
    asked = ["cargo", "metadata", "--format-version", "1"]
    told = subprocess.run(asked, cwd=package, check=True, capture_output=True, text=True)
    (crate,) = [each for each in json.loads(told.stdout)["packages"] if each["name"] == CRATE]
    return Path(crate["manifest_path"]).parent / "rocksdb"


def compiled(root: Path, folder: Path) -> list[Path]:
    """Compile the sources, all at once; return the objects."""
    objects = [folder / Path(source).with_suffix(".o").name for source in SOURCES]
    running = [
        subprocess.Popen([compiler(), *FLAGS, "-c", source, "-o", made], cwd=root)
        for source, made in zip(SOURCES, objects, strict=True)
    ]
    codes = [process.wait() for process in running]
    if any(codes):
        raise SystemExit("a source does not compile")
    return objects


if __name__ == "__main__":
    main()
