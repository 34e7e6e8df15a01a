"""Page of simulated runs: it plays one or two of them on one clock, and explains the picture."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsmtune.metrics.definitions import shown_metrics
from lsmtune.report.markup import Html, code, codes, element, items, join, section, table
from lsmtune.report.page import assembled, asset
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.facts import workload_text
from lsmtune.report.text.metric_words import label, metric_value
from lsmtune.report.text.words import TIMES, listed, unbroken
from lsmtune.simulator import Run, modelled_text

_COMPARED = {"write_amp": "write amplification", "live_sst_bytes": "space", "total_s": "time"}
_STEPS = 1000
_SPEEDS = {"0.25": "0.25 \N{MULTIPLICATION SIGN}", "1": "normal", "4": "4 \N{MULTIPLICATION SIGN}"}
_TEXTS = PageTexts(__package__, "simulation")
_TERMS = PageTexts(__package__, "simulation.terms")


@dataclass(frozen=True, slots=True)
class Film:
    """Run with a name, and its recording (see `lsmtune.simulator.recorded`)."""

    name: str
    run: Run
    recording: dict[str, Any]

    @property
    def metrics(self) -> dict[str, float]:
        """Metrics at the end of the run."""
        metrics: dict[str, float] = self.recording["metrics"]
        return metrics


def render_films(films: Sequence[Film], *, is_calibrated: bool) -> str:
    """Return one or two runs as one HTML page without external requests."""
    title = _finding(films)
    parts = [
        element(
            "header",
            element("p", _topic(films), class_="topic"),
            element("h1", unbroken(title)),
            element("p", "Press Play to see how new files arrive in level 0 (L0) and how "
                         "compactions merge the files into the levels below."),
            _controls(),
            element("div", *(_film(film, films) for film in films), class_="pair"),
            _key(),
            element("noscript", "The animation needs JavaScript. Without JavaScript, read the "
                                "results in the table below."),
        ),
        _explained(),
        _numbers(films),
        _accuracy(films[0].run, is_calibrated=is_calibrated),
    ]  # fmt: skip
    return assembled(title, parts, [asset("simulation.js")])


def _topic(films: Sequence[Film]) -> str:
    versions = listed([*dict.fromkeys(film.run.version for film in films)])
    return f"Simulated run{'s' if len(films) > 1 else ''} of RocksDB {versions}"


def _finding(films: Sequence[Film]) -> str:
    first, *others = films
    if not others:
        return (
            f"{first.name}: {first.metrics['write_amp']:.2f} bytes written per byte of the user, "
            f"done in {first.metrics['total_s']:.1f} s"
        )
    (other,) = others
    parts = [
        f"{words} {other.metrics[name] / first.metrics[name]:.2f} {TIMES}"
        for name, words in _COMPARED.items()
    ]
    return f"{other.name}: {listed(parts)} of {first.name}"


def _explained() -> Html:
    terms = (
        element("div", element("dt", element("strong", term)), element("dd", _TERMS.text(term)))
        for term in _TERMS.names()
    )
    return section("What you see", "How an LSM tree stores data", element("dl", *terms,
                   class_="facts"))  # fmt: skip


def _key() -> Html:
    return items(
        (
            join([element("span", glyph, class_=colour, aria_hidden="true"), meaning])
            for glyph, colour, meaning in (
                ("\N{BLACK SQUARE}", "best", "table file; the width is the range of keys in the "
                                             "file"),
                ("\N{SQUARE WITH UPPER RIGHT TO LOWER LEFT FILL}", "base",
                 "file that is being merged"),
                ("\N{WHITE SQUARE}", "best", "memtable in RAM; filled: full"),
                ("\N{LOWER ONE QUARTER BLOCK}", "base", "writes are slowed down"),
                ("\N{FULL BLOCK}", "base", "writes are stopped"),
                ("\N{BOX DRAWINGS LIGHT HORIZONTAL}", "best",
                 "WA: write amplification so far; L0: number of files in level 0"),
            )
        ),
        class_="key",
    )  # fmt: skip


def _controls() -> Html:
    speeds = (
        element("option", text, value=value, **({"selected": ""} if value == "1" else {}))
        for value, text in _SPEEDS.items()
    )
    place = Html(
        f'<input id="scrub" type="range" min="0" max="{_STEPS}" step="1" aria-label="Time">'
    )
    return element(
        "p",
        element("button", "Play", id="play", type="button"),
        place,
        element("span", id="clock", class_="number"),
        element("label", "Speed ", element("select", *speeds, id="speed")),
        class_="player",
    )


def _film(film: Film, films: Sequence[Film]) -> Html:
    records = film.run.workload.num * film.run.workload.threads
    written = film.metrics["flush_write_bytes"] + film.metrics["compact_write_bytes"]
    shown = {
        **{k: film.recording[k] for k in ("levels", "files", "jobs", "frames")},
        "record_bytes": written / film.metrics["write_amp"] / records,
    }
    data = Html(json.dumps(shown, separators=(",", ":")).replace("<", "\\u003c"))
    return element(
        "figure",
        element("h3", film.name),
        element("p", *_own_knobs(film, films), class_="note"),
        element("canvas", class_="tree", role="img", aria_label=f"Files per level, {film.name}"),
        element(
            "canvas",
            class_="course",
            role="img",
            aria_label="Stalls, write amplification and files in level 0 over time",
        ),
        element("p", class_="status note", aria_live="off"),
        element("script", data, type="application/json"),
        class_="film",
    )


def _own_knobs(film: Film, films: Sequence[Film]) -> list[str]:
    """Return the knobs in which the runs differ, with the values of this run."""
    names = sorted({name for other in films for name in other.run.knobs})
    own = [
        f"{name} = {film.run.knobs.get(name, 'default')}"
        for name in names
        if len({str(other.run.knobs.get(name)) for other in films}) > 1
    ]
    return codes(own)


def _numbers(films: Sequence[Film]) -> Html:
    heads = ["metric", *(film.name for film in films)]
    if len(films) > 1:
        heads.append(f"{films[1].name} / {films[0].name}")
    rows = []
    for name in shown_metrics("simulation", "write"):
        values = [film.metrics[name] for film in films]
        cells = [metric_value(name, value) for value in values]
        if len(films) > 1:
            cells.append(f"{values[1] / values[0]:.2f} {TIMES}" if values[0] else "")
        rows.append([label(name), *cells])
    return section(
        "Numbers",
        "Results of the run" if len(films) == 1 else "Results of the runs",
        table("Predictions of the simulator", heads, rows),
    )


def _accuracy(run: Run, *, is_calibrated: bool) -> Html:
    times = (
        "The simulator is calibrated: all times are predictions for the machine that made this "
        "page."
        if is_calibrated
        else join(
            [
                "The predicted times assume a machine with 2 cores. ",
                code("lsmtune doctor --calibrate"),
                " adapts the predicted times to your machine.",
            ]
        )
    )
    modelled = modelled_text(run.version)
    return section(
        "Accuracy",
        "Predicted, not measured",
        items(
            [
                f"{modelled[0].upper()}{modelled[1:]}.",
                times,
                *_TEXTS.paragraphs("accuracy"),
                *(f"Workload: {text}" for text in workload_text(run.workload)),
            ]
        ),
    )
