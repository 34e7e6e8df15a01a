"""Packages with entries for lsmtune, installed into a folder as pip does it, without a network."""

import importlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from lsmtune.engine_traits import ENGINES

ENTRY = """\
from dataclasses import replace
from lsmtune.engine_traits import ENGINES
from lsmtune.engines.entry import EngineEntry
from lsmtune.workloads import Benchmark, Parameters

def never(spec):
    raise AssertionError("made")

def entry(name, **members):
    return EngineEntry(
        name=name, summary="an engine of a test", program=name, make=never,
        **{"catalogue": lambda: replace(ENGINES["rocksdb"].catalogue(), engine=name),
           "workloads": ("fillrandom",), **members},
    )

GUEST, OTHER, MYROCKS = entry("guest"), entry("other"), entry("myrocks")
FUTURE = entry("future", contract=2)
IDLE = entry("idle", workloads=())
ODD = entry("odd", metrics=("speed",))

class Named(Benchmark):
    what = "a workload of a test"
    name = "named"

class Taken(Named):
    name = "fillrandom"

class Kindless(Named):
    kind = "both"

class Shadow(Named):
    class own(Parameters):
        num: int = 3

TAKEN = entry("taken", workloads=(Taken,))
KINDLESS = entry("kindless", workloads=(Kindless,))
SHADOW = entry("shadow", workloads=(Shadow,))
UNTYPED = entry("untyped", workloads=(3,))
BARE = entry("bare", catalogue=lambda: 1 / 0)
FORMLESS = entry("formless", exports=("toml",))
UNREADABLE = entry("unreadable", metrics=3)
BORROWED = entry("borrowed", catalogue=ENGINES["rocksdb"].catalogue)
NOTHING = 3
"""
"""A module with entries of engines that never run."""


def install(
    folder: Path,
    patch: pytest.MonkeyPatch,
    package: str,
    *,
    engines: Mapping[str, str] | None = None,
    optimizers: Mapping[str, str] | None = None,
    modules: Mapping[str, str] | None = None,
) -> None:
    """Install a package with these entry points, and with modules of these texts."""
    info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    groups = {"lsmtune.engines": engines or {}, "lsmtune.optimizers": optimizers or {}}
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in groups.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    for name, text in (modules or {}).items():
        (folder / f"{name}.py").write_text(text)
    patch.syspath_prepend(str(folder))
    importlib.invalidate_caches()


def install_broken(folder: Path, patch: pytest.MonkeyPatch) -> list[str]:
    """Install what cannot be used, and return the names of all engines of these packages."""
    install(
        folder / "broken",
        patch,
        "lsmtune-broken",
        engines={
            "gone": "no_such_module:GONE",
            "quits": "module_that_quits:ENGINE",
            "future": "guest_entries:FUTURE",
            "nothing": "guest_entries:NOTHING",
            "idle": "guest_entries:IDLE",
            "odd": "guest_entries:ODD",
            "bare": "guest_entries:BARE",
            "formless": "guest_entries:FORMLESS",
            "unreadable": "guest_entries:UNREADABLE",
            "taken": "guest_entries:TAKEN",
            "kindless": "guest_entries:KINDLESS",
            "shadow": "guest_entries:SHADOW",
            "untyped": "guest_entries:UNTYPED",
            "borrowed": "guest_entries:BORROWED",
            "renamed": "guest_entries:OTHER",
            "myrocks": "guest_entries:MYROCKS",
            "twice": "guest_entries:GUEST",
        },
        optimizers={"lost": "no_such_module:Lost", "tpe": "guest_entries:never"},
        modules={"guest_entries": ENTRY, "module_that_quits": "raise SystemExit(3)\n"},
    )
    install(folder / "again", patch, "lsmtune-again", engines={"twice": "guest_entries:GUEST"})
    assert set(ENGINES) > {"gone", "twice"}
    return [
        "gone", "quits", "future", "nothing", "idle", "odd", "bare", "formless", "unreadable",
        "taken", "kindless", "shadow", "untyped", "borrowed", "renamed", "myrocks",
        "twice", "twice",
    ]  # fmt: skip
