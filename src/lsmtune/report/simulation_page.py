"""The page of simulated runs: it plays one or two of them, side by side on one clock."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsmtune.report.facts import workload_text
from lsmtune.report.frame import section
from lsmtune.report.markup import Html, codes, element, items, join, table
from lsmtune.report.page import assembled, asset
from lsmtune.report.words import TIMES, label, metric_value
from lsmtune.simulator import Run

_SHOWN = ("write_amp", "live_sst_bytes", "peak_space_bytes", "load_s", "settle_s", "total_s",
          "stall_s", "cpu_s")  # fmt: skip
_STEPS = 1000
_SPEEDS = {"0.25": "a quarter", "1": "normal", "4": "four times"}


@dataclass(frozen=True, slots=True)
class Film:
    """A run under a name of its own, and its recording (see `lsmtune.simulator.recorded`)."""

    name: str
    run: Run
    recording: dict[str, Any]

    @property
    def metrics(self) -> dict[str, float]:
        """What the run came to."""
        metrics: dict[str, float] = self.recording["metrics"]
        return metrics


def render_films(films: Sequence[Film], *, is_calibrated: bool) -> str:
    """One or two runs as one HTML page that needs nothing but a browser, and no network."""
    title = _finding(films)
    parts = [
        element(
            "header",
            element("p", "Simulated runs" if len(films) > 1 else "A simulated run", class_="topic"),
            element("h1", title),
            element("p", "; ".join(workload_text(films[0].run.workload))),
        ),
        section(
            "The run",
            "Files wait in level 0 until they are merged downwards",
            element(
                "p",
                "A bar is a table file: it reaches from its smallest to its largest key, and keys "
                "go from left to right. Hatched ones are being merged. Writes are held up when "
                "memtables or files of level 0 pile up, or too much waits to be merged.",
            ),
            _key(),
            _controls(),
            element("div", *(_film(film, films) for film in films), class_="pair"),
            element("noscript", "The film needs JavaScript; the table holds its end."),
        ),
        _numbers(films),
        _simplified(is_calibrated=is_calibrated),
    ]
    return assembled(title, parts, [asset("simulation.js")])


def _finding(films: Sequence[Film]) -> str:
    first, *others = films
    if not others:
        return (
            f"{first.name} writes {first.metrics['write_amp']:.2f} bytes for each of the user's, "
            f"in {first.metrics['total_s']:.1f} s"
        )
    (other,) = others
    parts = [
        f"{other.metrics[name] / first.metrics[name]:.2f} {TIMES} the {label(name)}"
        for name in ("write_amp", "live_sst_bytes", "total_s")
    ]
    return f"{other.name} has {parts[0]}, {parts[1]} and {parts[2]} of {first.name}"


def _key() -> Html:
    return items(
        (
            join([element("span", glyph, class_=colour, aria_hidden="true"), meaning])
            for glyph, colour, meaning in (
                ("■", "best", "a file at rest; in RAM a full memtable, □ the one being written"),
                ("▨", "base", "a file that is being merged"),
                ("▂", "base", "writes are delayed"),
                ("█", "base", "writes are stopped"),
                ("─", "best", "write amplification so far (WA), files in level 0 (L0)"),
            )
        ),
        class_="key",
    )


def _controls() -> Html:
    speeds = (
        element("option", told, value=value, **({"selected": ""} if value == "1" else {}))
        for value, told in _SPEEDS.items()
    )
    place = Html(
        f'<input id="scrub" type="range" min="0" max="{_STEPS}" step="1" aria-label="Moment">'
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
        element("canvas", class_="tree", role="img", aria_label=f"The tree of {film.name}"),
        element("canvas", class_="course", role="img", aria_label="Its course over time"),
        element("p", class_="told note", aria_live="off"),
        element("script", data, type="application/json"),
        class_="film",
    )


def _own_knobs(film: Film, films: Sequence[Film]) -> list[str]:
    """The knobs in which the runs differ, as this one has them."""
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
    for name in _SHOWN:
        values = [film.metrics[name] for film in films]
        cells = [metric_value(name, value) for value in values]
        if len(films) > 1:
            cells.append(f"{values[1] / values[0]:.2f} {TIMES}" if values[0] else "")
        rows.append([label(name), *cells])
    return section(
        "In numbers",
        "What the run comes to" if len(films) == 1 else "What the runs come to",
        table("As the simulator foretells it.", heads, rows),
    )


def _simplified(*, is_calibrated: bool) -> Html:
    times = (
        "the machine that made this page, as calibrated"
        if is_calibrated
        else ("a machine of two cores as it is guessed, not of yours")
    )
    return section(
        "How far to trust it",
        "Foretold, not measured",
        items(
            [
                f"Times are those of {times}.",
                "One key in several is followed where there are more than 262,144.",
                "Writes are simulated; what reads cost is not.",
                "docs/simulator.md says how close it comes to real runs, and for which options.",
            ]
        ),
    )
