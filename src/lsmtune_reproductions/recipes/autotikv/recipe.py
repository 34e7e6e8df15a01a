"""Recipe autotikv: its studies, its page, and its JSON document."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from math import log
from typing import Any

from lsmtune.analysis.experiment_runs import Cell, metric
from lsmtune.knobs.types import Config
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.canvas import Chart, Key, Shape, marker, picture
from lsmtune.report.markup import Html, code, items, join, section, table
from lsmtune.report.page import assembled
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.swept_page import numbers_table
from lsmtune.report.text.metric_words import drawn_unit, label
from lsmtune.report.text.swept_words import swept_document
from lsmtune.report.text.words import counted, listed, quantity, unbroken, unit_text
from lsmtune.stats import Interval
from lsmtune.store.home import Home
from lsmtune.units import format_bytes
from lsmtune_reproductions.recipes.autotikv.numbers import (
    EFFECTLESS,
    FINDINGS,
    LITTLE,
    Claim,
    claims,
    ratio_to,
    side,
    too_small,
)
from lsmtune_reproductions.recipes.autotikv.study import (
    BLIND,
    COMPACTING,
    NAMES,
    OPTIMIZER,
    RECOMMENDED,
    UNCOMPACTED,
    Part,
    Results,
    paper,
    run,
    specs,
    told,
)
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.experiment import workload_lines
from lsmtune_reproductions.recipes.opening import (
    opening,
    ratio_picture,
    too_small_line,
    too_small_opening,
)
from lsmtune_reproductions.recipes.published import change_text, times

_TEXTS = PageTexts(__package__)
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


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(asked, home, opener)
    found, reason = list(claims(results)), too_small(results)
    parts: dict[str, Any] = {name: _part(part) for name, part in results.parts.items()}
    parts[BLIND] = {"experiment": swept_document(results.blind.swept)}
    document = {
        "recipe": "autotikv",
        "optimizer": OPTIMIZER,
        "published": paper(),
        "too_small": reason,
        "claims": [asdict(claim) for claim in found],
        "parts": parts,
    }
    lines = [
        answer(found),
        *(f"{c.finding}: {c.statement}, here {c.here} ({c.evidence})" for c in found),
    ]
    if reason is not None:
        lines = [too_small_line(reason)]
    return Reproduction(render_autotikv(results), document, tuple(lines))


def _part(part: Part) -> dict[str, Any]:
    return {
        "version": part.experiment.version,
        "metric": part.metric,
        "base": part.base,
        "rounds": [
            {"round": tried.number, "config": dict(tried.config), "value": tried.value}
            for tried in part.rounds
        ],
        "best_so_far": best_so_far(part),
        "recommended": dict(part.recommended),
        "experiment": swept_document(part.experiment.swept),
    }


AUTOTIKV = Recipe("autotikv", frozenset({"num", "repeats"}), specs, _run)
"""Four searches over AutoTiKV's knobs, and the effect of each value around the best config."""


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
    sentence = _TEXTS.text("opening")
    return opening(
        _TOPIC, answer(found), sentence,
        ratio_picture("effects", rows, sentence,
                "ratio per knob, with 95 % interval; above 1, the recommended value is better"),
        _TEXTS.html("about"),
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
        items(_TEXTS.paragraphs(
            "results", little=little, least=f"{1 / LITTLE:.2g}", most=f"{LITTLE:g}"
        )),
    )  # fmt: skip


def _search(part: Part) -> Html:
    theirs = paper()[part.name]
    config = listed([f"{knob.name} = {told(knob, part.recommended[knob.name])}"
                     for knob in part.knobs])  # fmt: skip
    axis = f"{label(part.metric)} per round"
    aim = "maximizes" if METRICS[part.metric].better == "higher" else "minimizes"
    return section(
        f"{theirs['title']}: the search", f"lsmtune recommends {config}",
        _TEXTS.html("searched", load=theirs["load"], aim=aim, metric=theirs["metric"],
                    rounds=counted(len(part.rounds), "round"), sources=_sources(part)),
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


def _search_plot(part: Part) -> Chart:
    chart, first = Chart(_HEIGHT_PX, bottom=56), paper()["random_rounds"]
    random = [tried for tried in part.rounds if tried.number <= first]
    advised = [tried for tried in part.rounds if tried.number > first]
    for shape, some in ((_RANDOM, random), (_ADVISED, advised)):
        chart.dots(
            [tried.number for tried in some], [tried.value for tried in some],
            marker(shape, 9), "round %{x}: %{y:.4g}<br>%{text}",
            text=[_config_text(part, tried.config) for tried in some],
        )  # fmt: skip
    chart.best_so_far([tried.number for tried in part.rounds], best_so_far(part))
    chart.rule(y=part.base, dash="dash")
    chart.update_xaxes(title="round", showgrid=False)
    chart.update_yaxes(title=unit_text(drawn_unit(part.metric)[1]), rangemode="tozero")
    return chart


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
        _TEXTS.html("around", runs=counted(swept.runs, "run"), times=counted(swept.blocks, "time")),
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
        _TEXTS.html("compaction"),
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
    texts += _TEXTS.paragraphs("method", optimizer=OPTIMIZER)
    return section("Method", "How lsmtune ran the AutoTiKV searches", items(texts))
