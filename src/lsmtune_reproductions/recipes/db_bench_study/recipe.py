"""Recipe db-bench-study: its studies, its page, and its JSON document."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from lsmtune.analysis.experiment_runs import Experiment, metric
from lsmtune.report.inspect_page import shape_section, stalls_section
from lsmtune.report.markup import Html, code, element, items, section, table
from lsmtune.report.page import assembled
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.swept_page import cell_picture, cell_plot, numbers_section
from lsmtune.report.text.metric_words import label, metric_value
from lsmtune.report.text.swept_words import answers, swept_document
from lsmtune.report.text.words import TIMES, listed, number, sentence_start
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
from lsmtune_reproductions.recipes.db_bench_study.study import (
    ALIKE,
    COMMANDS,
    DEFAULT,
    LEVELDB,
    OF_STORES,
    OPTION_NAMES,
    PUBLISHED,
    ROCKSDB,
    Name,
    Results,
    paper,
    run,
    specs,
)
from lsmtune_reproductions.recipes.experiment import method_lines
from lsmtune_reproductions.recipes.opening import (
    opening,
    ratio_picture,
    too_small_line,
    too_small_opening,
)
from lsmtune_reproductions.recipes.published import change_text, claims_section, times
from lsmtune_reproductions.recipes.tree_section import depth_text, trees_section

_TOPIC = "db_bench and other stores (2021), run again"
_DRAWN = ("throughput_ops_s", "disk_write_amp", "disk_bytes", "get_p50_us", "scan_p50_us")
"""Metrics of the stores that have a chart."""
_MICROS = 1e6
_TEXTS = PageTexts(__package__)


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


def render_db_bench_study(results: Results) -> str:
    """Return the results as one HTML page without external requests."""
    found, reason = list(claims(results)), too_small(results)
    if reason is not None:
        parts = [too_small_opening(_TOPIC, reason), claims_section(found)]
    else:
        parts = [
            _opening(results),
            claims_section(found),
            _stores(results),
            *(_store_section(results, name) for name in _DRAWN),
            *_store_trees(results),
            _commands(results),
            *(_command_section(results, name) for name in COMMANDS),
            *_inside(results.parts["fillrandom"]),
        ]
    parts += [
        numbers_section(results.parts["stores"].swept),
        numbers_section(results.parts["myrocks"].swept),
        _method(results),
    ]
    return assembled("The db_bench study, run again", parts)


def answer(results: Results) -> str:
    """Return the write rate of each store compared with RocksDB, in a few words."""
    rates = [
        f"{store} {ratio.median:.2g} {TIMES}"
        for store in OTHERS
        if (ratio := of_rocksdb(results, store, "throughput_ops_s")) is not None
    ]
    if not rates:
        return "too few runs to compare the stores"
    return f"write throughput compared with RocksDB: {listed(rates)}"


def _opening(results: Results) -> Html:
    rows = {
        f"{store}: {label(name)}": ratio
        for name in _DRAWN[:3]
        for store in OTHERS
        if (ratio := of_rocksdb(results, store, name)) is not None
    }
    sentence = _TEXTS.text("opening")
    return opening(
        _TOPIC, answer(results), sentence,
        ratio_picture("ratios", rows, sentence,
                "other store / RocksDB, with 95 % interval"),
        _TEXTS.html("about"),
    )  # fmt: skip


def _commands(results: Results) -> Html:
    rows = [row for name in COMMANDS for row in _command_rows(results, name)]
    return section(
        "The three commands", "Output of the three commands, published and measured by lsmtune",
        table(
            "Operations per second, time per operation, gets that found a record",
            ("command", "run", "records", "ops/s", "µs", "found"),
            rows,
        ),
        _TEXTS.html("commands"),
        items(_flags()),
    )  # fmt: skip


def _flags() -> Iterator[Html]:
    for name in COMMANDS:
        flags = f"-benchmarks={name} {paper()[name]['flags']}"
        yield element("span", f"{name}, as published: ", code(flags if paper()[name]["flags"] else
                                                              "./db_bench"))  # fmt: skip


def _command_rows(results: Results, name: Name) -> Iterator[list[str]]:
    part, theirs = results.parts[name], paper()[name]
    here = part.mean(published_cell(name), metric("throughput_ops_s"))
    found = part.mean(published_cell(name), metric("get_found"))
    missing = "not measured"
    yield [
        name,
        "published",
        f"{paper()['records']:,}" if theirs["flags"] else "1,000,000",
        f"{theirs['ops_s']:,}",
        number(theirs["micros_per_op"]),
        f"{theirs['found'] / paper()['reads']:.0%}" if "found" in theirs else "",
    ]
    yield [
        name,
        "here",
        f"{part.load.num:,}",
        missing if here is None else f"{here:,.0f}",
        missing if here is None else number(part.load.threads * _MICROS / here),
        "" if found is None else f"{found:.0%}",
    ]


def _command_section(results: Results, name: Name) -> Html:
    swept = results.parts[name].swept
    effects = [
        [sentence_start(text) for text in answers(swept, found)]
        for found in swept.metrics
        if not found.cells or any(cell.mean for cell in found.cells)
    ]
    drawn = swept.metrics[0]
    title = effects[0][0]
    return section(
        f"{name}: effect of the published options", title,
        cell_picture(f"command-{name}", swept, drawn, title),
        items(text for texts in effects for text in texts[:2]),
    )  # fmt: skip


def _inside(part: Experiment) -> Iterator[Html]:
    """Yield the trees and the stalls of fillrandom, with the defaults and the published options."""
    cells = (DEFAULT, PUBLISHED)
    first, second = (part.first_tree(cell) for cell in cells)
    if first or second:
        title = (
            f"The tree has {depth_text(first)} with {OPTION_NAMES[0]}, and {depth_text(second)} "
            f"with {OPTION_NAMES[1]}"
        )
        names = OPTION_NAMES
        yield trees_section("fillrandom: levels", title, "fillrandom", names, (first, second))
    for cell, name in zip(cells, OPTION_NAMES, strict=True):
        log = part.logs.get(cell)
        if log is not None and log.stalls:
            yield stalls_section(log, f"fillrandom{cell[0]}", f"fillrandom, {name}: stalls")
        if log is not None and log.shapes:
            yield shape_section(log, f"fillrandom{cell[0]}", f"fillrandom, {name}: the tree")


def _stores(results: Results) -> Html:
    rows, ours = [], results.parts["stores"]
    for name in OF_STORES:
        base = ours.mean(ROCKSDB, metric(name))
        ratios = [of_rocksdb(results, store, name) for store in OTHERS]
        rows.append([
            label(name),
            "not measured" if base is None else metric_value(name, base),
            *("no ratio" if ratio is None else times(ratio) for ratio in ratios),
        ])  # fmt: skip
    load = results.parts["stores"].load
    return section(
        "One workload, four stores", "All metrics of the stores",
        _TEXTS.html("stores", records=f"{load.num:,}", record_bytes=load.record_bytes),
        table("RocksDB's value, and other store / RocksDB with 95 % interval",
              ("metric", "RocksDB", *OTHERS), rows),
    )  # fmt: skip


def _store_section(results: Results, name: str) -> Html:
    swept = results.parts["stores"].swept
    drawn = next(found for found in swept.metrics if found.metric == name)
    changes = [
        f"{store} has {change_text(ratio, label(name))}"
        for store in OTHERS[:2]
        if (ratio := of_rocksdb(results, store, name)) is not None
    ]
    title = "Too few runs to compare the stores"
    if changes:
        title = f"Compared with RocksDB: {'; '.join(changes)}"
    chart = cell_plot(swept, drawn).update_traces(mode="markers")  # stores have no order
    mysql = results.parts["myrocks"].mean(ALIKE, metric(name))
    last = "" if mysql is None else " " + _TEXTS.text(
        "without_myrocks", label=label(name), value=metric_value(name, mysql)
    )  # fmt: skip
    return section(
        label(name), title,
        _TEXTS.html("store", last=last),
        cell_picture(f"stores-{name}", swept, drawn, title, chart),
    )  # fmt: skip


def _store_trees(results: Results) -> Iterator[Html]:
    experiment = results.parts["stores"]
    trees = [experiment.first_tree(cell) for cell in (ROCKSDB, LEVELDB)]
    if any(trees):
        yield trees_section(
            "Levels of the two LSM stores", "The same records in RocksDB and in LevelDB",
            "stores-trees", ("RocksDB", "LevelDB"), (trees[0], trees[1]),
        )  # fmt: skip


def _method(results: Results) -> Html:
    texts: list[str] = []
    for name, part in results.parts.items():
        texts += method_lines(name, part)
    texts += _TEXTS.paragraphs("method")
    return section("Method", "How lsmtune ran the stores and the commands", items(texts))
