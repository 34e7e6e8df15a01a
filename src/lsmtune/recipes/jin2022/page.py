"""The page that sets every figure and table of the paper beside what was measured here."""

from collections.abc import Iterator

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
from lsmtune.recipes.jin2022.study import EXACT, INDICATORS, MODES, Mode, Results, Search
from lsmtune.report.frame import picture, section
from lsmtune.report.importance_page import importance_sections
from lsmtune.report.markup import Html, code, element, join, table
from lsmtune.report.page import assembled
from lsmtune.report.words import number
from lsmtune.stats import Interval

_SHOWN = 12
_UNITS = {"w_amp_table": "", "write_amp": "", "live_sst_bytes": "MB", "rate_mb_s": "MB/s",
          "total_s": "s", "throughput_ops_s": "ops/s"}  # fmt: skip


def render_jin2022(results: Results) -> str:
    """The results as one HTML page that needs nothing but a browser, and no network."""
    parts = [
        _header(results),
        _figure_5(results),
        _figure_6(results),
        _figure_7(results),
        _figure_8(results),
        _table_2(results),
        _data_section(results),
        *importance_sections(results.screenings["honest"].importance),
        _method(results),
    ]
    return assembled("The parameter study of 2022, run again", parts)


def _header(results: Results) -> Html:
    fitness = honest_fitness(results)
    found = "no gain was verified" if fitness is None else f"fitness {fitness.median:.0f}"
    shares = [s for search in results.searches if (s := data_share(search)) is not None]
    data = (
        f" As published, {shares[0]:.0%} of the verified fitness came from changing the data."
        if shares
        else ""
    )
    return element(
        "header",
        element("p", "Jin, Choi, Choi, Sung, Park (2022), run again", class_="topic"),
        element("h1", f"With the load held fixed: {found}; the paper has about "
                      f"{paper()['genetic']['fitness']}"),
        element(
            "p",
            f"RocksDB {results.engine}, {results.host}; the paper used 6.13 on another machine, so "
            "directions and ratios are what compares, not seconds. Honest means that threads and "
            "compression_ratio, which shape the load and its data, stay as they are; as published "
            f"they vary like options.{data}",
        ),
    )  # fmt: skip


def _figure_5(results: Results) -> Html:
    found = accuracies(results)
    heads = ("metric", "paper, forest", *(
        f"{mode}, {what}" for mode in MODES for what in ("forest", "best model", "noise allows")
    ))  # fmt: skip
    rows = [
        [
            _metric_cell(row.metric), "" if row.paper is None else f"{row.paper:.3f}",
            *(cell for mode in MODES for cell in _accuracy_cells(row, mode)),
        ]
        for row in found
    ]  # fmt: skip
    drawn = [row for row in found if row.paper is not None]
    told = (
        "How much of each indicator the paper's model, a random forest, explains on configs that "
        "it has not seen. Only the published mode is comparable with the paper: in the honest one "
        "there is less to explain, because the data does not change."
    )
    return section(
        "Figure 5: prediction accuracy",
        "How well a model predicts what it has not seen",
        element("p", told),
        picture(
            "figure5", accuracy_plot(drawn), ACCURACY_KEYS, told, "held-out R² of a random forest"
        ),
        table("Held-out R²: median over folds (5 % to 95 %)", heads, rows),
    )


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
    return f"{interval.median:.{digits}f} ({low} to {high})"


def _figure_6(results: Results) -> Html:
    found = contributions(results)
    named = [row for row in found if row.paper_place is not None]
    agreeing = sum((row.place["published"] or 99) <= len(named) for row in named)
    heads = ("parameter", "paper", "published", "MDI", "R² lost", "honest", "MDI", "R² lost")
    rows = [
        [
            code(row.knob),
            f"{row.paper_place}." if row.paper_place else f"below {len(named)}.",
            *(cell for mode in ("published", "honest") for cell in _places(row.place[mode],
              row.mdi[mode], row.permutation[mode])),
        ]
        for row in found
    ]  # fmt: skip
    drawn = found[:_SHOWN]
    told = (
        "Mean decrease in impurity, averaged over WAF, SA, RATE and TIME. R² lost is what the "
        "chosen model loses without the parameter: MDI favours parameters with many values, this "
        "does not. In the paper each thread writes a whole load, so that threads multiply the "
        "data; here all threads together write one."
    )
    return section(
        "Figure 6: parameter contribution",
        f"{agreeing} of the paper's first {len(named)} are among our first {len(named)}",
        element("p", told),
        picture("figure6", contribution_plot(drawn), MODE_KEYS, told, "mean decrease in impurity"),
        table("Every parameter, in the order of the published mode", heads, rows),
    )


def _places(place: int | None, mdi: float, permutation: float) -> Iterator[str]:
    if place is None:
        yield from ("held fixed", "", "")
        return
    yield f"{place}."
    yield number(mdi)
    yield f"{permutation:.3f}"


def _figure_7(results: Results) -> Html:
    heads = ("parameter on indicator", "whose", "p", "least mean", "most mean", "apart by")
    rows = [row for test in paper()["anova"] for row in _anova_rows(results, test)]
    return section(
        "Figure 7 and the group means of the text: one-way analysis of variance",
        "What parameters of the paper's choice do to the indicators",
        element(
            "p",
            "Each parameter alone, as the paper tested it. The least and the most are means of all "
            "configs that share a value of the parameter.",
        ),
        table("Group means, the paper's beside ours", heads, rows),
    )


def _anova_rows(results: Results, test: dict[str, Value]) -> Iterator[list[str]]:
    knob, metric = str(test["knob"]), str(test["metric"])
    unit = _UNITS[metric]
    spread = float(test.get("spread_percent", 0)) / 100
    if "least" in test:
        least, most = float(test["least"]), float(test["most"])
        told = [f"{least:g} {unit}", f"{most:g} {unit}", f"{most / least - 1:.1%}"]
    else:
        told = ["", "", f"{spread:.2%}"]
    name = join([code(knob), " on ", code(metric)])
    yield [name, "paper", f"{float(test['p']):.3g}", *told]
    for found in group_tests(results, knob, metric):
        ends = (
            f"{number(indicator(metric, value))} {unit} at {group}"
            for group, value in (found.least, found.most)
        )
        yield [name, found.mode, f"{found.p:.3g}", *ends, f"{found.spread:.1%}"]


def _figure_8(results: Results) -> Html:
    fitness = honest_fitness(results)
    told = (
        "The best fitness so far after each evaluation, by single runs and exact write "
        "amplification; the level line is the paper's about 1600 after 36. Verification follows "
        "in the next table: the best of many single runs is partly luck."
    )
    title = "How the genetic algorithms converge"
    if fitness is not None:
        title += (
            f": honest, verified, {fitness.median:.0f} "
            f"({fitness.low:.0f} to {fitness.high:.0f} over the seeds)"
        )
    heads = ("search", "after 8", "after 20", "after 36", "verified, exact (95 %)",
             "verified, by the paper's formula", "pairs")  # fmt: skip
    return section(
        "Figure 8: convergence",
        title,
        element("p", told),
        picture("figure8", convergence_plot(results.searches), CONVERGENCE_KEYS, told, "fitness"),
        table("Fitness of each search", heads, map(_search_row, results.searches)),
    )


def _search_row(search: Search) -> list[str]:
    reached, found = convergence(search), verified(search.pairs)
    shown = (f"{reached[at - 1]:.0f}" if len(reached) >= at else "" for at in (8, 20, 36))
    checked = (
        ["not verified", "", ""]
        if found is None
        else [_interval(found.exact, 0), _interval(found.published, 0), str(found.pairs)]
    )
    return [f"{search.mode}, seed {search.seed}", *shown, *checked]


def _table_2(results: Results) -> Html:
    heads = ("whose", "WAF (table)", "exact write amplification", "SA, MB", "RATE, MB/s", "TIME, s",
             "fitness")  # fmt: skip
    published = paper()["table_2"]
    rows = [
        ["paper, default", *_paper_cells(published["default"]), "0"],
        ["paper, found", *_paper_cells(published["found"]), f"{paper_fitness():.0f}"],
    ]
    for search in results.searches:
        if (found := verified(search.pairs)) is not None:
            name = f"{search.mode}, seed {search.seed}"
            rows.append([f"{name}: default", *_cells(found.base), "0"])
            rows.append([f"{name}: found", *_cells(found.found), f"{found.exact.median:.0f}"])
    return section(
        "Table 2 and figure 9: what was found",
        "The default and the found values by every indicator",
        element(
            "p",
            "Medians of the verification's runs, default and found in turns under the same seeds. "
            "The paper's fitness is of its own table; ours is of exact write amplification.",
        ),
        picture(
            "figure9",
            improvement_plot(results.searches),
            ACCURACY_KEYS,
            _FIGURE_9,
            "better by, as a share of the default",
        ),
        table("Indicators of default and found", heads, rows),
        *_changes(results),
    )


_FIGURE_9 = "By how much each indicator got better; left of 0 it got worse."


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
                f"What the {search.mode} search of seed {search.seed} changed (sizes of the tree "
                "at 1/64)",
                ("parameter", "value"),
                [[code(name), str(value)] for name, value in values],
            )


def _data_section(results: Results) -> Html:
    rows = []
    title = "What part of the gain came from changing the data: not measured"
    for search in results.searches:
        whole, kept = verified(search.pairs), verified(search.on_base_data)
        share = data_share(search)
        if whole is None or kept is None or share is None:
            continue
        title = f"{share:.0%} of the published gain came from changing the data, not the store"
        rows += [
            _data_row("as found, its own data", whole),
            _data_row("as found, base's data", kept),
        ]
    heads = ("options", "fitness (95 %)", "WAF (table)", "exact write amplification", "SA, MB",
             "RATE, MB/s", "TIME, s")  # fmt: skip
    return section(
        "As published: the data",
        title,
        element(
            "p",
            "compression_ratio is how well db_bench's generated values compress. The paper's "
            "algorithm tunes it. Here the options that it found run once with the data that it "
            "found and once with the base's, each in pairs with the base: the difference is not "
            "the store's.",
        ),
        table("The published search's winner with and without its data", heads, rows),
    )


def _data_row(name: str, found: Verified) -> list[str]:
    return [name, _interval(found.exact, 0), *_cells(found.found)]


def _method(results: Results) -> Html:
    texts = []
    for mode in MODES:
        importance = results.screenings[mode].importance
        load = results.screenings[mode].runs.first[0].workload
        texts.append(
            f"{mode}: {importance.configs} configs ({importance.runs} runs, {importance.failed} "
            f"failed) at {load.num:,} records; the paper {paper()['configs']:,} at 1,000,000."
        )
    plan = results.plan
    texts += [
        f"Genetic searches: {plan.num:,} records, one evaluation a config, then verification.",
        "TIME and RATE: the paper ends each run with a forced compaction; here TIME is the load "
        "until the tree has settled, RATE that of the load alone.",
        "WAF is the W-Amp of RocksDB's table, which divides by compressed bytes: it moves when "
        "compression does. The exact write amplification divides by the user's bytes.",
        "Memory is not held equal, as in the paper: more memtables are part of what is found.",
        "The paper's ranges are those of its authors' later data set; where they publish none, "
        "`lsmtune knobs` shows what was chosen.",
    ]
    return section(
        "Method",
        "How this was run",
        element("ul", *(element("li", text) for text in texts)),
    )
