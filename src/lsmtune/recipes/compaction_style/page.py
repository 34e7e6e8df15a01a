"""The page: both conclusions judged, and the levels of both styles side by side."""

from lsmtune.analysis.swept_words import answers
from lsmtune.recipes.compaction_style.numbers import (
    claims,
    paper,
    tree,
    universal_of_level,
)
from lsmtune.recipes.compaction_style.study import LEVEL, STYLES, UNIVERSAL, Part, Results
from lsmtune.recipes.experiment import method_lines, metric
from lsmtune.recipes.published import claims_section, times
from lsmtune.recipes.tree_section import depth_text, trees_section
from lsmtune.report.frame import section
from lsmtune.report.markup import Html, element, items, table
from lsmtune.report.page import assembled
from lsmtune.report.swept_page import numbers_table
from lsmtune.report.words import counted, quantity, sentence_start


def render_compaction_style(results: Results) -> str:
    """The results as one HTML page that needs nothing but a browser, and no network."""
    parts = [
        _header(results),
        claims_section("The published conclusions", "What holds of them", claims(results)),
        _published(),
    ]
    for part in results.parts:
        parts += [_levels_section(part), _answers(part)]
    parts.append(_method(results))
    return assembled("Compaction style, run again", parts)


def answer(part: Part) -> str:
    """What universal compaction changes on one engine, in a sentence."""
    told = [
        f"{times(ratio)} the {what}"
        for name, what in (("write_amp", "write amplification"), ("live_sst_bytes", "space"))
        if (ratio := universal_of_level(part, name)) is not None
    ]
    if not told:
        return f"too few runs to compare the styles: {part.title}"
    return f"universal compaction has {' and '.join(told)} of level compaction: {part.title}"


def _header(results: Results) -> Html:
    first = results.parts[0]
    return element(
        "header",
        element("p", "Level against universal compaction (2021), run again", class_="topic"),
        element("h1", sentence_start(answer(first))),
        *(element("p", f"{sentence_start(answer(part))}.") for part in results.parts[1:]),
        element(
            "p",
            "Each style runs in blocks under the same workload seeds; directions and ratios are "
            "what compares with the published tables, not seconds.",
        ),
    )


def _published() -> Html:
    found = paper()
    heads = ("level", *(f"{style}: {what}" for style in STYLES for what in ("size", "W-Amp",
             "jobs")))  # fmt: skip
    by_level = {style: {row["level"]: row for row in found[style]["levels"]} for style in STYLES}
    names = sorted({name for style in STYLES for name in by_level[style]})
    cells = []
    for name in names:
        line = [name]
        for style in STYLES:
            row = by_level[style].get(name)
            line += ["", "", ""] if row is None else [
                f"{row['size_mib']:g} MiB", f"{row['w_amp']:g}", str(row["jobs"])
            ]  # fmt: skip
        cells.append(line)
    total = ["all"]
    for style in STYLES:
        told = found[style]
        size = quantity(told["live_sst_bytes"], "bytes")
        total += [size, f"{told['w_amp_table']:g}", str(told["background_jobs"])]
    return section(
        "As published", "The two tables of the report, side by side",
        table("Levels at the end of the published runs", heads, [*cells, total]),
    )  # fmt: skip


def _levels_section(part: Part) -> Html:
    trees = (tree(part, LEVEL), tree(part, UNIVERSAL))
    depths = [depth_text(found) for found in trees]
    title = f"Data lie {depths[0]} under level, {depths[1]} under universal compaction"
    return trees_section(f"{part.title}: levels", title, part.engine, STYLES, trees)


def _answers(part: Part) -> Html:
    swept = part.experiment.swept
    told = [next(answers(swept, one)) for one in swept.metrics]
    seconds = part.experiment.mean((UNIVERSAL,), metric("load_s"))
    took = "" if seconds is None else f", about {quantity(seconds, 's')} a run"
    return section(
        f"{part.title}: every metric",
        f"{counted(swept.runs, 'run')} in {counted(swept.blocks, 'block')}{took}",
        items(sentence_start(text) for text in told),
        numbers_table(swept),
    )


def _method(results: Results) -> Html:
    texts: list[str] = []
    for part in results.parts:
        texts += method_lines(part.title, part.experiment)
    texts.append(
        "the report's own load is not certain: its setup names TPC-C, its text db_bench; here are "
        "both, smaller, on stores that were built under the style and had settled"
    )
    return section("Method", "How this was run", items(texts))
