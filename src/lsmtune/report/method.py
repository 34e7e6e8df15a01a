"""Section of a study's page that says how the trials were measured."""

from lsmtune.analysis.study_view import StudyView
from lsmtune.report.frame import section
from lsmtune.report.markup import Html, element

_LOADED = (
    "Each trial starts with an empty store. Each trial runs the workload, flushes the memtables, "
    "and waits until all flushes and compactions are done. The metrics write_amp, total_s and "
    "sustained_ops_s include the compactions after the workload. A config cannot improve the three "
    "metrics by postponing compactions. After the compactions, each trial runs a short test of "
    "reads, which measures whether a config slows down reads."
)
_PREPARED = (
    "Each trial runs the workload on a database that was built before. The database has no "
    "pending compactions when the workload starts."
)
_PROBED = (
    "After the workload, each trial flushes the memtables, waits until all flushes and compactions "
    "are done, and runs a short test of reads."
)
_BUILT = (
    "The workload of this study only reads. The metric write_amp and the other metrics of written "
    "bytes are measured while the database is built."
)
_DIRECT = (
    "Reads bypass the page cache of the operating system, so only the caches of the store make "
    "reads faster."
)
_WRITE_AMP = (
    "The metric write_amp is exact: the bytes that flushes and compactions write, divided by the "
    "bytes of user writes. The metric w_amp_table is the column W-Amp of RocksDB's statistics. "
    "RocksDB divides these written bytes by the size of the flushed files, which are "
    "compressed."
)
_READ_BACK = "For each run, lsmtune asks the engine which options the engine really used."
_MEMORY = (
    f"{_READ_BACK} At full size, memtables, caches, and index and filter blocks outside the block "
    "cache together stay within the memory limit, so a config cannot win by using more memory."
)
_MEMORY_OF_TRIAL = (
    f"{_READ_BACK} Memtables and block cache together stay within the memory limit, so a config "
    "cannot win by using more memory."
)
"""For studies whose memory limit applies at the scale of the trials."""
_CUT = (
    "lsmtune stopped (pruned) each trial that could no longer win. For a pruned trial, the chart "
    "shows the best objective that the trial could still have reached."
)
_PAIRS = (
    "Verification measures pairs of runs: one run of the winner and one of the baseline with the "
    "same workload seed. The order of the runs in a pair is random, and each pair has a new seed. "
    "Each pair gives a ratio winner / baseline for each metric. From the ratios of all pairs, "
    "lsmtune computes the mean ratio and its 95 % interval (Student's t, on logarithms). lsmtune "
    "claims a gain only if the whole interval of the objective is below 1 and all limits are "
    "kept."
)
_UNVERIFIED = "The winner is not verified in pairs of runs yet."
_GOALS = (
    "This study has several objectives. lsmtune claims a gain only if the whole interval of the "
    "mean of the objectives is below 1. In addition, no objective may be proven worse than the "
    "baseline."
)


def method_section(view: StudyView) -> Html:
    """Return how the study measures, in a few sentences."""
    load = view.workload
    sentences = (
        _PREPARED if load.preset.prepared else _LOADED,
        _PROBED if load.preset.prepared and load.kind == "write" else "",
        _DIRECT if load.direct_reads else "",
        _BUILT if load.kind == "read" else "",
        _WRITE_AMP,
        _MEMORY if view.all_sizes_scale else _MEMORY_OF_TRIAL,
        _CUT if view.cut else "",
        _PAIRS if view.verification else "",
        _UNVERIFIED if view.best_trial and not view.verification else "",
        _GOALS if view.objective.pareto and view.verification else "",
    )
    paragraphs = (element("p", text) for text in sentences if text)
    return section("Method", "How the trials were measured", *paragraphs)
