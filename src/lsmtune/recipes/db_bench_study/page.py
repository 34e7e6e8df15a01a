"""Page of the recipe db-bench-study: the stores, the published commands, and the trees."""

from collections.abc import Iterator

from lsmtune.analysis.experiment_runs import Experiment, metric
from lsmtune.recipes.db_bench_study.numbers import (
    OTHERS,
    claims,
    of_rocksdb,
    published_cell,
    too_small,
)
from lsmtune.recipes.db_bench_study.study import (
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
)
from lsmtune.recipes.experiment import method_lines
from lsmtune.recipes.opening import opening, too_small_opening
from lsmtune.recipes.published import change_text, claims_section, times
from lsmtune.recipes.ratio_chart import RATIO_KEYS, ratio_chart
from lsmtune.recipes.tree_section import depth_text, trees_section
from lsmtune.report.frame import picture, section
from lsmtune.report.inspect_page import shape_section, stalls_section
from lsmtune.report.markup import Html, code, element, items, table
from lsmtune.report.page import assembled
from lsmtune.report.swept_page import cell_axis, cell_keys, cell_plot, numbers_section
from lsmtune.report.text.swept_words import answers
from lsmtune.report.text.words import TIMES, label, listed, metric_value, number, sentence_start

_TOPIC = "db_bench and other stores (2021), run again"
_DRAWN = ("throughput_ops_s", "disk_write_amp", "disk_bytes", "get_p50_us", "scan_p50_us")
"""Metrics of the stores that have a chart."""
_MICROS = 1e6


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
    sentence = (
        "Each row shows a metric of one other store, divided by the metric of RocksDB. A ratio of "
        "1 means that both stores have the same value of the metric."
    )
    return opening(
        _TOPIC, answer(results), sentence,
        picture("ratios", ratio_chart(rows), RATIO_KEYS, sentence,
                "other store / RocksDB, with 95 % interval"),
        element("p", "The published study consists of slides. The slides of the published study "
                     "show three db_bench commands on RocksDB and measure no other store. The "
                     "authors of the published study expect RocksDB to be better than various "
                     "databases, and name MyRocks, MongoDB and LedisDB for a comparison. lsmtune "
                     "compares RocksDB with MyRocks, LevelDB and LMDB. The published study does "
                     "not say which metrics to compare."),
        element("p", "lsmtune runs the three published commands with less data, a smaller LSM "
                     "tree and smaller range tombstones. Compare directions and ratios with the "
                     "published study, not absolute times. The "
                     "published runs used a RocksDB build with assertions in a virtual machine "
                     "with one core."),
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
        element("p", "The time per operation is the time that one thread needs for one "
                     "operation. The command fillseq ran with the default options. The "
                     "commands fillrandom and readrandom ran with the published options. In "
                     "the published run, readrandom uses the page cache, and other options "
                     "than the command fillrandom, which wrote the database. In the runs of "
                     "lsmtune, readrandom does not use the page cache. In the runs of lsmtune, "
                     "the database of readrandom is built with the options of readrandom."),
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
        picture(f"command-{name}", cell_plot(swept, drawn), cell_keys(swept, drawn), title,
                cell_axis(drawn)),
        items(text for texts in effects for text in texts[:2]),
    )  # fmt: skip


def _inside(part: Experiment) -> Iterator[Html]:
    """Yield the trees and the stalls of fillrandom, with the defaults and the published options."""
    cells = (DEFAULT, PUBLISHED)
    first, second = (next(iter(part.trees.get(cell, ())), ()) for cell in cells)
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
        element("p", f"One client writes {load.num:,} random records of {load.record_bytes} bytes "
                     "into an empty store, without waiting for a sync. After the writes, the "
                     "client reads records with gets and scans."),
        element("p", "One program runs RocksDB, LevelDB and LMDB with the same keys and the same "
                     "clock. RocksDB runs with the built-in settings of LevelDB. RocksDB and "
                     "LevelDB compress with snappy. LMDB has no settings of an LSM tree and no "
                     "compression. MyRocks gets records of the same number and sizes, as SQL "
                     "statements through a socket. The LSM tree of MyRocks has similar settings "
                     "to the LSM tree of RocksDB. The MyRocks server syncs the log every second "
                     "and does not restart before the reads."),
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
    plot = cell_plot(swept, drawn).update_traces(mode="markers")  # stores have no order
    mysql = results.parts["myrocks"].mean(ALIKE, metric(name))
    last = (
        ""
        if mysql is None
        else " The chart leaves out MyRocks, because MyRocks ran in a separate experiment. In the "
        f"experiment with MyRocks, the {label(name)} is {metric_value(name, mysql)}."
    )
    return section(
        label(name), title,
        element("p", "The chart shows RocksDB two times: as one of the stores, and as the baseline "
                     f"with the dashed line.{last}"),
        picture(f"stores-{name}", plot, cell_keys(swept, drawn), title,
                cell_axis(drawn)),
    )  # fmt: skip


def _store_trees(results: Results) -> Iterator[Html]:
    experiment = results.parts["stores"]
    trees = [next(iter(experiment.trees.get(cell, ())), ()) for cell in (ROCKSDB, LEVELDB)]
    if any(trees):
        yield trees_section(
            "Levels of the two LSM stores", "The same records in RocksDB and in LevelDB",
            "stores-trees", ("RocksDB", "LevelDB"), (trees[0], trees[1]),
        )  # fmt: skip


def _method(results: Results) -> Html:
    texts: list[str] = []
    for name, part in results.parts.items():
        texts += method_lines(name, part)
    texts += [
        "In the published run of readrandom, only 43 % of the gets find a record. The reason for "
        "the 43 % is unknown. After as many random writes as there are keys, 63 % of the keys "
        "have a record. The range tombstones of the published options delete only few records.",
        "In the published study, readrandom reads the database that the command fillrandom wrote. "
        "In the runs of lsmtune, each config of readrandom has its own database. The databases of "
        "all configs contain the same range tombstones. In the runs of lsmtune, all compactions "
        "are done before the reads.",
        "For the disk write amplification, the kernel counts the bytes that the process writes to "
        "the disk. If a page of LMDB's memory map changes several times before the kernel writes "
        "the page, the kernel counts the page once.",
        "All data of the compared stores fits into the page cache, so the reads measure code and "
        "caches, not the disk.",
        "Debian 12 builds RocksDB and LevelDB with assertions, but builds LMDB without "
        "assertions. Assertions make RocksDB and LevelDB slower.",
        "Without fsync, a crash of the machine can destroy the database of LMDB. Without "
        "fsync, RocksDB, LevelDB and MyRocks lose only their newest writes if the machine crashes.",
    ]
    return section("Method", "How lsmtune ran the stores and the commands", items(texts))
