"""Charts of a LOG: stalls and jobs over time, files per level, bytes written per level."""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from math import inf
from typing import NamedTuple

from lsmtune.analysis.inspect.inspection import Inspection, LevelLine
from lsmtune.metrics.log_jobs import Job, TreeShape
from lsmtune.report.canvas import Chart, Key, Shape, colour, line_look
from lsmtune.report.text.words import number, quantity
from lsmtune.units import MIB

_ROW_PX = 26
_HEIGHT_PX = 240
MAX_BARS = 1000
"""Maximum number of bars of one kind in a chart; the shortest are left out."""
_MAX_POINTS = 600
_DIGITS = 6
_NAME_CHARS = 24
_TIME_UNITS = ((300.0, 1.0, "s"), (3 * 3600.0, 60.0, "min"), (inf, 3600.0, "h"))
_STOPPED = Shape("", "■", "base")
_DELAYED = Shape("/", "▨", "base")
_FLUSH = Shape("/", "▨", "soft")
_COMPACTION = Shape("", "■", "best")
STALL_KEYS = [Key(_STOPPED, "writes stopped"), Key(_DELAYED, "writes slowed down")]
JOB_KEYS = [Key(_FLUSH, "flush"), Key(_COMPACTION, "compaction")]


class _Axis(NamedTuple):
    """Time since the start of the LOG, in a unit that suits its length."""

    begin_micros: int
    micros_per_unit: float
    unit: str

    def at(self, micros: int) -> float:
        return (micros - self.begin_micros) / self.micros_per_unit

    @property
    def title(self) -> str:
        return f"{self.unit} since the start of the LOG"


def _axis(log: Inspection) -> _Axis:
    span_s = log.span_s or 0.0
    seconds, unit = next(
        (seconds, unit) for limit_s, seconds, unit in _TIME_UNITS if span_s <= limit_s
    )
    return _Axis(log.begin_micros or 0, seconds * 1e6, unit)


def _end(log: Inspection, axis: _Axis) -> float:
    """Return the time of the last event; all charts of the LOG end there."""
    moments = [
        *(job.finished_micros for job in log.jobs if job.finished_micros),
        *(stall.end_micros for stall in log.stalls),
        *(shape.micros for shape in log.shapes),
        *(timed.micros for timed in log.dumps),
    ]
    last = max(moments, default=log.end_micros or 0)
    return axis.at(min(last, log.end_micros or last)) or 1.0


class _Bar(NamedTuple):
    row: int
    begin: float
    length: float
    label: str


def stall_plot(log: Inspection, bars: int = MAX_BARS) -> Chart:
    """Draw one row per cause, with a bar for each stall."""
    axis = _axis(log)
    causes = list(dict.fromkeys(cause for _, cause in log.stall_seconds()))
    chart = Chart(_ROW_PX * (len(causes) + 1))
    for kind, shape in (("stop", _STOPPED), ("delay", _DELAYED)):
        drawn = [
            _Bar(causes.index(stall.cause), axis.at(stall.begin_micros),
                 stall.duration_s * 1e6 / axis.micros_per_unit,
                 f"{stall.cause}: {quantity(stall.duration_s, 's')}")
            for stall in log.stalls if stall.kind == kind
        ]  # fmt: skip
        _add_bars(chart, drawn, shape, bars, _end(log, axis))
    _finish(chart, log, causes)
    return chart


def job_plot(log: Inspection, bars: int = MAX_BARS) -> Chart:
    """Draw one row per level, with a bar for each flush or compaction into it."""
    axis = _axis(log)
    jobs = [job for job in log.jobs if job.started_micros and job.finished_micros]
    deepest = max((job.output_level for job in jobs), default=0)
    chart = Chart(_ROW_PX * (deepest + 2))
    for kind, shape in (("flush", _FLUSH), ("compaction", _COMPACTION)):
        drawn = [_job_bar(job, axis) for job in jobs if job.kind == kind]
        _add_bars(chart, drawn, shape, bars, _end(log, axis))
    _finish(chart, log, [f"into L{level}" for level in range(deepest + 1)])
    return chart


def _job_bar(job: Job, axis: _Axis) -> _Bar:
    written = "" if job.written_bytes is None else f", {quantity(job.written_bytes, 'bytes')}"
    return _Bar(
        job.output_level, axis.at(job.started_micros or 0),
        (job.duration_s or 0) * 1e6 / axis.micros_per_unit,
        f"{job.reason or job.kind}{written}, {quantity(job.duration_s or 0, 's')}",
    )  # fmt: skip


def undrawn(kinds: Iterable[str], bars: int = MAX_BARS) -> int:
    """Return how many bars are not drawn, the shortest of each kind."""
    return sum(max(0, count - bars) for count in Counter(kinds).values())


def _rounded(values: Iterable[float]) -> list[float]:
    return [float(f"{value:.{_DIGITS}g}") for value in values]


def _add_bars(chart: Chart, bars: Sequence[_Bar], shape: Shape, limit: int, end: float) -> None:
    drawn = sorted(bars, key=lambda bar: -bar.length)[:limit]
    chart.add_bar(
        orientation="h",
        y=[bar.row for bar in drawn],
        x=_rounded(max(0.0, min(bar.length, end - bar.begin)) for bar in drawn),
        base=_rounded(bar.begin for bar in drawn),
        width=0.7,
        marker={
            "color": colour(shape.colour),
            "line": {"width": 0.5, "color": colour(shape.colour)},
            "pattern": {"shape": shape.symbol, "fillmode": "replace"},
        },
        text=[escape(bar.label) for bar in drawn],
        textposition="none",
        hovertemplate="%{text}<extra></extra>",
    )


def _finish(chart: Chart, log: Inspection, rows: Sequence[str]) -> None:
    axis = _axis(log)
    chart.update_layout(barmode="overlay")
    chart.update_xaxes(title=axis.title, range=[0, _end(log, axis)])
    chart.name_rows([escape(row) for row in rows])


def shape_keys(log: Inspection) -> list[Key]:
    """Return one line per level that ever had files."""
    return [Key(line_look(level)[0], f"L{level}") for level in _used_levels(log)]


def shape_plot(log: Inspection, points: int = _MAX_POINTS) -> Chart:
    """Draw the number of files per level after each flush and each compaction."""
    axis, shapes = _axis(log), main_shapes(log)
    step = max(1, -(-len(shapes) // min(points, _MAX_POINTS)))
    kept = [*shapes[::step], *shapes[-1:]]
    end = _end(log, axis)
    times = _rounded([*(axis.at(shape.micros) for shape in kept), end])
    chart = Chart(_HEIGHT_PX, bottom=56)
    for level in _used_levels(log):
        look = line_look(level)
        counts = [_files(shape, level) for shape in kept]
        chart.line(
            times, [*counts, counts[-1]], look, f"L{level}: %{{y}} files", size=5,
            mode="lines+markers" if len(kept) <= 60 else "lines",  # noqa: PLR2004 - else a smear
            line={"shape": "hv"},
        )  # fmt: skip
        chart.add_annotation(
            x=end, y=counts[-1], text=f"L{level}", showarrow=False,
            xanchor="left", xshift=4, font={"color": colour(look[0].colour), "size": 12},
        )  # fmt: skip
    chart.update_xaxes(title=axis.title, range=[0, end])
    chart.update_yaxes(title="files", rangemode="tozero")
    chart.update_layout(margin={"r": 32})
    return chart


def _files(shape: TreeShape, level: int) -> int:
    return shape.files[level] if level < len(shape.files) else 0


def main_shapes(log: Inspection) -> list[TreeShape]:
    """Return the shapes of the column family that wrote most."""
    main = log.main_family
    return [shape for shape in log.shapes if (shape.family or "default") == main]


def _used_levels(log: Inspection) -> list[int]:
    shapes = main_shapes(log)
    deepest = max((len(shape.files) for shape in shapes), default=0)
    return [
        level
        for level in range(deepest)
        if any(level < len(shape.files) and shape.files[level] for shape in shapes)
    ]


def written_plot(log: Inspection) -> Chart:
    """Draw one bar per level: bytes written into it, as a multiple of the bytes of clients."""
    levels = [level for level in log.levels if level.family == log.main_family]
    ingest = _clients_bytes(log, levels)
    divisor = ingest or MIB
    values = [(level.write_bytes or 0) / divisor for level in levels]
    chart = Chart(_ROW_PX * (len(levels) + 1))
    chart.row_bars([level.level for level in levels], values, map(number, values))
    unit = "bytes written per byte of the clients" if ingest else "MiB"
    chart.update_xaxes(title=unit, range=[0, 1.15 * max(values, default=1)])
    return chart


def written_per_byte(log: Inspection) -> float | None:
    """Return the bytes that `written_plot` shows in all, per byte of the clients; None if unknown.

    None where the levels of other column families are not drawn.
    """
    levels = [level for level in log.levels if level.family == log.main_family]
    ingest = _clients_bytes(log, levels)
    if not ingest or len(levels) < len(log.levels):
        return None
    return sum(level.write_bytes or 0 for level in levels) / ingest


def _clients_bytes(log: Inspection, levels: Sequence[LevelLine]) -> int | None:
    """Return the bytes of clients in the period of the levels' bytes, None if unknown."""
    if any(level.is_rough for level in levels):
        return log.totals.ingest_bytes
    flushed = sum(job.user_bytes or 0 for job in log.jobs if job.kind == "flush")
    return flushed or log.totals.ingest_bytes


def totals_plot(log: Inspection) -> Chart:
    """Draw the bytes written by clients, flushes and compactions."""
    totals = {
        "clients": log.totals.ingest_bytes,
        "flushes": log.totals.flush_write_bytes,
        "compactions": log.totals.compact_write_bytes,
    }
    known = {name: value for name, value in totals.items() if value is not None}
    chart = Chart(_ROW_PX * (len(known) + 1))
    texts = (quantity(value, "bytes") for value in known.values())
    chart.row_bars([*known], _rounded(value / MIB for value in known.values()), texts)
    most = max(known.values(), default=MIB) / MIB
    chart.update_xaxes(title="MiB written", range=[0, 1.2 * most])
    return chart


def rate_plot(log: Inspection) -> Chart:
    """Draw the write rate between two statistics dumps."""
    axis = _axis(log)
    points = [timed for timed in log.dumps if timed.dump.ingest_bytes is not None]
    times, rates = [], []
    for earlier, later in pairwise(points):
        passed = later.dump.uptime_s - earlier.dump.uptime_s
        if passed > 0:
            grown = (later.dump.ingest_bytes or 0) - (earlier.dump.ingest_bytes or 0)
            times.append(axis.at(earlier.micros))
            rates.append(max(0.0, grown) / passed / MIB)
    if rates:
        times.append(axis.at(points[-1].micros))
        rates.append(rates[-1])
    chart = Chart(_HEIGHT_PX, bottom=56)
    line = {"color": colour("best"), "width": 2, "shape": "hv"}
    hover = "%{y:.3g} MiB/s<extra></extra>"
    chart.add_scatter(
        x=_rounded(times), y=_rounded(rates), mode="lines", line=line, hovertemplate=hover
    )
    chart.update_xaxes(title=axis.title, range=[0, _end(log, axis)])
    chart.update_yaxes(title="MiB/s", rangemode="tozero")
    return chart


def compared_plot(logs: Sequence[Inspection]) -> Chart:
    """Draw the write amplification of each LOG that contains it."""
    chart = Chart(_ROW_PX * (len(logs) + 1), top=8, bottom=32)
    values = [log.totals.write_amp for log in logs]
    texts = ("" if value is None else number(value) for value in values)
    chart.row_bars([_short(log.name) for log in logs], values, texts, width=0.6)
    chart.update_xaxes(range=[0, 1.15 * max((v for v in values if v is not None), default=1)])
    return chart


def _short(name: str) -> str:
    """Return the end of a long name, which leaves room for the chart."""
    kept = name if len(name) <= _NAME_CHARS else f"\N{HORIZONTAL ELLIPSIS}{name[1 - _NAME_CHARS :]}"
    return escape(kept)
