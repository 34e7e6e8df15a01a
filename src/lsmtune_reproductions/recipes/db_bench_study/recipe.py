"""Recipe db-bench-study: its studies, its page, and its JSON document."""

from dataclasses import asdict
from typing import Any

from lsmtune.analysis.experiment_runs import metric
from lsmtune.report.text.swept_words import swept_document
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.db_bench_study.numbers import (
    OTHERS,
    claims,
    of_rocksdb,
    published_cell,
    too_small,
)
from lsmtune_reproductions.recipes.db_bench_study.page import answer, render_db_bench_study
from lsmtune_reproductions.recipes.db_bench_study.study import (
    COMMANDS,
    OF_STORES,
    Results,
    paper,
    run,
    specs,
)
from lsmtune_reproductions.recipes.opening import too_small_line


def _studies(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the experiments of the commands, of the stores, and of MyRocks."""
    return tuple(specs(asked).values())


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(asked, home, opener)
    found, reason = list(claims(results)), too_small(results)
    document = {
        "recipe": "db-bench-study",
        "published": paper(),
        "claims": [claim.document() for claim in found],
        "too_small": reason,
        "commands": {name: _command(results, name) for name in COMMANDS},
        "stores": {store: _store(results, store) for store in OTHERS},
        "parts": {
            name: {"version": part.version, "experiment": swept_document(part.swept)}
            for name, part in results.parts.items()
        },
    }
    lines = (answer(results), *map(str, found)) if reason is None else (too_small_line(reason),)
    return Reproduction(render_db_bench_study(results), document, lines)


def _command(results: Results, name: Any) -> dict[str, Any]:
    """Return the means with the published options."""
    part = results.parts[name]
    metrics = ("throughput_ops_s", "get_found")
    cell = published_cell(name)
    return {"num": part.load.num, **{m: part.mean(cell, metric(m)) for m in metrics}}


def _store(results: Results, store: str) -> dict[str, Any]:
    """Return the ratios of a store's metrics to RocksDB's."""
    ratios = {name: of_rocksdb(results, store, name) for name in OF_STORES}
    return {name: ratio and asdict(ratio) for name, ratio in ratios.items()}


DB_BENCH_STUDY = Recipe("db-bench-study", frozenset({"num", "repeats"}), _studies, _run)
"""Three published commands of db_bench, and RocksDB, LevelDB, LMDB and MyRocks compared."""
