#!/usr/bin/env python3
"""Renders one page of every kind into a folder, without db_bench and within about two minutes.

    .venv/bin/python scripts/pages.py out/

The data are recorded LOGs, simulated runs and the scripted engines of the tests.
"""

import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from importlib import import_module
from io import StringIO
from math import log2
from pathlib import Path
from unittest.mock import patch

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
FOLDERS = ("report", "reproductions/recipes", ".")
sys.path[:0] = [str(ROOT / "src"), *(str(TESTS / name) for name in FOLDERS)]

from fakes.studies import opener  # noqa: E402
from lsmtune.analysis.importance import find_importance, runs_of  # noqa: E402
from lsmtune.batch import BatchLine  # noqa: E402
from lsmtune.cli.main import run as command  # noqa: E402
from lsmtune.knobs.catalogue import load  # noqa: E402
from lsmtune.knobs.space import value_at  # noqa: E402
from lsmtune.learning import models  # noqa: E402
from lsmtune.report.importance_page import render_importance  # noqa: E402
from lsmtune.report.overview_page import render_overview  # noqa: E402
from lsmtune.report.page import render_page  # noqa: E402
from lsmtune.spec import StudySettings  # noqa: E402
from lsmtune.store.home import Home  # noqa: E402
from lsmtune.workloads import Workload  # noqa: E402
from lsmtune_reproductions.comparison.page import render_comparison  # noqa: E402
from lsmtune_reproductions.comparison.race import Curve, outcome  # noqa: E402
from lsmtune_reproductions.recipes.base import Asked  # noqa: E402

SWEEP = """\
engine = "simulated"
[workload]
name = "fillrandom"
num = 60000
[sweep]
repeats = 3
metrics = ["write_amp", "live_sst_bytes", "total_s", "flush_write_bytes"]
[sweep.factors.memtable]
write_buffer_size = ["512KiB", "1MiB", "4MiB"]
[sweep.factors.files]
target_file_size_base = ["1MiB", "4MiB"]
max_bytes_for_level_base = ["4MiB", "16MiB"]
"""
_RECIPES = "lsmtune_reproductions.recipes"
_QUICK = {"extra trees": ("extra trees",)}


def render_all(folder: Path) -> list[Path]:
    """Write every kind of page into the folder; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pages: list[Path] = []
    with tempfile.TemporaryDirectory() as scratch, _own_state(Path(scratch)), _quick_models():
        for name, text in _pages(Path(scratch)):
            path = folder / f"{name}.html"
            path.write_text(text, encoding="utf-8")
            pages.append(path)
    return pages


@contextmanager
def _own_state(folder: Path) -> Iterator[None]:
    """Keep temporary files and locks in a folder of their own."""
    variables = {"TMPDIR": str(folder), "XDG_STATE_HOME": str(folder)}
    with patch.dict("os.environ", variables), patch.object(tempfile, "tempdir", str(folder)):
        yield


@contextmanager
def _quick_models() -> Iterator[None]:
    with patch.object(models, "MODELS", _QUICK), patch.object(models, "_TREES", 20):
        yield


def _pages(scratch: Path) -> Iterator[tuple[str, str]]:
    yield from _studies()
    yield from _inspections(scratch)
    yield from _importance()
    yield from _simulated(scratch)
    yield "compare", _comparison()
    yield from _reproductions(scratch)


def _studies() -> Iterator[tuple[str, str]]:
    sample = import_module("sample")
    noise = sample.verification(sample.pairs(noise=0.2, shift={}))
    views = {
        "study": sample.study_view(),
        "study-running": sample.running_view(),
        "study-front": sample.pareto_view(),
        "study-no-gain": sample.study_view(name="no-gain", verifications=(noise,)),
        "study-unverified": sample.study_view(name="unverified", verifications=()),
        "study-failures": replace(
            sample.study_view(**sample.EMPTY),
            name="failures",
            trials=tuple(
                run for run in sample.trials() if not run.metrics or run.role is sample.Role.BASE
            ),
        ),
        "study-reads": sample.read_view(),
    }
    for name, view in {**views, "study-online": sample.online_view()}.items():
        yield name, render_page(view)
    yield "studies", render_overview(list(views.values()))


def _run(scratch: Path, *arguments: str) -> None:
    """Run a command of lsmtune in this process; its output is shown only if it fails."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        code = command([*arguments])
    if code:
        raise SystemExit(f"lsmtune {' '.join(arguments)}: exit code {code}\n{out.getvalue()}")


def _inspections(scratch: Path) -> Iterator[tuple[str, str]]:
    planted, captured = TESTS / "data" / "planted", TESTS / "data" / "captured"
    inputs = {
        "inspect": [planted / "jobs.LOG.gz"],
        "inspect-healthy": [planted / "healthy.LOG.gz"],
        "inspect-several": [
            planted / "healthy.LOG.gz",
            planted / "memtable.LOG.gz",
            captured / "rocksdb-7.8.3-universal" / "LOG.gz",
        ],
        "inspect-db-bench": [captured / "rocksdb-7.8.3-level" / "stdout.txt"],
    }
    for name, paths in inputs.items():
        page = scratch / f"{name}.html"
        _run(scratch, "inspect", *map(str, paths), "--page", str(page))
        yield name, page.read_text(encoding="utf-8")


def _importance() -> Iterator[tuple[str, str]]:
    metrics = ["write_amp", "live_sst_bytes", "total_s"]
    found = find_importance(runs_of(_lines(160), load("rocksdb")), metrics, repeats=1)
    yield "importance", render_importance("screening", found)
    weak = find_importance(runs_of(_lines(60), load("simulated")), ["total_s"], repeats=1)
    yield "importance-weak", render_importance("few-runs", weak)


_CODECS = {"none": 6.0, "snappy": 4.0, "lz4": 4.0, "zlib": 3.0}
_KNOBS = (
    "compression_type", "block_size", "bloom_bits", "write_buffer_size", "cache_size",
    "num_levels", "mmap_read", "bytes_per_sync", "max_background_jobs", "compaction_pri",
    "level0_file_num_compaction_trigger", "target_file_size_base",
)  # fmt: skip


def _lines(count: int) -> list[BatchLine]:
    """Return runs in which a few knobs have a known effect and the others have none."""
    rng, catalogue = np.random.default_rng(1), load("rocksdb")
    lines = []
    for number in range(count):
        knobs = {name: value_at(catalogue.knob(name), rng.random()) for name in _KNOBS}
        knobs["compression_type"] = list(_CODECS)[int(rng.integers(len(_CODECS)))]
        codec = _CODECS[str(knobs["compression_type"])]
        buffers = log2(float(knobs["write_buffer_size"]) / (1 << 16))
        for run in range(3 if number < count // 8 else 1):
            metrics = {
                "write_amp": 12 - buffers + codec / 4 + float(rng.normal(0, 0.15)),
                "live_sst_bytes": 2e7 * codec * (1 + float(rng.normal(0, 0.02))),
                "total_s": 5 + float(rng.random()),
            }
            lines.append(BatchLine(f"{number}-{run}", Workload(), knobs, metrics))
    return lines


def _simulated(scratch: Path) -> Iterator[tuple[str, str]]:
    """Yield the pages that need the native simulator; none without it."""
    try:
        import_module("lsmsim")
    except ImportError:
        print("no page of simulate and sweep: the native core is not built", file=sys.stderr)
        return
    page, one = scratch / "simulate.html", scratch / "simulate-one.html"
    flags = ["simulate", "--num", "200000"]
    _run(scratch, *flags, "--set", "compaction_style=1", "--page", str(page))
    yield "simulate", page.read_text(encoding="utf-8")
    _run(scratch, *flags, "--page", str(one))
    yield "simulate-one", one.read_text(encoding="utf-8")
    experiment, page = scratch / "sizes.toml", scratch / "sweep.html"
    experiment.write_text(SWEEP)
    _run(scratch, "sweep", str(experiment), "--home", str(scratch / "home"), "--page", str(page))
    yield "sweep", page.read_text(encoding="utf-8")


def _comparison() -> str:
    """Return a comparison of made-up searches: three beat random search, one does not."""
    ends = {"guided": 0.62, "gp-ucb": 0.66, "tpe": 0.72, "genetic": 0.85, "random": 0.84}
    curves = [
        Curve(name, seed, _falling(end, seed, 60))
        for name, end in ends.items()
        for seed in range(1, 13)
    ]
    return render_comparison(outcome(curves, 60, None, None), StudySettings(), real=False)


def _falling(end: float, seed: int, trials: int) -> tuple[float, ...]:
    rng = np.random.default_rng([seed, zlib.crc32(str(end).encode())])
    final = end * float(np.exp(rng.normal(0, 0.03)))
    steps = 1 - np.exp(-np.arange(1, trials + 1) / 12)
    return tuple(float(1 - (1 - final) * step) for step in steps)


def _reproductions(scratch: Path) -> Iterator[tuple[str, str]]:
    """Yield one page per recipe, run on the scripted engines of its tests."""
    makers: dict[str, Callable[[Home], str]] = {
        "reproduce-sst-size": _sst_size,
        "reproduce-compaction-style": _compaction_style,
        "reproduce-autotikv": _autotikv,
        "reproduce-db-bench-study": _db_bench_study,
        "reproduce-jin2022": _jin2022,
    }
    for name, make in makers.items():
        with Home(scratch / name, create=True) as home:
            yield name, make(home)


def _sst_size(home: Home) -> str:
    tests, recipe = import_module("test_sst_size"), f"{_RECIPES}.sst_size"
    script = tests.planted("memtables")
    results = import_module(f"{recipe}.study").run(Asked(), home, opener(home, script))
    return str(import_module(f"{recipe}.recipe").render_sst_size(results))


def _compaction_style(home: Home) -> str:
    tests, recipe = import_module("test_compaction_style"), f"{_RECIPES}.compaction_style"
    results = import_module(f"{recipe}.study").run(Asked(), home, opener(home, tests.planted))
    return str(import_module(f"{recipe}.recipe").render_compaction_style(results))


def _autotikv(home: Home) -> str:
    tests, recipe = import_module("test_autotikv"), f"{_RECIPES}.autotikv"
    study = import_module(f"{recipe}.study")
    with patch.object(study, "OPTIMIZER", "random"), patch.object(study, "TRIALS", tests.ROUNDS):
        results = study.run(tests.ASKED, home, opener(home, tests.planted))
        return str(import_module(f"{recipe}.recipe").render_autotikv(results))


def _db_bench_study(home: Home) -> str:
    tests, recipe = import_module("test_db_bench_study"), f"{_RECIPES}.db_bench_study"
    results = import_module(f"{recipe}.study").run(Asked(), home, opener(home, tests.planted))
    return str(import_module(f"{recipe}.recipe").render_db_bench_study(results))


def _jin2022(home: Home) -> str:
    tests, recipe = import_module("test_jin2022"), f"{_RECIPES}.jin2022"
    study = import_module(f"{recipe}.study")
    results = study.run(tests.PLAN, home, opener(home, tests.planted))
    return str(import_module(f"{recipe}.recipe").render_jin2022(results))


def main() -> int:
    """Render all pages into the folder that is named on the command line."""
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004
        print("usage: pages.py FOLDER", file=sys.stderr)
        return 2
    for path in render_all(Path(sys.argv[1])):
        print(f"{path}: {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
