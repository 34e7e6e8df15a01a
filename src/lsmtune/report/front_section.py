"""Section of a study with several objectives: the front and its trials."""

from lsmtune.report.canvas import Key
from lsmtune.report.frame import picture, section
from lsmtune.report.front import Front, Pick, PickedMetric
from lsmtune.report.front_plot import front_keys, front_plot
from lsmtune.report.markup import Html, code, element, join, table
from lsmtune.report.sections import command, measured_text, options_table
from lsmtune.report.text.words import TIMES, number, unit_text

_ALIKE = 0.05
"""Medians of a few runs that differ by less are called similar."""


def front_section(record: Front) -> Html:
    """Return the front as a chart, a list to choose from, and a panel per trial.

    The page contains all panels; its script shows the chosen one.
    """
    keys: list[Key] = front_keys(record)
    described = f"{record.title}. {record.see}"
    return section(
        "Several objectives",
        record.title,
        element("p", record.see),
        picture("front", front_plot(record), keys, described, record.axis),
        _list(record) if record.picks else "",
        element("div", *map(_panel, record.picks), id="picks") if record.picks else "",
    )


def _list(record: Front) -> Html:
    choices = (
        element(
            "option", pick.summary, value=str(pick.number),
            **({"selected": ""} if pick.number == record.chosen else {}),
        )
        for pick in record.picks
    )  # fmt: skip
    return element(
        "p",
        element("label", "Show ", for_="pick"),
        element("select", *choices, id="pick", aria_controls="picks"),
        class_="pick",
    )


def _panel(pick: Pick) -> Html:
    changed = options_table(pick.options, f"trial {pick.number}") if pick.options else ""
    heads = ("metric", "unit", "baseline", f"trial {pick.number}", "trial / baseline")
    rows = map(_cells, pick.metrics)
    return element(
        "article",
        element("h3", pick.summary),
        element(
            "p", f"Export the options of trial {pick.number} with this command:", class_="note"
        ),
        command(pick.command),
        changed or element("p", f"Trial {pick.number} has the same options as the baseline."),
        table("Medians of trial and baseline in the search, not verified", heads, rows),
        data_trial=str(pick.number),
    )


def _cells(row: PickedMetric) -> list[str]:
    unit = row.metric.unit
    values = (measured_text(value, unit) for value in (row.base, row.trial))
    return [code(row.metric.name), unit_text(unit), *values, _ratio(row)]


def _ratio(row: PickedMetric) -> Html | str:
    """Return the ratio and its direction in words."""
    if row.gain is None:
        return "none"
    way = "better" if row.gain < 1 - _ALIKE else "worse" if row.gain > 1 + _ALIKE else "similar"
    ratio = number(row.trial / row.base)
    return element("span", join([f"{ratio} {TIMES}, {way}"]), class_="number")
