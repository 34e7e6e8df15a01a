"""Section of a study's page: how baseline and winner ran during the window of a trial."""

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple

from lsmtune.analysis.windows import Windows
from lsmtune.metrics.measurement import Moment
from lsmtune.report.canvas import Chart, line_keys, line_look, marker, picture
from lsmtune.report.markup import Html, details, element, section, table
from lsmtune.report.page_texts import PageTexts
from lsmtune.report.text.words import number, unbroken
from lsmtune.units import MIB

_TEXTS = PageTexts(__package__, "window")
_CHART_PX = 110
_GAP = 0.09
"""Room for the name of a chart, as a share of the height of all three."""
_MOST_MARKS = 9
_SAME_RATE = 0.02


class _Quantity(NamedTuple):
    """What one of the charts shows; `step`: the value stays until it changes."""

    name: str
    unit: str
    value: Callable[[Moment], float]
    from_zero: bool = True
    step: bool = False

    @property
    def title(self) -> str:
        """Name and unit."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


_RATE = _Quantity("write rate", "MB/s", lambda moment: moment.write_bytes_s / 1e6)
_FILES = _Quantity("files of level 0", "", lambda moment: moment.level0_files, step=True)
_SPACE = _Quantity("live space", "MiB", lambda moment: moment.live_bytes / MIB, from_zero=False)
_QUANTITIES = (_RATE, _FILES, _SPACE)


def window_section(found: Windows) -> Html:
    """Return the course of the window as three charts with one axis of time, and a table."""
    title = _title(found)
    see = _TEXTS.shown(
        {"pair": found.is_pair, "no_pair": not found.is_pair, "see": True},
        best_space=_mean_text(_SPACE, found.best), base_space=_mean_text(_SPACE, found.base),
    )  # fmt: skip
    text = " ".join(see)
    drawn = picture("window", _plot(found), line_keys(("winner", "baseline")), f"{title}. {text}")
    return section(
        "The course of the window", unbroken(title), element("p", unbroken(text)), drawn,
        _numbers(found),
    )  # fmt: skip


def _title(found: Windows) -> str:
    rates = [_mean(_RATE, window) for window in (found.best, found.base)]
    same = abs(rates[0] - rates[1]) <= _SAME_RATE * max(rates)
    return _TEXTS.text(
        "same_rate" if same else "other_rate",
        best_rate=_mean_text(_RATE, found.best), base_rate=_mean_text(_RATE, found.base),
        best_files=_mean_text(_FILES, found.best), base_files=_mean_text(_FILES, found.base),
    )  # fmt: skip


def _mean(quantity: _Quantity, window: Sequence[Moment]) -> float:
    """Return the mean over time; a moment stands for the time since the moment before."""
    seconds = [moment.second for moment in window]
    lengths = [end - begin for begin, end in zip((0.0, *seconds), seconds, strict=False)]
    return fmean(map(quantity.value, window), lengths)


def _mean_text(quantity: _Quantity, window: Sequence[Moment]) -> str:
    return f"{number(round(_mean(quantity, window), 1))} {quantity.unit}".rstrip()


def _plot(found: Windows) -> Chart:
    """Return the charts one above the other; the axis of the lowest one is `y`."""
    chart = Chart(_CHART_PX * len(_QUANTITIES))
    height = 1 / len(_QUANTITIES)
    for row, quantity in enumerate(reversed(_QUANTITIES)):
        axis, low, high = f"y{row + 1}" if row else "y", row * height, (row + 1) * height - _GAP
        shown = {**chart.layout.yaxis.to_plotly_json(), "domain": [low, high], "nticks": 4}
        if quantity.from_zero:
            shown["rangemode"] = "tozero"
        chart.update_layout({f"yaxis{axis[1:]}": shown})
        chart.add_annotation(
            text=f"<b>{quantity.title}</b>", x=0, y=high, xref="paper", yref="paper",
            xanchor="left", yanchor="bottom", showarrow=False,
        )  # fmt: skip
        for place, window in reversed(list(enumerate((found.best, found.base)))):
            look = line_look(place)
            chart.line(
                [moment.second for moment in window], [quantity.value(one) for one in window],
                look, f"{('winner', 'baseline')[place]}, %{{x:.2f}} s: %{{y:.3g}} {quantity.unit}",
                marker={**marker(look[0], 7), "maxdisplayed": _MOST_MARKS},
                line={"shape": "hv" if quantity.step else "linear"}, yaxis=axis,
                cliponaxis=False,  # a mark at 0 is on the axis
            )  # fmt: skip
    last = max(window[-1].second for window in (found.base, found.best))
    chart.update_xaxes(title="seconds since the start of the window", range=[0, last])
    return chart


def _numbers(found: Windows) -> Html:
    """Return mean and largest value of each quantity, for readers without the charts."""
    heads = ("quantity", "baseline, mean", "winner, mean", "baseline, largest", "winner, largest")
    sides = (found.base, found.best)
    rows = (
        [
            element("span", one.title, class_="prose"),
            *(number(_mean(one, window)) for window in sides),
            *(number(max(map(one.value, window))) for window in sides),
        ]
        for one in _QUANTITIES
    )
    return details("The window as a table", table("Means over the time of the window", heads, rows))
