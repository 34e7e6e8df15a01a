"""Page of the recipe autotikv: the recommendations, the searches, and the effect of each knob."""

from collections import Counter
from collections.abc import Iterator
from math import log

import plotly.graph_objects as go

from lsmtune.analysis.experiment_runs import Cell, metric
from lsmtune.knobs.types import Config
from lsmtune.metrics.definitions import METRICS
from lsmtune.recipes.autotikv.numbers import (
    EFFECTLESS,
    FINDINGS,
    LITTLE,
    Claim,
    claims,
    ratio_to,
    side,
    too_small,
)
from lsmtune.recipes.autotikv.study import (
    BLIND,
    COMPACTING,
    NAMES,
    OPTIMIZER,
    RECOMMENDED,
    UNCOMPACTED,
    Part,
    Results,
    paper,
    told,
)
from lsmtune.recipes.experiment import workload_lines
from lsmtune.recipes.opening import opening, too_small_opening
from lsmtune.recipes.published import change_text, times
from lsmtune.recipes.ratio_chart import RATIO_KEYS, ratio_chart
from lsmtune.report.canvas import Key, Shape, canvas, colour, marker
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, code, element, items, join, table
from lsmtune.report.page import assembled
from lsmtune.report.swept_page import numbers_table
from lsmtune.report.text.words import (
    counted,
    drawn_unit,
    label,
    listed,
    quantity,
    unbroken,
    unit_text,
)
from lsmtune.stats import Interval
from lsmtune.units import format_bytes

_HEIGHT_PX = 260
_TOPIC = "AutoTiKV (2019), run again"
_OFF_AND_ON = {
    "write_mean_us": "mean latency",
    "sustained_ops_s": "writes per second, including the time of pending compactions",
}
_VERBS = {
    "agrees": "agrees with the runs of lsmtune",
    "disagrees": "disagrees with the runs of lsmtune",
    "makes no difference here": "makes no difference in the runs of lsmtune",
    "not decided": "is not decided by the runs of lsmtune",
    "not judged": "is not judged by the runs of lsmtune",
}
"""Findings as the verb of a sentence."""
_RANDOM, _ADVISED = Shape("circle-open", "○", "soft"), Shape("circle", "●", "best")
_BEST_SO_FAR = Shape("line-ew", "━", "best")
_BASE = Shape("line-ew", "┄", "ink")


def render_autotikv(results: Results) -> str:
    """Return the results as one HTML page without external requests."""
    found, reason = list(claims(results)), too_small(results)
    first = _opening(results, found) if reason is None else too_small_opening(_TOPIC, reason)
    parts = [first, _claims(found)]
    for name in NAMES if reason is None else ():
        part = results.parts[name]
        parts += [_search(part), _around(part, [claim for claim in found if claim.name == name])]
        if name == "writeheavy":
            parts.append(_compaction(results))
    parts.append(_method(results))
    return assembled("AutoTiKV, run again", parts)


def answer(found: list[Claim]) -> str:
    """Return the number of published recommendations by their results here."""
    counts = Counter(claim.finding for claim in found)
    agreeing = f"{counts['agrees']} of {len(found)} published recommendations agree here"
    others = [f"{counts[finding]} {_plural(finding, counts[finding])}"
              for finding in FINDINGS[1:] if counts[finding]]  # fmt: skip
    return ", ".join([agreeing, *others])


def _plural(finding: str, count: int) -> str:
    if count == 1:
        return finding
    return finding.replace("disagrees", "disagree").replace("makes", "make")


def _opening(results: Results, found: list[Claim]) -> Html:
    rows = {}
    for name, part in results.parts.items():
        for knob in part.knobs:
            cells = part.cells[knob.name]
            ratios = [_cost(part, ratio) for cell in cells.values() if cell != RECOMMENDED
                      and (ratio := ratio_to(part, cell, RECOMMENDED, len(cells) - 1))]  # fmt: skip
            if ratios:
                row = f"{paper()[name]['title']}: {knob.name}"
                rows[row] = max(ratios, key=lambda ratio: abs(log(ratio.median)))
    sentence = (
        "Each row compares two values of one knob: the value that lsmtune recommends, and the "
        "other value with the largest effect. The ratio divides the mean latency with the other "
        "value by the mean latency with the recommended value. For the search “point lookup B”, "
        "the ratio divides the throughput with the recommended value by the throughput with the "
        "other value. A ratio above 1 means that the recommended value is better."
    )
    return opening(
        _TOPIC, answer(found), sentence,
        picture("effects", ratio_chart(rows), RATIO_KEYS, sentence,
                "ratio per knob, with 95 % interval; above 1, the recommended value is better"),
        element("p", "AutoTiKV is a tuner for TiKV. The authors of AutoTiKV published an article "
                     "about four searches with different workloads. lsmtune repeats the four "
                     "searches of the article on RocksDB and MyRocks, with a thousandth of the "
                     "data. In the runs of lsmtune and in the AutoTiKV article, the block cache "
                     "can hold the same share of the data."),
        element("p", "After each search, lsmtune measures every value of each knob again, while "
                     "the other knobs keep their recommended values. Compare directions and ratios "
                     "with the AutoTiKV article, not absolute times."),
    )  # fmt: skip


def _cost(part: Part, ratio: Interval) -> Interval:
    """Return the ratio turned so that a higher value is worse."""
    if METRICS[part.metric].better == "higher":
        return Interval(1 / ratio.median, 1 / ratio.high, 1 / ratio.low)
    return ratio


def _claims(found: list[Claim]) -> Html:
    rows = [
        [claim.statement, claim.here, claim.finding, unbroken(claim.evidence)] for claim in found
    ]
    little = f"{100 * (LITTLE - 1):.0f} %"
    return section(
        "Published recommendations", "Result of each recommendation",
        table("Each recommended value of the AutoTiKV article",
              ("published", "recommended here", "result", "measured ratio (95 % interval)"), rows),
        items([
            "A published value is a value of a knob that the article recommends. An unpublished "
            "value is a value of the same knob that the article does not recommend.",
            "The result “agrees” means that at least one unpublished value is clearly worse than "
            "all published values. With the result “agrees”, no unpublished value is clearly "
            "better than every published value.",
            "The result “disagrees” means that at least one unpublished value is clearly better "
            "than every published value.",
            "The result “makes no difference here” means that every value of the knob changes the "
            f"objective by less than {little}. The changes of the objective are relative to the "
            "value that lsmtune recommends.",
            "If the article states that a knob has little effect, “agrees” means that every value "
            f"of the knob changes the objective by less than {little}. If the article states that "
            "a knob has little effect, “disagrees” means that at least one value of the knob "
            f"changes the objective by more than {little}.",
            "The result “not decided” means that the intervals of the measured ratios are too "
            "wide to decide. More runs make the intervals of the ratios narrower.",
            "lsmtune compares two values of a knob by the ratio of their objectives. One value is "
            "clearly better if the whole interval of the ratio is on the better side of 1. A "
            f"change of less than {little} means that the whole interval of the ratio is between "
            f"{1 / LITTLE:.2g} and {LITTLE:g}. A change of more than {little} means that the whole "
            f"interval of the ratio is below {1 / LITTLE:.2g} or above {LITTLE:g}.",
            "lsmtune widens the intervals with a Bonferroni correction. With a probability of at "
            "least 95 %, all intervals of one recommendation contain the true ratios.",
        ]),
    )  # fmt: skip


def _search(part: Part) -> Html:
    theirs = paper()[part.name]
    config = listed([f"{knob.name} = {told(knob, part.recommended[knob.name])}"
                     for knob in part.knobs])  # fmt: skip
    axis = f"{label(part.metric)} per round"
    aim = "maximizes" if METRICS[part.metric].better == "higher" else "minimizes"
    return section(
        f"{theirs['title']}: the search", f"lsmtune recommends {config}",
        element("p", f"The workload of the AutoTiKV article consists of {theirs['load']}. The "
                     f"search by lsmtune {aim} {theirs['metric']}. The search has "
                     f"{counted(len(part.rounds), 'round')} of one run each. {_sources(part)}"),
        picture(f"search-{part.name}", _search_plot(part), _search_keys(part), axis, axis),
    )  # fmt: skip


def _only_random(part: Part) -> bool:
    """Return whether the search ends before the optimizer recommends a config."""
    return all(tried.number <= paper()["random_rounds"] for tried in part.rounds)


def _sources(part: Part) -> str:
    """Return where the configs of the search come from."""
    if _only_random(part):
        return "All configs of the search are random."
    return (
        f"The configs of the first {paper()['random_rounds']} rounds are random. After round "
        f"{paper()['random_rounds']}, the optimizer chooses the config of each round."
    )


def _search_keys(part: Part) -> list[Key]:
    keys = [Key(_RANDOM, "random config"), Key(_ADVISED, "recommended by the optimizer")]
    if _only_random(part):
        keys = keys[:1]
    return [*keys, Key(_BEST_SO_FAR, "best so far"), Key(_BASE, "baseline")]


def _search_plot(part: Part) -> go.Figure:
    figure, first = canvas(_HEIGHT_PX, bottom=56), paper()["random_rounds"]
    random = [tried for tried in part.rounds if tried.number <= first]
    advised = [tried for tried in part.rounds if tried.number > first]
    for shape, some in ((_RANDOM, random), (_ADVISED, advised)):
        figure.add_scatter(
            x=[tried.number for tried in some],
            y=[tried.value for tried in some],
            mode="markers",
            marker=marker(shape, 9),
            text=[_config_text(part, tried.config) for tried in some],
            hovertemplate="round %{x}: %{y:.4g}<br>%{text}<extra></extra>",
        )
    figure.add_scatter(
        x=[tried.number for tried in part.rounds],
        y=best_so_far(part),
        mode="lines",
        line={"shape": "hv", "width": 2, "color": colour("best")},
        hoverinfo="skip",
    )
    figure.add_hline(y=part.base, line={"color": colour("ink"), "width": 1, "dash": "dash"})
    figure.update_xaxes(title="round", showgrid=False)
    figure.update_yaxes(title=unit_text(drawn_unit(part.metric)[1]), rangemode="tozero")
    return figure


def best_so_far(part: Part) -> list[float]:
    """Return the best value up to each round; the baseline is included."""
    pick = max if METRICS[part.metric].better == "higher" else min
    found, best = [], part.base
    for tried in part.rounds:
        best = pick(best, tried.value)
        found.append(best)
    return found


def _config_text(part: Part, config: Config) -> str:
    return ", ".join(f"{k.name} = {told(k, config[k.name])}" for k in part.knobs)


def _around(part: Part, found: list[Claim]) -> Html:
    swept = part.experiment.swept
    first = swept.metrics[0]
    heads = ("config", label(first.metric), "ratio to the recommended (95 %)")
    title = paper()[part.name]["title"]
    return section(
        f"{title}: effect of each knob",
        _what_matters(part),
        items(_reasons(found)),
        table("Other metrics that clearly change with the compared values",
              ("knob", "metric", "with", "value", "instead of", "value"), _changes(found)),
        element("p", f"The table below contains the results of {counted(swept.runs, 'run')}. "
                     f"lsmtune runs every config {counted(swept.blocks, 'time')}. Each row of the "
                     "table changes one knob of the recommended config."),
        table(f"{title}: {label(first.metric)} of each config, mean", heads, _rows(part)),
        numbers_table(swept),
    )  # fmt: skip


def _what_matters(part: Part) -> str:
    names = [
        knob.name
        for knob in part.knobs
        if {side(part, cell, RECOMMENDED, len(part.cells[knob.name]) - 1)
            for cell in part.cells[knob.name].values() if cell != RECOMMENDED} & {"better", "worse"}
    ]  # fmt: skip
    if not names:
        return f"No knob clearly changes the {label(part.metric)}"
    verb = "changes" if len(names) == 1 else "change"
    return f"{listed(names)} clearly {verb} the {label(part.metric)}"


def _reasons(found: list[Claim]) -> Iterator[Html]:
    for claim in found:
        yield join([
            "The published recommendation for ", code(claim.knob),
            f" {_VERBS.get(claim.finding, claim.finding)}. {_stated(claim)}: "
            f"{claim.published_why}.",
        ])  # fmt: skip


def _stated(claim: Claim) -> str:
    """Return what the article states about a knob, as the beginning of a sentence."""
    verb = "reports that" if claim.statement.endswith(EFFECTLESS) else "recommends"
    return f"The AutoTiKV article {verb} {claim.statement.partition(': ')[2]}"


def _changes(found: list[Claim]) -> Iterator[list[str]]:
    for claim in found:
        after_value, before_value = claim.compared
        for what, after, before in claim.changes:
            yield [code(claim.knob), what, after_value, after, before_value, before]
        if not claim.changes:
            yield [code(claim.knob), "no clear change", after_value, "", before_value, ""]


def _configs(part: Part) -> Iterator[tuple[str, Cell]]:
    """Yield the name and the cell of each config of the experiment."""
    yield "as recommended", RECOMMENDED
    for knob in part.knobs:
        for value, cell in part.cells[knob.name].items():
            if cell != RECOMMENDED:
                yield f"{knob.name} = {told(knob, value)}", cell


def _rows(part: Part) -> Iterator[list[str]]:
    first = part.experiment.swept.metrics[0].metric
    for name, cell in _configs(part):
        ratio = None if cell == RECOMMENDED else ratio_to(part, cell, RECOMMENDED)
        yield [name, _mean(part, cell, first), "" if ratio is None else times(ratio)]


def _mean(part: Part, cell: Cell, name: str) -> str:
    value = part.experiment.mean(cell, metric(name))
    return "" if value is None else quantity(value, METRICS[name].unit)


def _compaction(results: Results) -> Html:
    """Return the effect of disabled compactions on writes, pending compactions included."""
    part = results.parts["writeheavy"]
    cells = part.cells["disable_auto_compactions"]
    compared = (
        ("writes that read", part.experiment, cells[True], cells[False]),
        (BLIND, results.blind, UNCOMPACTED, COMPACTING),
    )
    rows = [
        [f"{kind}: {what}", _ratio_text(experiment.ratio(off, on, metric(name)))]
        for kind, experiment, off, on in compared
        for name, what in _OFF_AND_ON.items()
    ]
    return section(
        "write-heavy: cost of compaction", _without_compactions(results),
        element("p", "Before a TiKV transaction writes a key, TiKV reads the key to find "
                     "conflicts. A blind write writes a key without a read. Rows with “including "
                     "the time of pending compactions” also count the time from the last write "
                     "to the end of all compactions."),
        table("Compactions off / on (95 % interval)", ("writes", "off / on"), rows),
    )  # fmt: skip


def _without_compactions(results: Results) -> str:
    ratio = results.blind.ratio(UNCOMPACTED, COMPACTING, metric("write_mean_us"))
    return f"Blind writes without compactions: {change_text(ratio, 'latency')}"


def _ratio_text(ratio: Interval | None) -> str:
    return "too few runs" if ratio is None else times(ratio)


def _method(results: Results) -> Html:
    texts: list[str] = []
    for name in NAMES:
        part, title = results.parts[name], paper()[name]["title"]
        ran = part.experiment
        texts.append(
            f"Search “{title}”: engine version {ran.version}, machine {ran.machine}, block cache "
            f"{format_bytes(part.cache_bytes)}"
        )
        texts += [f"Search “{title}”: {text}" for text in workload_lines(ran.load)]
        texts += [f"Search “{title}”: a run failed: {reason}" for _, reason in ran.outcome.failures]
    texts += [
        f"The optimizer is {OPTIMIZER}. In each round, lsmtune uses the config to build the store "
        "and to run the workload. After the search, lsmtune runs the best configs again with "
        "another workload seed, and then recommends the best config.",
        "The baseline has the engine's defaults, except for three settings from TiKV. The block "
        "cache contains indexes and filters, the indexes and filters of level 0 are pinned, and "
        "filters have 10 bits per key. lsmtune divides the sizes of the LSM tree, such as "
        "the memtable size, by 64.",
        "If the workload only reads and the config disables compactions, all files of the store "
        "are in level 0. After the workload, lsmtune runs all pending compactions. The write "
        "amplification includes the bytes of the pending compactions. The metric sustained_ops_s "
        "includes the time of the pending compactions.",
        "Three searches use db_bench. db_bench uses only one column family, which represents "
        "defaultcf of TiKV. The keys of writes are uniformly distributed, because db_bench cannot "
        "skew the keys of writes.",
        "The search “point lookup B” uses MyRocks. One MyRocks table contains the keys and "
        "represents the column family writecf of TiKV. A second MyRocks table contains the "
        "values and represents the column family defaultcf. For each lookup, the client reads "
        "the key from the table of keys. If the key exists, the client also reads the value from "
        "the table of values.",
        "The reads do not use the page cache of the operating system.",
        "Debian 12 builds RocksDB with assertions, which make RocksDB slower. The RocksDB inside "
        "MariaDB (MyRocks) is built without assertions.",
    ]
    return section("Method", "How lsmtune ran the AutoTiKV searches", items(texts))
