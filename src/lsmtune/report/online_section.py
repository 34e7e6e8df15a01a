"""Sections of online tuning: each change with its windows, and the options at the end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from lsmtune.analysis.deploy import format_to_deploy
from lsmtune.analysis.study_view import OnlineCall, StudyView, TrialView
from lsmtune.knobs.knob_text import knob_value
from lsmtune.metrics.definitions import METRICS
from lsmtune.report.canvas import Chart, Key, Shape, marker, picture
from lsmtune.report.figures import Unmeasured
from lsmtune.report.markup import Html, element, folded, join, nowrap, section, table
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.search_plot import RAIL_PX, add_rail
from lsmtune.report.sections import options_table
from lsmtune.report.text.changed_options import OptionRow, option_row
from lsmtune.report.text.memory_text import small_tree_text
from lsmtune.report.text.metric_words import Ratio, drawn_unit, label, metric_value
from lsmtune.report.text.words import counted, listed, sentence_start, unit_text
from lsmtune.trials import Judgement, OnlineChange
from lsmtune.units import format_duration

_TEXTS = PageTexts(__package__, "online")
_HEIGHT_PX = 260
_GAP = 0.05
_WIDTH = 0.8
"""Share of the distance of two changes in the chart that their windows take."""
_MOST_SHOWN = 4
"""Maximum number of options of a change that its row shows without a click."""
_TICKS_WANTED = 8

_PHASES: dict[str, Shape] = {
    "before the change": Shape("circle-open", "\N{WHITE CIRCLE}", "base"),
    "with the change": Shape("diamond", "\N{BLACK DIAMOND}", "best"),
    "after lsmtune reverted the change": Shape("square-open", "\N{WHITE SQUARE}", "ink"),
}
_OUTCOMES: dict[str, Shape] = {
    "kept": Shape("triangle-up", "\N{BLACK UP-POINTING TRIANGLE}", "best"),
    "reverted": Shape("x-thin", "\N{MULTIPLICATION X}", "worse"),
    "refused": Shape("cross-thin", "+", "ink"),
}


@dataclass(frozen=True, slots=True)
class Tried:
    """A change of the newest call, in words.

    `options` are its options as (name, value before, value set). `phases` are the values of the
    metric per window, before, during and after the change. `ratio` is the metric during / before
    the change; None if it was not measured.
    """

    number: int
    outcome: str
    reason: str
    options: tuple[tuple[str, str, str], ...]
    phases: tuple[tuple[float, ...], ...]
    ratio: Ratio | None


@dataclass(frozen=True, slots=True)
class Tuned:
    """The newest call of online tuning: its changes in order, and the options at its end."""

    metric: str
    changes: tuple[Tried, ...]
    at_end: tuple[OptionRow, ...]


def tuned(view: StudyView, call: OnlineCall) -> Tuned:
    """Return the newest call of online tuning, in words."""
    metric = view.objective.metrics[0]
    changes = (_tried(trial, trial.online, metric) for trial in call.tried if trial.online)
    return Tuned(metric, tuple(changes), tuple(map(option_row, call.kept)))


def _tried(trial: TrialView, found: OnlineChange, metric: str) -> Tried:
    outcome = "refused" if found.judgement is Judgement.REFUSED else found.judgement.meaning
    return Tried(
        number=found.number,
        outcome=outcome,
        reason=(trial.reason or "").removeprefix(f"{found.judgement.meaning}: "),
        options=tuple(
            (c.knob.name, knob_value(c.knob, c.base), knob_value(c.knob, c.best))
            for c in trial.changes
        ),
        phases=(found.before, found.during, found.after),
        ratio=None if found.cost is None else Ratio.of(found.cost).gain(metric),
    )  # fmt: skip


def online_sections(view: StudyView, call: OnlineCall) -> Iterator[Html]:
    """Yield the changes that were tried, and the options at the end."""
    record = tuned(view, call)
    yield section(
        "Changes", _title(record), element("p", _see(record, call)), _chart(record), _table(record)
    )
    if record.at_end:
        options = counted(len(record.at_end), "option")
        differs = "differs" if len(record.at_end) == 1 else "differ"
        yield section(
            "At the end", f"{options} {differs} from the baseline",
            element("p", _end_text(view)), options_table(record.at_end, "at the end"),
        )  # fmt: skip


def _title(record: Tuned) -> str:
    outcomes = [change.outcome for change in record.changes]
    counts = [(outcomes.count(outcome), outcome) for outcome in _OUTCOMES]
    parts = [f"{count} {outcome}" for count, outcome in counts if count]
    return f"{counted(len(outcomes), 'change')}: {listed(parts)}"


def _see(record: Tuned, call: OnlineCall) -> str:
    better = "higher" if METRICS[record.metric].better == "higher" else "lower"
    return _TEXTS.text(
        "see", metric=label(record.metric), window=format_duration(call.window_s), better=better,
        windows=call.windows,
    )  # fmt: skip


def _end_text(view: StudyView) -> str:
    scaled = ""
    if view.scale != "1":
        smaller = small_tree_text(all_sizes_scale=view.all_sizes_scale)
        scaled = _TEXTS.text("scaled", scale=view.scale, smaller=smaller) + " "
    return (scaled + format_to_deploy(view.engine).effect).strip()


def _chart(record: Tuned) -> Html:
    drawn = [phase for change in record.changes for phase in change.phases if phase]
    if not drawn:
        return Html()
    used = [any(change.phases[at] for change in record.changes) for at in range(len(_PHASES))]
    keys = [Key(shape, f"window {words}")
            for (words, shape), is_used in zip(_PHASES.items(), used, strict=True)
            if is_used]  # fmt: skip
    unit = unit_text(METRICS[record.metric].unit)
    axis = f"{label(record.metric)} in each window" + ("" if unit == "ratio" else f", {unit}")
    return picture("windows", windows_plot(record), keys, _title(record), axis)


def windows_plot(record: Tuned) -> Chart:
    """Draw the metric in each window, change by change; rows at the top have the outcomes."""
    shapes = {outcome: shape for outcome, shape in _OUTCOMES.items()
              if any(change.outcome == outcome for change in record.changes)}  # fmt: skip
    rail_px = RAIL_PX * len(shapes)
    chart = Chart(_HEIGHT_PX + rail_px)
    divisor, unit = drawn_unit(record.metric)
    slots = max(sum(map(len, change.phases)) for change in record.changes)
    for at, (words, shape) in enumerate(_PHASES.items()):
        points = [
            (change.number, place, value / divisor)
            for change in record.changes
            for place, value in zip(_places(change, at, slots), change.phases[at], strict=True)
        ]
        chart.dots(
            [place for _, place, _ in points], [value for _, _, value in points],
            marker(shape, 6, 1), f"change %{{text}}, {words}: %{{y:.4g}}",
            text=[str(number) for number, _, _ in points],
        )  # fmt: skip
    rail = 1 - rail_px / (_HEIGHT_PX + rail_px)
    marks = [Unmeasured(c.number, c.outcome, f"{c.outcome}: {c.reason}") for c in record.changes]
    add_rail(chart, marks, shapes, rail, "change")
    values = {"domain": [0, rail - _GAP], "rangemode": "tozero", "title": {"text": unit}}
    chart.update_layout(yaxis=values)
    chart.update_xaxes(title="number of the change", showgrid=False, **_axis(record.changes))
    return chart


def _places(change: Tried, phase: int, slots: int) -> list[float]:
    """Return where the windows of a phase are on the axis of changes."""
    first = sum(map(len, change.phases[:phase]))
    count = len(change.phases[phase])
    left = change.number - _WIDTH / 2
    return [left + _WIDTH * (first + at + 0.5) / slots for at in range(count)]


def _axis(changes: Sequence[Tried]) -> dict[str, object]:
    last = changes[-1].number
    step = -(-last // _TICKS_WANTED)
    ticks = [number for number in range(1, last + 1) if number % step == 0 or step == 1]
    return {"tickvals": ticks, "range": [changes[0].number - 0.6, last + 0.6]}


def _table(record: Tuned) -> Html:
    heads = ("change", "options", "result", "before \N{RIGHTWARDS ARROW} with", "ratio (95 %)",
             "reason")  # fmt: skip
    rows = (_cells(change, record.metric) for change in record.changes)
    name = sentence_start(label(record.metric))
    return table(f"{name} in the windows before and with each change, and their ratio", heads, rows)


def _cells(change: Tried, metric: str) -> list[str]:
    values = [metric_value(metric, median(phase)) for phase in change.phases[:2] if phase]
    return [
        str(change.number),
        _options(change),
        element("strong", change.outcome),
        nowrap(" \N{RIGHTWARDS ARROW} ".join(values)),
        "none" if change.ratio is None else nowrap(str(change.ratio)),
        element("span", change.reason, class_="prose"),
    ]


def _options(change: Tried) -> Html:
    lines = join(
        element("div", element("code", name), f": {before} \N{RIGHTWARDS ARROW} {after}")
        for name, before, after in change.options
    )
    if len(change.options) <= _MOST_SHOWN:
        return lines
    return folded(counted(len(change.options), "option"), lines)
