"""Recipe compaction-style: its studies, its page, and its JSON document."""

from typing import Any

from lsmtune.analysis.experiment_runs import metric
from lsmtune.report.markup import Html, element, items, section, table
from lsmtune.report.page import assembled
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.swept_page import numbers_table
from lsmtune.report.text.metric_words import label
from lsmtune.report.text.swept_words import answers, swept_document
from lsmtune.report.text.words import counted, listed, quantity, sentence_start, unbroken
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune_reproductions.recipes.base import Asked, Opener, Recipe, Reproduction
from lsmtune_reproductions.recipes.compaction_style.numbers import (
    claims,
    paper,
    tree,
    universal_of_level,
)
from lsmtune_reproductions.recipes.compaction_style.study import (
    LEVEL,
    STYLES,
    UNIVERSAL,
    Part,
    Results,
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
from lsmtune_reproductions.recipes.published import change_text, claims_section
from lsmtune_reproductions.recipes.tree_section import depth_text, trees_section

_TOPIC = "Level and universal compaction (2021), run again"
_TEXTS = PageTexts(__package__)
_DRAWN = ("write_amp", "live_sst_bytes", "background_s", "throughput_ops_s", "read_amp")
"""Metrics of the first chart."""
_NAMES = ("level compaction", "universal compaction")


def _studies(asked: Asked) -> tuple[StudySettings, ...]:
    """Return the experiment of each engine."""
    return tuple(specs(asked).values())


def _run(asked: Asked, home: Home, opener: Opener) -> Reproduction:
    results = run(asked, home, opener)
    found = list(claims(results))
    document = {
        "recipe": "compaction-style",
        "published": paper(),
        "claims": [claim.document() for claim in found],
        "parts": {part.engine: _part(part) for part in results.parts},
    }
    lines = (*map(_line, results.parts), *map(str, found))
    return Reproduction(render_compaction_style(results), document, lines)


def _line(part: Part) -> str:
    reason = part.experiment.too_small()
    return answer(part) if reason is None else f"{part.title}: {too_small_line(reason)}"


def _part(part: Part) -> dict[str, Any]:
    trees = {
        name: [level.model_dump() for level in tree(part, style)]
        for name, style in zip(STYLES, (LEVEL, UNIVERSAL), strict=True)
    }
    return {
        "version": part.experiment.version,
        "too_small": part.experiment.too_small(),
        "levels": trees,
        "experiment": swept_document(part.experiment.swept),
    }


COMPACTION_STYLE = Recipe("compaction-style", frozenset({"num", "repeats"}), _studies, _run)
"""Level and universal compaction, with db_bench and with TPC-C on MyRocks."""


def render_compaction_style(results: Results) -> str:
    """Return the results as one HTML page without external requests."""
    reasons = [part.experiment.too_small() for part in results.parts]
    reason = next((found for found in reasons if found is not None), None)
    first = _opening(results) if reason is None else too_small_opening(_TOPIC, reason)
    parts = [first, claims_section(list(claims(results))), _published()]
    for part, small in zip(results.parts, reasons, strict=True):
        if small is None:
            parts.append(_levels_section(part))
        parts.append(_answers(part, judged=small is None))
    parts.append(_method(results))
    return assembled("Compaction style, run again", parts)


def answer(part: Part) -> str:
    """Return what universal compaction changes on one engine, in a few words."""
    changes = _changes(part)
    if not changes:
        return f"too few runs to compare the styles: {part.title}"
    return f"universal compaction, {part.title}: {', '.join(changes)}"


def _changes(part: Part) -> list[str]:
    return [
        change_text(ratio, noun)
        for name, noun in (("write_amp", "write amplification"), ("live_sst_bytes", "space"))
        if (ratio := universal_of_level(part, name)) is not None
    ]


def _sentence(part: Part) -> str:
    """Return what universal compaction changes on another engine."""
    changes = _changes(part)
    if not changes:
        return f"{part.title} has too few runs to compare the compaction styles."
    return (
        f"Compared with level compaction, {part.title} with universal compaction has "
        f"{listed(changes)}."
    )


def _opening(results: Results) -> Html:
    first, *others = results.parts
    rows = {
        f"{part.title}: {label(name)}": ratio
        for part in results.parts
        for name in _DRAWN
        if (ratio := universal_of_level(part, name)) is not None
    }
    sentence = _TEXTS.text("opening")
    return opening(
        _TOPIC, answer(first), sentence,
        ratio_picture("ratios", rows, sentence,
                "universal / level, with 95 % interval"),
        *(element("p", unbroken(_sentence(part))) for part in others),
        _TEXTS.html("compare"),
    )  # fmt: skip


def _published() -> Html:
    found = paper()
    by_level = {style: {row["level"]: row for row in found[style]["levels"]} for style in STYLES}
    rows = [
        [level, style, f"{row['size_mib']:g} MiB", f"{row['w_amp']:g}", str(row["jobs"])]
        for level in sorted({name for style in STYLES for name in by_level[style]})
        for style in STYLES
        if (row := by_level[style].get(level)) is not None
    ]
    for style in STYLES:
        total = found[style]
        size = quantity(total["live_sst_bytes"], "bytes")
        rows.append(
            ["all", style, size, f"{total['w_amp_table']:g}", str(total["background_jobs"])]
        )
    return section(
        "As published", "Levels of the tree in the published report",
        table("Levels at the end of the published runs",
              ("level", "style", "size", "W-Amp", "jobs"), rows),
    )  # fmt: skip


def _levels_section(part: Part) -> Html:
    trees = (tree(part, LEVEL), tree(part, UNIVERSAL))
    depths = [depth_text(found) for found in trees]
    title = f"Level compaction has {depths[0]}, universal compaction has {depths[1]}"
    return trees_section(f"{part.title}: levels", title, part.engine, _NAMES, trees)


def _answers(part: Part, *, judged: bool) -> Html:
    swept = part.experiment.swept
    sentences = [next(answers(swept, one)) for one in swept.metrics] if judged else []
    seconds = part.experiment.mean((UNIVERSAL,), metric("load_s"))
    took = "" if seconds is None else f", about {quantity(seconds, 's')} per run"
    return section(
        f"{part.title}: all metrics",
        f"{counted(swept.runs, 'run')} with {counted(swept.blocks, 'repetition')}{took}",
        items(sentence_start(text) for text in sentences) if sentences else "",
        numbers_table(swept),
    )


def _method(results: Results) -> Html:
    texts: list[str] = []
    for part in results.parts:
        texts += method_lines(part.title, part.experiment)
    texts += _TEXTS.paragraphs("method")
    return section("Method", "How lsmtune compared the compaction styles", items(texts))
