"""Recipe jin2022: its studies, its page, and its JSON document."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from lsmtune.analysis.importance import importance_document
from lsmtune.knobs.types import Value
from lsmtune.objective import Metrics
from lsmtune.report.canvas import Chart, Key, Shape, marker, picture
from lsmtune.report.importance_page import importance_sections
from lsmtune.report.markup import Html, code, element, items, join, section, table
from lsmtune.report.page import assembled
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.words import number
from lsmtune.spec import StudySettings
from lsmtune.stats import Interval
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.jin2022.numbers import (
    Accuracy,
    Contribution,
    Verified,
    accuracies,
    contributions,
    convergence,
    data_share,
    group_tests,
    honest_fitness,
    improvements,
    indicator,
    paper,
    paper_fitness,
    verified,
)
from lsmtune_reproductions.recipes.jin2022.study import (
    EXACT,
    INDICATORS,
    MODE_NAMES,
    MODES,
    Mode,
    Plan,
    Results,
    Search,
    run,
)
from lsmtune_reproductions.recipes.opening import opening, too_small_line, too_small_opening

_TOPIC = "Jin, Choi, Choi, Sung and Park (2022), run again"
_TEXTS = PageTexts(__package__)
_SHOWN = 12
_UNITS = {"w_amp_table": "", "write_amp": "", "live_sst_bytes": "MB", "rate_mb_s": "MB/s",
          "total_s": "s", "throughput_ops_s": "ops/s"}  # fmt: skip

_ROW_PX = 28
_HEIGHT_PX = 280
_PAPER = Shape("x-thin", "✕", "ink")
_PAPER_LINE = Shape("line-ew", "┄", "ink")
_MODES: dict[Mode, tuple[Shape, str]] = {
    "honest": (Shape("circle", "●", "best"), "fixed workload"),
    "published": (Shape("diamond-open", "◇", "base"), "varied workload, as in the paper"),
}
_OFFSETS = dict(zip(MODES, (-0.15, 0.15), strict=True))
"""Distance of the marks of a mode from the middle of their row."""
MODE_KEYS = tuple(Key(*_MODES[mode]) for mode in MODES)
ACCURACY_KEYS = (Key(_PAPER, "paper"), *MODE_KEYS)
CONVERGENCE_KEYS = (*MODE_KEYS, Key(_PAPER_LINE, "paper, after 36 evaluations"))
PAPER_NAMES = {
    "w_amp_table": "WAF", "live_sst_bytes": "SA", "rate_mb_s": "RATE", "total_s": "TIME",
}  # fmt: skip
"""Names of the metrics in the paper."""


def _studies(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the screenings, and a genetic search of each mode."""
    plan = _plan(asked)
    screenings = tuple(plan.screening(mode) for mode in MODES) if plan.configs else ()
    return (*(plan.search(mode, 1) for mode in MODES), *screenings)


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(_plan(asked), home, opener)
    document = jin2022_document(results)
    return Reproduction(render_jin2022(results), document, tuple(_lines(document)))


def _plan(asked: Asked) -> Plan:
    plan = Plan(program=asked.program)
    return Plan(
        num=plan.num if asked.num is None else asked.num,
        configs=plan.configs if asked.configs is None else asked.configs,
        seeds=plan.seeds if asked.seeds is None else tuple(range(1, asked.seeds + 1)),
        program=asked.program,
    )


def jin2022_document(results: Results) -> dict[str, Any]:
    """Return the results as JSON."""
    fitness = honest_fitness(results)
    return {
        "recipe": "jin2022",
        "paper": {**paper(), "fitness_of_table_2": paper_fitness()},
        "too_small": results.too_small,
        "honest_fitness": fitness and asdict(fitness),
        "screenings": {
            mode: importance_document(screening.importance)
            for mode, screening in results.screenings.items()
        },
        "searches": [{"num": results.plan.num, **_search(s)} for s in results.searches],
    }


def _search(search: Search) -> dict[str, Any]:
    found, kept = verified(search.pairs), verified(search.on_base_data)
    return {
        "mode": search.mode,
        "seed": search.seed,
        "best_so_far": convergence(search),
        "config": search.changed if search.winner else None,
        "verified": found and asdict(found),
        "on_base_data": kept and asdict(kept),
        "data_share": data_share(search),
    }


def _lines(document: dict[str, Any]) -> Iterator[str]:
    for mode, screening in document["screenings"].items():
        for name, metric in screening["metrics"].items():
            r2 = metric["r2_holdout"]
            accuracy = f"held-out R² {r2['median']:.3f} ({metric['model']})"
            yield f"prediction of {name}, {MODE_NAMES[mode]}: {accuracy}"
    if document["too_small"] is not None:
        yield too_small_line(document["too_small"])
        return
    for search in document["searches"]:
        found = search["verified"]
        fitness = "no gain verified"
        if found is not None:
            exact = found["exact"]
            low, high = exact["low"], exact["high"]
            fitness = f"fitness {exact['median']:.0f} ({low:.0f}\N{EN DASH}{high:.0f})"
        yield f"search, {MODE_NAMES[search['mode']]}, seed {search['seed']}: {fitness}"
        if search["data_share"] is not None:
            share = f"{search['data_share']:.0%}"
            yield f"  {share} of the search's fitness comes from the changed data"


JIN2022 = Recipe("jin2022", frozenset({"num", "configs", "seeds"}), _studies, _run)
"""Importance of options, and the gain that a genetic algorithm finds."""


def render_jin2022(results: Results) -> str:
    """Return the results as one HTML page without external requests."""
    reason = results.too_small
    searches = [_table_2(results), _data_section(results)] if reason is None else []
    parts = [
        _opening(results) if reason is None else too_small_opening(_TOPIC, reason),
        *searches,
        _figure_5(results),
        _figure_6(results),
        _figure_7(results),
        *importance_sections(results.screenings["honest"].importance),
        _method(results),
    ]
    return assembled("The parameter study of 2022, run again", parts)


def answer(results: Results) -> str:
    """Return the verified fitness of the honest searches next to the paper's."""
    fitness, theirs = honest_fitness(results), paper()["genetic"]["fitness"]
    if fitness is None:
        return f"fixed workload: no gain verified (paper: about {theirs})"
    return f"fixed workload: verified fitness {fitness.median:.0f} (paper: about {theirs})"


def _opening(results: Results) -> Html:
    fitness = honest_fitness(results)
    shares = [s for search in results.searches if (s := data_share(search)) is not None]
    sentence = _TEXTS.text("opening")
    seeds = "" if fitness is None else " " + _TEXTS.text(
        "seeds", median=f"{fitness.median:.0f}", low=f"{fitness.low:.0f}",
        high=f"{fitness.high:.0f}",
    )  # fmt: skip
    data = "" if not shares else " " + _TEXTS.text("data_share", share=_percent(shares[0]))
    heads = ("search", "after 8", "after 20", "after 36", "verified (95 %)",
             "verified, paper's formula", "pairs")  # fmt: skip
    return opening(
        _TOPIC, answer(results), sentence,
        picture("figure8", convergence_plot(results.searches), CONVERGENCE_KEYS, sentence,
                "Figure 8: fitness over evaluations"),
        element("p", _TEXTS.text("modes") + data),
        element("p", _TEXTS.text("single_runs") + seeds),
        table("Fitness of each search", heads, map(_search_row, results.searches)),
        _TEXTS.html("compare", engine=results.engine, host=results.host),
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _figure_5(results: Results) -> Html:
    found = accuracies(results)
    rows = [
        [_metric_cell(row.metric), MODE_NAMES[mode],
         "" if row.paper is None else f"{row.paper:.3f}", *_accuracy_cells(row, mode)]
        for row in found
        for mode in MODES
    ]  # fmt: skip
    drawn = [row for row in found if row.paper is not None]
    axis = "held-out R² of a random forest"
    return section(
        "Figure 5: prediction accuracy",
        "How well a model predicts the metrics of new configs",
        _TEXTS.html("figure_5"),
        picture("figure5", accuracy_plot(drawn), ACCURACY_KEYS, axis, axis),
        table("Held-out R²: median over folds (5 % to 95 %)",
              ("metric", "mode", "paper", "forest", "best model", "limit by noise"), rows),
    )  # fmt: skip


def _metric_cell(metric: str) -> Html | str:
    known = PAPER_NAMES.get(metric)
    return join([code(metric), f" ({known})"]) if known else code(metric)


def _accuracy_cells(row: Accuracy, mode: Mode) -> Iterator[str]:
    yield _interval(row.forest[mode])
    yield f"{_interval(row.best[mode])}, {row.model[mode]}"
    ceiling = row.ceiling[mode]
    yield "unknown" if ceiling is None else _interval(ceiling)


def _interval(interval: Interval, digits: int = 3) -> str:
    low, high = f"{interval.low:.{digits}f}", f"{interval.high:.{digits}f}"
    return f"{interval.median:.{digits}f} ({low}\N{EN DASH}{high})"


def _figure_6(results: Results) -> Html:
    found = contributions(results)
    named = [row for row in found if row.paper_place is not None]
    agreeing = sum((row.place["published"] or 99) <= len(named) for row in named)
    heads = ("parameter", "rank in the paper", "varied workload: rank", "MDI", "lost R²",
             "fixed workload: rank", "MDI", "lost R²")  # fmt: skip
    rows = [
        [
            code(row.knob),
            f"{row.paper_place}" if row.paper_place else f"below {len(named)}",
            *(cell for mode in ("published", "honest") for cell in _places(row.place[mode],
              row.mdi[mode], row.permutation[mode])),
        ]
        for row in found
    ]  # fmt: skip
    drawn = found[:_SHOWN]
    axis = "mean decrease in impurity (MDI)"
    return section(
        "Figure 6: importance of the parameters",
        f"{agreeing} of the paper's {len(named)} most important parameters are among lsmtune's "
        f"{len(named)} most important",
        _TEXTS.html("figure_6"),
        picture("figure6", contribution_plot(drawn), MODE_KEYS, axis, axis),
        _TEXTS.html("threads"),
        table("All parameters, in the order of the varied workload", heads, rows),
    )  # fmt: skip


def _places(place: int | None, mdi: float, permutation: float) -> Iterator[str]:
    if place is None:
        yield from ("fixed", "", "")
        return
    yield str(place)
    yield number(mdi)
    yield f"{permutation:.3f}"


def _figure_7(results: Results) -> Html:
    heads = ("parameter, indicator", "source", "p", "lowest mean", "highest mean", "difference")
    rows = [row for test in paper()["anova"] for row in _anova_rows(results, test)]
    return section(
        "Figure 7: one-way analysis of variance",
        "Effect of the parameters that the paper selects",
        _TEXTS.html("figure_7"),
        table("Group means of the paper and of both modes", heads, rows),
    )  # fmt: skip


def _anova_rows(results: Results, test: dict[str, Value]) -> Iterator[list[str]]:
    knob, metric = str(test["knob"]), str(test["metric"])
    unit = _UNITS[metric]
    spread = float(test.get("spread_percent", 0)) / 100
    if "least" in test:
        least, most = float(test["least"]), float(test["most"])
        ends = [f"{least:g} {unit}", f"{most:g} {unit}", f"{most / least - 1:.1%}"]
    else:
        ends = ["", "", f"{spread:.2%}"]
    name = join([code(knob), ", ", code(metric)])
    yield [name, "paper", f"{float(test['p']):.3g}", *ends]
    for found in group_tests(results, knob, metric):
        means = (
            f"{number(indicator(metric, value))} {unit} at {group}"
            for group, value in (found.least, found.most)
        )
        yield [name, MODE_NAMES[found.mode], f"{found.p:.3g}", *means, f"{found.spread:.1%}"]


def _search_row(search: Search) -> list[str]:
    reached, found = convergence(search), verified(search.pairs)
    shown = (f"{reached[at - 1]:.0f}" if len(reached) >= at else "" for at in (8, 20, 36))
    checked = (
        ["not verified", "", ""]
        if found is None
        else [_interval(found.exact, 0), _interval(found.published, 0), str(found.pairs)]
    )
    return [search.name, *shown, *checked]


def _table_2(results: Results) -> Html:
    heads = ("config", "WAF (table)", "exact write amplification", "SA, MB", "RATE, MB/s",
             "TIME, s", "fitness")  # fmt: skip
    published = paper()["table_2"]
    rows = [
        ["paper: default", *_paper_cells(published["default"]), "0"],
        ["paper: winner", *_paper_cells(published["found"]), f"{paper_fitness():.0f}"],
    ]
    for search in results.searches:
        if (found := verified(search.pairs)) is not None:
            rows.append([f"{search.name}: default", *_cells(found.base), "0"])
            rows.append(
                [f"{search.name}: winner", *_cells(found.found), f"{found.exact.median:.0f}"]
            )
    return section(
        "Table 2 and figure 9: the winners",
        "Improvement of each metric over the default",
        _TEXTS.html("figure_9"),
        picture("figure9", improvement_plot(results.searches), ACCURACY_KEYS, _FIGURE_9, _FIGURE_9),
        _TEXTS.html("table_2"),
        table("Indicators of the default and of the winner", heads, rows),
        *_changes(results),
    )  # fmt: skip


_FIGURE_9 = "improvement, as a share of the default"


def _paper_cells(values: Metrics) -> list[str]:
    cells = [f"{indicator(name, values[name]):g}" for name in INDICATORS]
    return [cells[0], "", *cells[1:]]


def _cells(values: Metrics) -> list[str]:
    names = (INDICATORS[0], EXACT, *INDICATORS[1:])
    return [number(indicator(name, values[name])) for name in names]


def _changes(results: Results) -> Iterator[Html]:
    for search in results.searches:
        if search.changed:
            values = sorted(search.changed.items())
            yield table(
                f"Changes of the winner: {search.name} (sizes of the LSM tree at 1/64 of the full "
                "size)",
                ("parameter", "value"),
                [[code(name), str(value)] for name, value in values],
            )


def _data_section(results: Results) -> Html:
    rows = []
    title = "Share of the gain that comes from the data: not measured"
    for search in results.searches:
        whole, kept = verified(search.pairs), verified(search.on_base_data)
        share = data_share(search)
        if whole is None or kept is None or share is None:
            continue
        title = f"{_percent(share)} of the gain with a varied workload comes from changing the data"
        rows += [
            _data_row("winner's options, winner's data", whole),
            _data_row("winner's options, baseline's data", kept),
        ]
    heads = ("config", "fitness (95 %)", "WAF (table)", "exact write amplification", "SA, MB",
             "RATE, MB/s", "TIME, s")  # fmt: skip
    return section(
        "Varied workload: the data",
        title,
        _TEXTS.html("data"),
        table("Winner of the search with a varied workload, with both kinds of data", heads, rows),
    )  # fmt: skip


def _data_row(name: str, found: Verified) -> list[str]:
    return [name, _interval(found.exact, 0), *_cells(found.found)]


def _method(results: Results) -> Html:
    texts: list[str] = []
    for mode in MODES:
        importance = results.screenings[mode].importance
        load = results.screenings[mode].runs.first[0].workload
        texts += _TEXTS.paragraphs(
            "screened", mode=MODE_NAMES[mode], configs=importance.configs, runs=importance.runs,
            records=f"{load.num:,}", failed=importance.failed,
        )  # fmt: skip
    texts += _TEXTS.paragraphs("paper", configs=f"{paper()['configs']:,}")
    if not results.plan.configs:
        texts += _TEXTS.paragraphs("shipped")
    texts += _TEXTS.paragraphs("method", records=f"{results.plan.num:,}")
    return section("Method", "How lsmtune ran the paper's searches again", items(texts))


def accuracy_plot(rows: Sequence[Accuracy]) -> Chart:
    """Draw the held-out R² of a random forest: of the paper, and of each mode here."""
    chart, places = Chart.rows([PAPER_NAMES[row.metric] for row in rows], _ROW_PX), range(len(rows))
    for mode, offset in _OFFSETS.items():
        found, shape = [row.forest[mode] for row in rows], _MODES[mode][0]
        chart.intervals(found, [place + offset for place in places], shape, "%{x:.3f}")
    published = [row.paper for row in rows]
    chart.dots(published, list(places), marker(_PAPER, 12, 2), "paper %{x:.3f}")
    return chart


def contribution_plot(rows: Sequence[Contribution]) -> Chart:
    """Draw the mean decrease in impurity per parameter and mode."""
    names = [f"{r.knob} (paper: {r.paper_place})" if r.paper_place else r.knob for r in rows]
    chart = Chart.rows(names, _ROW_PX)
    for mode, offset in _OFFSETS.items():
        varied = [(y + offset, row) for y, row in enumerate(rows) if row.place[mode] is not None]
        mdi, places = [row.mdi[mode] for _, row in varied], [y for y, _ in varied]
        chart.dots(mdi, places, marker(_MODES[mode][0], 10), "%{x:.3f}")
    chart.update_xaxes(rangemode="tozero")
    return chart


def improvement_plot(searches: Sequence[Search]) -> Chart:
    """Draw the improvement of each indicator: of the paper, and verified here."""
    chart = Chart.rows([PAPER_NAMES[metric] for metric in INDICATORS], _ROW_PX)
    table = paper()["table_2"]
    found: list[tuple[Shape, dict[str, float], str]] = [
        (_PAPER, improvements(table["default"], table["found"]), "paper")
    ]
    for search in searches:
        if (proven := verified(search.pairs)) is not None:
            gained = improvements(proven.base, proven.found)
            found.append((_MODES[search.mode][0], gained, search.name))
    for shape, gained, name in found:
        percent, rows = [100 * gained[metric] for metric in INDICATORS], range(len(INDICATORS))
        chart.dots(percent, list(rows), marker(shape, 11, 2), f"{name}: %{{x:.1f}} %")
    chart.rule(x=0)
    chart.update_xaxes(ticksuffix=" %")
    return chart


def convergence_plot(searches: Sequence[Search]) -> Chart:
    """Draw the best fitness so far over the evaluations of each search."""
    chart = Chart(_HEIGHT_PX, bottom=56)
    for search in searches:
        look = _MODES[search.mode][0], "solid" if search.mode == "honest" else "dash"
        best = convergence(search)
        x, steps = list(range(1, len(best) + 1)), {"shape": "hv"}
        chart.line(x, best, look, f"{search.name}: %{{y:.0f}}", size=5, line=steps)
    chart.rule(y=paper()["genetic"]["fitness"], dash="dot")
    chart.update_xaxes(title="evaluations")
    return chart
