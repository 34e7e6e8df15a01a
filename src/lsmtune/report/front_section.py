"""The section of a study with several goals: the front, and what picking a trial of it means."""

from lsmtune.report.canvas import Key
from lsmtune.report.frame import picture, section
from lsmtune.report.front import Front, Pick, PickedMetric
from lsmtune.report.front_plot import front_keys, front_plot
from lsmtune.report.markup import Html, code, element, join, table
from lsmtune.report.sections import measured_text, options_table
from lsmtune.report.words import TIMES, number, unit_text

_ALIKE = 0.05
"""Medians of a few runs that differ by less are not called better or worse."""


def front_section(record: Front) -> Html:
    """The front as a picture, a list to pick from, and a panel for each of its trials.

    All panels are in the page; its script hides those that are not picked.
    """
    keys: list[Key] = front_keys(record)
    described = f"{record.title}. {record.see}"
    return section(
        "Several goals",
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
        element("label", "Take ", for_="pick"),
        element("select", *choices, id="pick", aria_controls="picks"),
        class_="pick",
    )


def _panel(pick: Pick) -> Html:
    changed = options_table(pick.options, f"trial {pick.number}") if pick.options else ""
    heads = ("metric", "unit", "base", f"trial {pick.number}", "trial / base")
    rows = map(_cells, pick.metrics)
    return element(
        "article",
        element("h3", pick.summary),
        element("p", "To get its options:", class_="note"),
        element(
            "p",
            element("code", pick.command),
            element("button", "Copy", type="button"),
            class_="command",
        ),
        changed or element("p", "It has the base's options."),
        table("Its medians in the search beside the base's, without intervals", heads, rows),
        data_trial=str(pick.number),
    )


def _cells(row: PickedMetric) -> list[str]:
    unit = row.metric.unit
    values = (measured_text(value, unit) for value in (row.base, row.trial))
    return [code(row.metric.name), unit_text(unit), *values, _ratio(row)]


def _ratio(row: PickedMetric) -> Html | str:
    """The ratio and which way it went, in words: no colour tells."""
    if row.gain is None:
        return "none"
    way = "better" if row.gain < 1 - _ALIKE else "worse" if row.gain > 1 + _ALIKE else "alike"
    ratio = number(row.trial / row.base)
    return element("span", join([f"{ratio} {TIMES}, {way}"]), class_="number")
