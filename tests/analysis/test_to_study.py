"""The study that is written of a LOG runs."""

import tomllib
from functools import cache
from pathlib import Path

import pytest

from fakes.rig import Rig
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.analysis.inspect.study import study_files
from lsmtune.spec import make_spec
from lsmtune.trials import Status

DATA = Path(__file__).parents[1] / "data"
LOGS = sorted([*DATA.glob("planted/*.gz"), *DATA.glob("captured/**/*LOG.gz")])
OLD = """2016/01/06-19:35:00.165673 7fcb0468c780 RocksDB version: 3.13.1
2016/01/06-19:35:00.165702 7fcb0468c780 Options.comparator: leveldb.BytewiseComparator
2016/01/06-19:35:00.165726 7fcb0468c780 Options.write_buffer_size: 4194304
2016/01/06-19:35:00.165740 7fcb0468c780 Options.compression: 1
2016/01/06-19:35:00.165775 7fcb0468c780 Options.compression_opts.level: -1
2016/01/06-19:35:00.165776 7fcb0468c780 Options.compaction_style: 0
2016/01/06-19:35:00.165777 7fcb0468c780 Options.compaction_pri: 1
"""
"""Numbers where later versions have names."""


@cache
def inspected(path: Path) -> Inspection:
    return inspect_path(path)


def check_that_it_runs(log: Inspection, folder: Path) -> None:
    options = folder / "LOG.OPTIONS"
    study, text = study_files(log, str(options))
    options.write_text(text)
    spec = make_spec(tomllib.loads(study), "study")
    rig = Rig("db_bench", folder / "rig", spec)
    load = spec.workload.model_copy(update={"num": 1000})
    outcome = rig.run(workload=load)
    assert outcome.result.status is Status.COMPLETE, outcome.result.reason


@pytest.mark.db_bench
@pytest.mark.parametrize("path", LOGS, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_a_written_study_runs(path: Path, tmp_path: Path) -> None:
    check_that_it_runs(inspected(path), tmp_path)


@pytest.mark.db_bench
def test_a_study_of_an_old_log_runs(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(OLD)
    check_that_it_runs(inspect_path(path), tmp_path)
