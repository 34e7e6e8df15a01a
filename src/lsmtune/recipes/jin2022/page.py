"""Page of the recipe jin2022: each figure and table of the paper with the numbers from here."""

from collections.abc import Iterator

from lsmtune.analysis.shipped_runs import Mode
from lsmtune.knobs.types import Value
from lsmtune.objective import Metrics
from lsmtune.recipes.jin2022.numbers import (
    Accuracy,
    Verified,
    accuracies,
    contributions,
    convergence,
    data_share,
    group_tests,
    honest_fitness,
    indicator,
    paper,
    paper_fitness,
    verified,
)
from lsmtune.recipes.jin2022.plots import (
    ACCURACY_KEYS,
    CONVERGENCE_KEYS,
    MODE_KEYS,
    PAPER_NAMES,
    accuracy_plot,
    contribution_plot,
    convergence_plot,
    improvement_plot,
)
from lsmtune.recipes.jin2022.study import (
    EXACT,
    INDICATORS,
    MODE_NAMES,
    MODES,
    Results,
    Search,
)
from lsmtune.recipes.opening import opening, too_small_opening
from lsmtune.report.frame import picture, section
from lsmtune.report.importance_page import importance_sections
from lsmtune.report.markup import Html, code, element, items, join, table
from lsmtune.report.page import assembled
from lsmtune.report.text.words import number
from lsmtune.stats import Interval

_TOPIC = "Jin, Choi, Choi, Sung and Park (2022), run again"
_SHOWN = 12
_UNITS = {"w_amp_table": "", "write_amp": "", "live_sst_bytes": "MB", "rate_mb_s": "MB/s",
          "total_s": "s", "throughput_ops_s": "ops/s"}  # fmt: skip


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
    sentence = (
        "Fitness is the sum of the improvements of four metrics. A fitness of 1000 means that the "
        "improvements add up to 100 %. For each search, the chart shows the best fitness so far "
        "after each evaluation."
    )
    seeds = "" if fitness is None else (
        f" With a fixed workload, the median of the verified fitness is {fitness.median:.0f}. The "
        f"searches with different seeds reach {fitness.low:.0f} to {fitness.high:.0f}."
    )  # fmt: skip
    data = "" if not shares else (
        f" In the search with a varied workload, {_percent(shares[0])} of the verified fitness "
        "comes from the changed data, not from the options of the store."
    )  # fmt: skip
    heads = ("search", "after 8", "after 20", "after 36", "verified (95 %)",
             "verified, paper's formula", "pairs")  # fmt: skip
    return opening(
        _TOPIC, answer(results), sentence,
        picture("figure8", convergence_plot(results.searches), CONVERGENCE_KEYS, sentence,
                "Figure 8: fitness over evaluations"),
        element("p", "In a search with a fixed workload, only options of the store vary. In a "
                     "search with a varied workload, the parameters threads and compression_ratio "
                     "vary too, as in the paper. The parameters threads and compression_ratio "
                     "change the workload and the data." + data),
        element("p", "The chart shows the fitness of single runs. The highest fitness of many "
                     "single runs is partly luck. Verification measures the winner of "
                     "each search again in pairs of runs. A pair is one run of the winner and one "
                     "run of the baseline with the same seed." + seeds),
        table("Fitness of each search", heads, map(_search_row, results.searches)),
        element("p", f"The runs of lsmtune used RocksDB {results.engine} on {results.host}. The "
                     "paper used RocksDB 6.13 on another machine. Compare directions and ratios "
                     "with the paper, not absolute times."),
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
        element("p", "The paper's model is a random forest, a model of many decision trees. "
                     "Held-out R² is the accuracy of a model on configs that were not used to fit "
                     "the model. Compare the paper's R² with the R² of the varied workload, "
                     "because the paper also varies the workload. Do not compare the paper's R² "
                     "with the R² of the fixed workload. With a fixed workload, the metrics vary "
                     "less, because the data does not change."),
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
        element("p", "As in the paper, the chart shows the MDI (mean decrease in impurity) of "
                     "each parameter. lsmtune computes the MDI with a random forest, a model "
                     "of many decision trees. A high MDI means that the parameter explains a "
                     "large part of the changes of the metrics in the decision trees. For a "
                     "parameter with many values, the MDI is too high. Lost R² is the accuracy "
                     "that the most accurate model loses if lsmtune shuffles the values of a "
                     "parameter. Lost R² does not overrate a parameter with many values. The "
                     "chart has the mean MDI and the mean lost R² over the metrics WAF, SA, RATE "
                     "and TIME of the paper."),
        picture("figure6", contribution_plot(drawn), MODE_KEYS, axis, axis),
        element("p", "In the paper, each thread writes all records, so more threads write more "
                     "data. In the runs of lsmtune, all threads together write as many "
                     "records as one thread."),
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
        element("p", "As in the paper, an analysis of variance tests whether the mean of a "
                     "metric depends on one parameter. The test ignores all other parameters. A "
                     "small p means that chance alone rarely causes differences as large as the "
                     "measured differences. Each mean in the table is the mean of the metric over "
                     "all configs with one value of the parameter."),
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
    return [f"{MODE_NAMES[search.mode]}, seed {search.seed}", *shown, *checked]


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
            name = f"{MODE_NAMES[search.mode]}, seed {search.seed}"
            rows.append([f"{name}: default", *_cells(found.base), "0"])
            rows.append([f"{name}: winner", *_cells(found.found), f"{found.exact.median:.0f}"])
    return section(
        "Table 2 and figure 9: the winners",
        "Improvement of each metric over the default",
        element("p", "A mark right of 0 means that the winner is better than the default. A mark "
                     "left of 0 means that the winner is worse than the default."),
        picture("figure9", improvement_plot(results.searches), ACCURACY_KEYS, _FIGURE_9, _FIGURE_9),
        element("p", "For the searches of lsmtune, the table contains medians of the verification "
                     "runs. lsmtune computes the fitness of the paper's winner from the paper's "
                     "table 2. The fitness of lsmtune's searches uses exact write amplification "
                     "instead of the paper's WAF. Exact write amplification divides the bytes "
                     "that flushes and compactions write by the bytes that the clients write."),
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
                f"Changes of the winner: {MODE_NAMES[search.mode]}, seed {search.seed} (sizes of "
                "the LSM tree at 1/64 of the full size)",
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
        element("p", "The parameter compression_ratio of db_bench sets how well the values "
                     "compress. The paper's algorithm tunes compression_ratio together with the "
                     "options of the store."),
        element("p", "lsmtune verifies the winner's options on two kinds of data: the winner's "
                     "data and the baseline's data. The difference between the fitness on the "
                     "winner's data and the fitness on the baseline's data comes only from the "
                     "data."),
        table("Winner of the search with a varied workload, with both kinds of data", heads, rows),
    )  # fmt: skip


def _data_row(name: str, found: Verified) -> list[str]:
    return [name, _interval(found.exact, 0), *_cells(found.found)]


def _method(results: Results) -> Html:
    texts = []
    for mode in MODES:
        importance = results.screenings[mode].importance
        load = results.screenings[mode].runs.first[0].workload
        texts.append(
            f"For figures 5 to 7 with a {MODE_NAMES[mode]}, lsmtune measured {importance.configs} "
            f"random configs in {importance.runs} runs with {load.num:,} records. "
            f"{importance.failed} of the runs with a {MODE_NAMES[mode]} failed."
        )
    texts.append(f"The paper measured {paper()['configs']:,} configs with 1,000,000 records.")
    plan = results.plan
    if not plan.configs:
        texts.append(
            "The runs for figures 5 to 7 are recorded data that ships with lsmtune, not new runs."
        )
    texts += [
        f"The searches use a genetic algorithm, {plan.num:,} records, and one run per config. "
        "Verification measures the winner of each search again.",
        "The paper ends each run with a forced compaction. In the runs of lsmtune, the paper's "
        "metric TIME ends when all compactions are done. The paper's metric RATE is the user data "
        "that the clients write per second, without the time of the pending compactions.",
        "The paper's metric WAF is the value W-Amp in RocksDB's table “Compaction Stats”. W-Amp "
        "divides the bytes that flushes and compactions write by the compressed bytes that "
        "flushes write. Exact write amplification divides the bytes that flushes and compactions "
        "write by the bytes that the clients write.",
        "As in the paper, memory is not limited, so a winner may use more memory for "
        "memtables than the baseline.",
        "The paper's authors later published a data set. lsmtune takes the ranges of the "
        "parameters from the data set of the paper's authors. If the data set of the paper's "
        "authors does not contain a parameter, lsmtune uses the range that the command lsmtune "
        "knobs prints.",
    ]
    return section("Method", "How lsmtune ran the paper's searches again", items(texts))
