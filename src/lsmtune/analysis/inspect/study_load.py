"""The workload that is most like the load of a LOG, and the rate of the LOG."""

from collections.abc import Mapping
from typing import NamedTuple

from lsmtune.analysis.inspect.inspection import Inspection, Load
from lsmtune.analysis.inspect.rule import FIFO
from lsmtune.workloads import WORKLOADS

HARDLY_PERCENT = 5.0
"""Share of reads below which a workload has none."""

_NEARLY_PERCENT = 95.0
_LITTLE = 0.05
"""Share of the bytes of other column families that does not change a rate much."""

_WHOLE_FROM = 100
"""Rates from here on are written without decimals."""

_MEAN = "The rate is a mean. If your store has a higher rate in busy hours, enter that rate."
_ALL_FAMILIES = (
    "the rate is that of all column families, and others have much data, too; enter the rate of "
    "the tuned one"
)
_FILLS = (
    "The tree of the LOG was empty at first, so trials fill a store and have no rate.",
    "To measure a running store at the rate of the LOG instead, write these keys:",
)
_ENTER = (
    "the file contains no rate of writes; enter as rate the operations per second of your program, "
    "reads and writes together"
)


class StudyRate(NamedTuple):
    """The key `rate` of a study file: its text, its comment, and the lines of comment above it.

    Without a text, trials have no rate, or the user has to enter it. `remark` says what to check.
    """

    text: str | None = None
    comment: str = ""
    above: tuple[str, ...] = ()
    remark: str | None = None


def similar_workload(load: Load) -> tuple[str, Mapping[str, float]]:
    """Return the workload that is most alike, by the share of reads, and the shares of a mix."""
    percent = load.read_percent or 0.0
    if percent < HARDLY_PERCENT:
        if load.range_deletes:
            return "rangedelete", {}
        return ("fillrandom" if load.from_empty else "overwrite"), {}
    gets, seeks = load.gets_s or 0.0, load.seeks_s or 0.0
    if percent > _NEARLY_PERCENT:
        return ("readrandom" if gets >= seeks else "scanshort"), {}
    whole = gets + seeks + (load.writes_s or 0.0)
    if not whole:  # counts without a time
        gets, whole = percent, 100.0
    get, scan = round(gets / whole, 2), round(seeks / whole, 2)
    return "mix", {"get": get, "put": round(1 - get - scan, 2), "scan": scan}


def study_rate(log: Inspection) -> StudyRate:
    """Return the rate of the whole workload: writes, and the reads if the workload has them.

    It is that of the LOG, because rates do not depend on the scale.
    """
    load, (workload, shares) = log.load, similar_workload(log.load)
    is_fifo = log.option("compaction_style") in FIFO
    if is_fifo or not (WORKLOADS[workload].runs_at_rate or workload == "fillrandom"):
        return StudyRate()
    reads = (load.gets_s or 0.0) + (load.seeks_s or 0.0) if shares else 0.0
    text = _digits((load.writes_s or 0.0) + reads)
    if float(text) == 0:
        return StudyRate(above=(_sentence(_ENTER), 'rate = "12000"'), remark=_ENTER)
    comment = _comment(log, with_reads=bool(shares))
    if workload == "fillrandom":
        return StudyRate(above=(*_FILLS, f'name = "overwrite", rate = "{text}"  # {comment}'))
    remark = _ALL_FAMILIES if _others_share(log) > _LITTLE else None
    also = () if remark is None else (_sentence(remark),)
    return StudyRate(text, comment, (_MEAN, *also), remark)


def _others_share(log: Inspection) -> float:
    """Return the share of the bytes of the column families that a study does not tune."""
    sizes = {one.name: one.written_bytes or one.size_bytes or 0 for one in log.family_sums}
    whole = sum(sizes.values())
    return 1 - sizes.get(log.main_family, 0) / whole if whole else 0.0


def _sentence(remark: str) -> str:
    return f"{remark[0].upper()}{remark[1:]}."


def _comment(log: Inspection, *, with_reads: bool) -> str:
    """Return the rates of each kind, and the seconds of the LOG that they are of."""
    load = log.load
    size = "" if load.ingest_bytes_s is None else f" ({load.ingest_bytes_s / 1e6:.3g} MB/s)"
    kinds = [f"{_digits(load.writes_s or 0.0, ',')} writes/s{size}"]
    if with_reads:
        kinds += [f"{_digits(load.gets_s or 0.0, ',')} gets/s",
                  f"{_digits(load.seeks_s or 0.0, ',')} scans/s"]  # fmt: skip
    until = " until the last statistics dump" if log.dumps else ""
    unknown = "; reads are unknown" if load.read_percent is None else ""
    return f"{', '.join(kinds)}: mean of {load.span_s or 0:,.0f} s of the LOG{until}{unknown}"


def _digits(rate: float, comma: str = "") -> str:
    """Return the rate as a study file has it: without an exponent."""
    return f"{rate:{comma}.0f}" if rate >= _WHOLE_FROM else f"{round(rate, 2):g}"
