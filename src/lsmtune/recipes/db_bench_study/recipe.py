"""The recipe db-bench-study: its studies, its page, its JSON."""

from dataclasses import asdict
from typing import Any

from lsmtune.analysis.swept_words import swept_document
from lsmtune.recipes.base import Asked, Progress, Reproduction
from lsmtune.recipes.db_bench_study.numbers import OTHERS, claims, of_rocksdb, published_cell
from lsmtune.recipes.db_bench_study.page import answer, render_db_bench_study
from lsmtune.recipes.db_bench_study.study import COMMANDS, OF_STORES, Results, paper, run, specs
from lsmtune.recipes.experiment import metric
from lsmtune.spec import StudySpec
from lsmtune.store.home import Home


class DbBenchStudy:
    """Three published commands of db_bench, then RocksDB, LevelDB, LMDB and MyRocks."""

    name = "db-bench-study"
    flags = frozenset({"num", "repeats"})

    def studies(self, asked: Asked) -> tuple[StudySpec, ...]:
        """The experiment of each command, of the stores, and of MyRocks."""
        return tuple(specs(asked).values())

    def run(self, asked: Asked, home: Home, progress: Progress) -> Reproduction:
        """Run what is missing of them."""
        results = run(asked, home, progress)
        found = list(claims(results))
        document = {
            "recipe": self.name,
            "published": paper(),
            "claims": [claim.document() for claim in found],
            "commands": {name: _command(results, name) for name in COMMANDS},
            "stores": {store: _store(results, store) for store in OTHERS},
            "parts": {
                name: {"version": part.version, "experiment": swept_document(part.swept)}
                for name, part in results.parts.items()
            },
        }
        lines = (answer(results), *map(str, found))
        return Reproduction(render_db_bench_study(results), document, lines)


def _command(results: Results, name: Any) -> dict[str, Any]:
    """Means under the published options."""
    part = results.parts[name]
    metrics = ("throughput_ops_s", "get_found")
    cell = published_cell(name)
    return {
        "num": part.load.num,
        **{m: part.mean(cell, metric(m)) for m in metrics},
    }


def _store(results: Results, store: str) -> dict[str, Any]:
    """What a store has of RocksDB's metrics."""
    ratios = {name: of_rocksdb(results, store, name) for name in OF_STORES}
    return {name: ratio and asdict(ratio) for name, ratio in ratios.items()}
