"""The page: each recommendation beside the post's, why, the searches, and the method."""

from collections import Counter
from collections.abc import Iterator

import plotly.graph_objects as go

from lsmtune.knobs.types import Config
from lsmtune.metrics.definitions import METRICS
from lsmtune.recipes.autotikv.numbers import FINDINGS, LITTLE, Claim, claims, ratio_to, side
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
from lsmtune.recipes.experiment import Cell, metric
from lsmtune.recipes.published import times
from lsmtune.report.canvas import Key, Shape, canvas, colour, marker
from lsmtune.report.facts import workload_text
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, code, element, items, join, table
from lsmtune.report.page import assembled
from lsmtune.report.words import (
    counted,
    drawn_unit,
    label,
    listed,
    quantity,
    sentence_start,
)
from lsmtune.stats import Interval
from lsmtune.units import format_bytes

_HEIGHT_PX = 260
_OFF_AND_ON = {
    "write_mean_us": "mean latency",
    "sustained_ops_s": "writes a second, all settled",
}
_RANDOM = Shape("circle-open", "○", "soft")
_ADVISED = Shape("circle", "●", "best")
_BEST_SO_FAR = Shape("line-ew", "━", "best")
_BASE = Shape("line-ew", "┄", "ink")


def render_autotikv(results: Results) -> str:
    """The results as one HTML page that needs nothing but a browser, and no network."""
    found = list(claims(results))
    parts = [_header(found), _claims(found)]
    for name in NAMES:
        part = results.parts[name]
        parts += [_search(part), _around(part, [claim for claim in found if claim.name == name])]
        if name == "writeheavy":
            parts.append(_compaction(results))
    parts.append(_method(results))
    return assembled("AutoTiKV, run again", parts)


def answer(found: list[Claim]) -> str:
    """How many of the published recommendations come out here, in a sentence."""
    counts = Counter(claim.finding for claim in found)
    parts = [f"{counts[finding]} {_plural(finding, counts[finding])}"
            for finding in FINDINGS if counts[finding]]  # fmt: skip
    return f"of the post's {len(found)} recommendations {listed(parts)}"


def _plural(finding: str, count: int) -> str:
    if count == 1 or finding == "not decided":
        return finding
    return {"agrees": "agree", "disagrees": "disagree"}.get(
        finding, finding.replace("makes", "make")
    )


def _header(found: list[Claim]) -> Html:
    return element(
        "header",
        element("p", "AutoTiKV (2019), run again", class_="topic"),
        element("h1", sentence_start(answer(found))),
        element(
            "p",
            "AutoTiKV searched four times for better values of some knobs of TiKV. Here the same "
            "searches run on RocksDB and MyRocks, with a thousandth of the data and the same share "
            "of it in the block cache. Around each recommendation every value of one knob is run "
            "again, the others held, in blocks under the same keys: intervals decide what agrees, "
            "and hits and reads tell why. Directions and ratios compare, not times.",
        ),
    )


def _claims(found: list[Claim]) -> Html:
    rows = [[claim.statement, claim.here, claim.finding, claim.evidence] for claim in found]
    return section(
        "The published recommendations", "What is recommended here",
        table("Each recommended value of the post",
              ("published", "recommended here", "the two", "evidence (95 %, corrected)"), rows),
        element("p", "A published value, or all of several, disagrees where another one is "
                     "decidedly better. It agrees where none is, and one is decidedly worse. As "
                     "one comparison of many would decide by luck, the intervals of all that a "
                     "recommendation is compared with hold together at 95 % (Bonferroni). A knob "
                     "makes no difference where the whole interval of each of its values lies "
                     f"within {100 * (LITTLE - 1):.0f} % of the recommended one; one that was "
                     "said to matter little agrees there too. Otherwise more runs are needed."),
    )  # fmt: skip


def _search(part: Part) -> Html:
    theirs = paper()[part.name]
    config = listed([f"{knob.name} = {told(knob, part.recommended[knob.name])}"
                     for knob in part.knobs])  # fmt: skip
    described = (
        f"{sentence_start(label(part.metric))} round by round: first {paper()['random_rounds']} "
        "random configs, then what the optimizer recommends."
    )
    return section(
        f"{theirs['title']}: the search", f"Recommended: {config}",
        element("p", f"The post: {theirs['load']}; {theirs['metric']}. "
                     f"{sentence_start(counted(len(part.rounds), 'round'))} here."),
        picture(f"search-{part.name}", _search_plot(part), _search_keys(part), described,
                described),
    )  # fmt: skip


def _search_keys(part: Part) -> list[Key]:
    keys = [Key(_RANDOM, "random"), Key(_ADVISED, "recommended in this round")]
    if all(tried.number <= paper()["random_rounds"] for tried in part.rounds):
        keys = keys[:1]
    return [*keys, Key(_BEST_SO_FAR, "best so far"), Key(_BASE, "base")]


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
    figure.update_yaxes(title=drawn_unit(part.metric)[1], rangemode="tozero")
    return figure


def best_so_far(part: Part) -> list[float]:
    """The best value up to each round, the base's included."""
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
    heads = ["value", label(part.metric), "of the recommended (95 % each)"]
    heads += [label(drawn.metric) for drawn in swept.metrics[1:]]
    return section(
        f"{paper()[part.name]['title']}: one knob at a time",
        _what_matters(part),
        items(_reasons(found)),
        element("p", f"{counted(swept.runs, 'run')} in {counted(swept.blocks, 'block')}."),
        table("Means over the blocks; every row but one changes one knob", heads, _rows(part)),
    )


def _what_matters(part: Part) -> str:
    names = [
        knob.name
        for knob in part.knobs
        if {side(part, cell, RECOMMENDED, len(part.cells[knob.name]) - 1)
            for cell in part.cells[knob.name].values() if cell != RECOMMENDED} & {"better", "worse"}
    ]  # fmt: skip
    if not names:
        return f"No knob decidedly moves the {label(part.metric)}"
    verb = "moves" if len(names) == 1 else "move"
    return f"{sentence_start(listed(names))} decidedly {verb} the {label(part.metric)}"


def _reasons(found: list[Claim]) -> Iterator[Html]:
    for claim in found:
        yield join([
            code(claim.knob), f": {claim.finding}. The post: {claim.published_why}. "
            f"Measured: {claim.why}.",
        ])  # fmt: skip


def _rows(part: Part) -> Iterator[list[str]]:
    yield _row(part, "as recommended", RECOMMENDED)
    for knob in part.knobs:
        for value, cell in part.cells[knob.name].items():
            if cell != RECOMMENDED:
                yield _row(part, f"{knob.name} = {told(knob, value)}", cell)


def _row(part: Part, name: str, cell: Cell) -> list[str]:
    ratio = None if cell == RECOMMENDED else ratio_to(part, cell, RECOMMENDED)
    means = [_mean(part, cell, drawn.metric) for drawn in part.experiment.swept.metrics]
    return [name, means[0], "" if ratio is None else times(ratio), *means[1:]]


def _mean(part: Part, cell: Cell, name: str) -> str:
    value = part.experiment.mean(cell, metric(name))
    return "" if value is None else quantity(value, METRICS[name].unit)


def _compaction(results: Results) -> Html:
    """What leaving compactions out does to writes, with what it leaves to be done."""
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
        "write-heavy: what compaction costs", _without_compactions(results),
        element("p", "TiKV's writes look for conflicts first. Blind writes do not: what they gain "
                     "from leaving compactions out, and lose once the rest is settled, stands "
                     "beside."),
        table("Compactions off, of compactions on (95 %)", ("load", "off / on"), rows),
    )  # fmt: skip


def _without_compactions(results: Results) -> str:
    ratio = results.blind.ratio(UNCOMPACTED, COMPACTING, metric("write_mean_us"))
    return f"Without compactions a blind write takes {_ratio_text(ratio)} the time"


def _ratio_text(ratio: Interval | None) -> str:
    return "too few runs" if ratio is None else times(ratio)


def _method(results: Results) -> Html:
    texts: list[str] = []
    for name in NAMES:
        part, title = results.parts[name], paper()[name]["title"]
        ran = part.experiment
        texts.append(
            f"{title}: {ran.version}, {ran.machine}; block cache {format_bytes(part.cache_bytes)}"
        )
        texts += [f"{title}: {text}" for text in workload_text(ran.load)]
        texts += [f"{title}: a run failed: {reason}" for _, reason in ran.outcome.failures]
    texts += [
        f"the optimizer is {OPTIMIZER}; every round builds its store anew, and the best rounds run "
        "again under other keys before one is recommended",
        "the base is the engine's defaults, but with what TiKV has: index and filters in the block "
        "cache, those of level 0 pinned, filters of 10 bits; sizes of the tree are 1/64",
        "reads meet the files as they were built, with all files in level 0 where compactions were "
        "left out; what is left to be compacted is settled behind the load and counts in write "
        "amplification, and under writes in the sustained rate",
        "db_bench sets options of one column family: in three of the searches it stands for "
        "defaultcf; the writes there are even over the keys, for db_bench skews none",
        "in MyRocks a table of keys (writecf) is asked before a table of values (defaultcf), by "
        "one client; a key without a value never reaches the second",
        "the reads pass by the page cache of the operating system",
        "Debian 12 builds RocksDB with assertions on; MariaDB's has none",
    ]
    return section("Method", "How this was run", items(texts))
