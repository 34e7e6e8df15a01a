"""A study with column families, from its rows to page, table, file and importance."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.importance import runs_of
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.screened import screened_lines
from lsmtune.api.export import deployment, exported
from lsmtune.batch import read_batch
from lsmtune.cli.result_lines import summary_lines
from lsmtune.engines.myrocks.options import read_base
from lsmtune.engines.rocksdb.options import own_options
from lsmtune.errors import UserError
from lsmtune.report.page import render_page
from lsmtune.report.study_document import show_document
from lsmtune.spec import catalogue_of, make_spec
from lsmtune.store.home import Home
from lsmtune.study.record import read_record
from lsmtune.study.screen import screen
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify_contenders
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec

pytestmark = pytest.mark.slow

OPTIONS = own_options(
    (Path(__file__).parents[1] / "data" / "captured" / "myrocks-6.29-OPTIONS").read_text()
)
LOAD = {"name": "tpcc", "warehouses": 1, "families": True}


def planted(trial: TrialSpec) -> TrialResult:
    """Small blocks of the stock gain, whatever the other families have."""
    block = float(trial.settings["cf_stock.block_size"]) / 4096
    noise = 1 + 0.001 * (trial.seed % 7)
    cost = (1 + 0.1 * block) * noise
    return measured(
        write_amp=cost, live_sst_bytes=1e8 * cost, total_s=10 * cost, tpmc=9000 / cost,
        read_amp=cost,
    )  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home with a study whose winner is verified."""
    folder = tmp_path_factory.mktemp("families")
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as opened:
        patch.setattr(tempfile, "tempdir", str(folder))
        given = {
            "study": "fam", "workload": LOAD, "trials": 8, "seed": 7, "optimizer": "random",
            "finalists": 2, "repeats": 1, "max_pairs": 6,
        }  # fmt: skip
        with open_study(opened, make_spec(given, "here"), engine(), lambda _: None) as study:
            run_search(study)
            verify_contenders(study)
        yield opened


def engine() -> ScriptedEngine:
    return ScriptedEngine(planted, "myrocks", OPTIONS)


def test_families_are_searched_by_default_and_the_study_is_told(home: Home) -> None:
    assert home.study("fam").spec["knobs"] == "families"
    view = read_study(home, "fam")
    assert view.best_trial is not None
    assert any(change.knob.name == "cf_stock.block_size" for change in view.best_trial.changes)
    assert "cf_stock" in render_page(view).replace("<wbr>", "")
    assert show_document(view)["best"]["config"]["cf_stock.block_size"]
    assert list(summary_lines(view, claim_of(view)))


def test_the_file_to_deploy_holds_what_was_tuned_alone(home: Home) -> None:
    view = read_study(home, "fam")
    files = deployment(read_record(home, view.name), claim_of(view))
    assert files.name == "my.cnf"
    told = read_base(files.options.text)
    assert "cf_stock={" in told["override_cf_options"]
    assert set(told) <= {"default_cf_options", "override_cf_options", "block_cache_size"}
    assert files.back.text.startswith("# lsmtune, study fam: ")


def test_a_users_file_keeps_every_other_line(home: Home, tmp_path: Path) -> None:
    theirs = tmp_path / "my.cnf"
    theirs.write_text("[client]\npassword=secret\n[mysqld]\nport=3306\n")
    record, claim = read_record(home, "fam"), claim_of(read_study(home, "fam"))
    text = exported(record, claim, "my.cnf", theirs, back=False).text
    assert "password=secret\n[mysqld]\nport=3306\n" in text
    assert "rocksdb_override_cf_options=" in text
    with pytest.raises(UserError, match=r"form = options.*myrocks.*my.cnf"):
        exported(record, claim, "options", None, back=False)


def test_a_screening_of_families_ranks_their_knobs(home: Home, tmp_path: Path) -> None:
    table = {"replicated": 2, "runs": 2}
    given = {
        "study": "many", "workload": LOAD, "trials": 32, "screen": table, "repeats": 0,
        "pairs": 0, "early_stop": False,
    }  # fmt: skip
    spec = make_spec(given, "here")
    assert spec.screen is not None
    with open_study(home, spec, engine(), lambda _: None) as study:
        screen(study, spec.screen)
    lines = screened_lines(home, "many")
    runs = runs_of(lines, catalogue_of(spec.engine, spec.workload))
    assert "cf_stock.block_size" in [factor.name for factor in runs.design.factors]
    file = tmp_path / "runs.jsonl"
    file.write_text("".join(f"{line.to_json()}\n" for line in lines))
    assert [line.knobs for line in read_batch(file)] == [line.knobs for line in lines]
