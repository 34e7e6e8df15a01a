"""The page: the commands beside their published output, the stores, and what happens inside."""

from collections.abc import Iterator

from lsmtune.analysis.swept_words import answers
from lsmtune.recipes.db_bench_study.numbers import (
    OTHERS,
    claims,
    of_rocksdb,
    published_cell,
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
from lsmtune.recipes.experiment import Experiment, method_lines, metric
from lsmtune.recipes.published import claims_section, times
from lsmtune.recipes.tree_section import depth_text, trees_section
from lsmtune.report.frame import picture, section
from lsmtune.report.inspect_page import shape_section, stalls_section
from lsmtune.report.markup import Html, code, element, items, table
from lsmtune.report.page import assembled
from lsmtune.report.swept_page import cell_keys, cell_plot, numbers_section
from lsmtune.report.words import label, listed, metric_value, number, sentence_start

_DRAWN = ("throughput_ops_s", "disk_write_amp", "disk_bytes", "get_p50_us", "scan_p50_us")
"""The metrics of the stores that get a picture."""
_MICROS = 1e6


def render_db_bench_study(results: Results) -> str:
    """The results as one HTML page that needs nothing but a browser, and no network."""
    parts = [
        _header(results),
        claims_section("The published expectation", "What holds of it", claims(results)),
        _commands(results),
        *(_command_section(results, name) for name in COMMANDS),
        *_inside(results.parts["fillrandom"]),
        _stores(results),
        *(_store_picture(results, name) for name in _DRAWN),
        _store_trees(results),
        numbers_section(results.parts["stores"].swept),
        numbers_section(results.parts["myrocks"].swept),
        _method(results),
    ]
    return assembled("The db_bench study, run again", parts)


def answer(results: Results) -> str:
    """How RocksDB stands among the others, in a sentence."""
    told = [
        f"{store} {times(ratio)}"
        for store in OTHERS
        if (ratio := of_rocksdb(results, store, "throughput_ops_s")) is not None
    ]
    if not told:
        return "too few runs to compare the stores"
    return f"of the records that RocksDB writes a second, {listed(told)}"


def _header(results: Results) -> Html:
    return element(
        "header",
        element("p", "db_bench and other stores (2021), run again", class_="topic"),
        element("h1", sentence_start(answer(results))),
        element(
            "p",
            "Three commands of db_bench at a size that fits this machine, with sizes of the tree "
            "and range tombstones made smaller alike; then one load on four stores. Directions "
            "and ratios compare with what was published, not seconds: that was a RocksDB with "
            "assertions on, in a virtual machine with one core.",
        ),
        element(
            "p",
            "The slides measure no other store. They expect RocksDB to stand out among various "
            "databases, and name MyRocks, MongoDB and LedisDB as those to look at. What is "
            "measured of that expectation, and LevelDB and LMDB beside MyRocks, are our choice.",
        ),
    )


def _commands(results: Results) -> Html:
    rows = [_command_row(results, name) for name in COMMANDS]
    return section(
        "The three commands", "Published output beside ours",
        table(
            "Operations a second, time of one, gets that found a record",
            ("command", "records", "published ops/s", "ops/s here", "published µs", "µs here",
             "published found", "found here"),
            rows,
        ),
        element("p", "A command's time of an operation is of each of its threads. Here is the cell "
                     "with the published options; fillseq ran with the defaults. The reads here "
                     "pass by the page cache and run with the options that built the database; "
                     "the published ones did neither."),
        items(_flags()),
    )  # fmt: skip


def _flags() -> Iterator[Html]:
    for name in COMMANDS:
        flags = f"-benchmarks={name} {paper()[name]['flags']}"
        yield element("span", f"{name}, as published: ", code(flags if paper()[name]["flags"] else
                                                              "./db_bench"))  # fmt: skip


def _command_row(results: Results, name: Name) -> list[str]:
    part, theirs = results.parts[name], paper()[name]
    here = part.mean(published_cell(name), metric("throughput_ops_s"))
    found = part.mean(published_cell(name), metric("get_found"))
    told = "not measured"
    return [
        name,
        f"{part.load.num:,}",
        f"{theirs['ops_s']:,}",
        told if here is None else f"{here:,.0f}",
        number(theirs["micros_per_op"]),
        told if here is None else number(part.load.threads * _MICROS / here),
        f"{theirs['found'] / paper()['reads']:.0%}" if "found" in theirs else "",
        "" if found is None else f"{found:.0%}",
    ]


def _command_section(results: Results, name: Name) -> Html:
    swept = results.parts[name].swept
    told = [[sentence_start(text) for text in answers(swept, found)] for found in swept.metrics]
    drawn = swept.metrics[0]
    return section(
        f"{name}: what the options of the long command do", told[0][0],
        items(text for texts in told for text in texts[:2]),
        picture(f"command-{name}", cell_plot(swept, drawn), cell_keys(swept, drawn), told[0][0],
                f"{label(drawn.metric)}, mean and 95 % interval"),
    )  # fmt: skip


def _inside(part: Experiment) -> Iterator[Html]:
    """What the tree does under the long command, with the defaults and with its options."""
    cells = (DEFAULT, PUBLISHED)
    first, second = (next(iter(part.trees.get(cell, ())), ()) for cell in cells)
    title = (
        f"Data lie {depth_text(first)} with {OPTION_NAMES[0]}, {depth_text(second)} "
        f"with {OPTION_NAMES[1]}"
    )
    yield trees_section("fillrandom: levels", title, "fillrandom", OPTION_NAMES, (first, second))
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
            *("not compared" if ratio is None else times(ratio) for ratio in ratios),
        ])  # fmt: skip
    load = results.parts["stores"].load
    return section(
        "One load, four stores", sentence_start(answer(results)),
        element("p", f"{load.num:,} random writes of {load.record_bytes} bytes into an empty "
                     "store by one client, of which none waits for a sync; then reads. The "
                     "embedded stores run in one program of ours, the same keys, clock and code "
                     "around each. RocksDB has what LevelDB holds fixed, and both compress with "
                     "snappy; LMDB has no such settings and compresses nothing. MyRocks gets the "
                     "same records and a like tree, but as SQL through a socket to a server, which "
                     "syncs its log each second and is not started anew before the reads."),
        table("RocksDB, and what the others have of it", ("metric", "RocksDB", *OTHERS), rows),
    )  # fmt: skip


def _store_picture(results: Results, name: str) -> Html:
    swept = results.parts["stores"].swept
    drawn = next(found for found in swept.metrics if found.metric == name)
    title = listed(
        [
            f"{store} {times(ratio)}"
            for store in OTHERS
            if (ratio := of_rocksdb(results, store, name)) is not None
        ]
    )
    plot = cell_plot(swept, drawn).update_traces(mode="markers")  # no order among stores
    mysql = results.parts["myrocks"].mean(ALIKE, metric(name))
    beside = "" if mysql is None else f" MyRocks: {metric_value(name, mysql)}."
    return section(
        label(name), f"Of RocksDB's: {title}",
        element("p", f"The embedded stores, mean and 95 % interval; the line is RocksDB again, run "
                     f"as the base of each block.{beside}"),
        picture(f"stores-{name}", plot, cell_keys(swept, drawn), title),
    )  # fmt: skip


def _store_trees(results: Results) -> Html:
    experiment = results.parts["stores"]
    trees = [next(iter(experiment.trees.get(cell, ())), ()) for cell in (ROCKSDB, LEVELDB)]
    return trees_section(
        "Inside the two LSM stores", "The same records in RocksDB's and in LevelDB's levels",
        "stores-trees", ("RocksDB", "LevelDB"), (trees[0], trees[1]),
    )  # fmt: skip


def _method(results: Results) -> Html:
    texts: list[str] = []
    for name, part in results.parts.items():
        texts += method_lines(name, part)
    texts += [
        "the published share of gets that find a record is not explained: as many writes as keys "
        "leave 63 % of the keys with one, and tombstones among the first tenth of the writes, as "
        "here and there, take little of it",
        "the published reads came from a database that the command before had left; here it is "
        "built anew under each config, with the same tombstones, and has settled",
        "bytes handed to the disk are the kernel's count for the process: a page of LMDB's map "
        "that changes again before it is written out counts once",
        "all data fit into the page cache: reads of the stores tell of code and caches, not of "
        "the device",
        "Debian 12 builds RocksDB and LevelDB with assertions on, LMDB without: with these both "
        "LSM stores are slower than they could be",
        "LMDB without fsync may lose the database when the machine dies, the others their newest "
        "writes",
    ]
    return section("Method", "How this was run", items(texts))
