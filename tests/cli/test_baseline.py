"""What a user is told about the options of his file that trials do not use."""

from lsmtune.api.sweep import version_remarks
from lsmtune.report.text.baseline_text import baseline_lines
from lsmtune.trials import Base

BASE = Base(
    options="", settings={}, notes=("a remark",),
    left_out=("wal_dir = /wal: own folder", "info_log_level = WARN_LEVEL: complete LOG"),
)  # fmt: skip


def test_each_option_that_is_left_out_is_named_once() -> None:
    for verbose in (False, True):
        text = "\n".join(baseline_lines(BASE, verbose=verbose))
        assert [text.count(name) for name in ("a remark", "wal_dir", "info_log_level")] == [1] * 3
        assert ("WARN_LEVEL" in text) is verbose


def test_an_experiment_on_versions_has_remarks_on_the_baseline_of_each() -> None:
    versions = {"8.10.2": Base(options="", settings={}), "11.8.1": BASE}
    base = BASE.model_copy(update={"versions": versions})
    assert [*version_remarks(base)] == [
        f"RocksDB 11.8.1: {line}" for line in baseline_lines(BASE, verbose=False)
    ]
    assert [*version_remarks(BASE)] == []
