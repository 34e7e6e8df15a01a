"""What is exported is what was measured: the values that a preset begins with are part of it."""

import itertools
import re
import tempfile
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from fakes.studies import open_study
from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.read_study import read_study
from lsmtune.analysis.study_view import StudyView
from lsmtune.api import export
from lsmtune.api.export import deployment
from lsmtune.api.results import write_results
from lsmtune.api.study_result import read_result
from lsmtune.cli.main import run
from lsmtune.engines.base import EngineFacts, OwnBase
from lsmtune.engines.rocksdb.options import read_settings
from lsmtune.errors import UserError
from lsmtune.metrics.options_file import parse_options
from lsmtune.progress import Observer
from lsmtune.report.figures import options
from lsmtune.spec import make_spec
from lsmtune.store.home import Home
from lsmtune.study.record import read_record
from lsmtune.study.search import run_search
from lsmtune.study.verify import verify_contenders
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import Base, Role, TrialResult, TrialSpec

CAPTURED = Path(__file__).parents[1] / "data" / "captured" / "rocksdb-7.8.3-level"
OPTIONS = (CAPTURED / "OPTIONS").read_text().replace("bloomfilter:10:false", "nullptr")
"""As the scripted base is: without filters."""
BEGUN = ("cache_index_and_filter_blocks", "pin_l0_filter_and_index_blocks_in_cache")


def planted(trial: TrialSpec) -> TrialResult:
    """Large blocks gain."""
    return measured(write_amp=65536 / float(trial.settings["block_size"]))


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A study whose preset begins with values of its own, and one that varies the load too."""
    folder = tmp_path_factory.mktemp("begun")
    given = {
        "objective": "write_amp", "optimizer": "random",
        "base_runs": 1, "trials": 8, "repeats": 0, "pairs": 0,
    }  # fmt: skip
    presets = {"s": "autotikv-writes", "varied": "jin2022-published"}
    with pytest.MonkeyPatch.context() as patch, Home(folder / "home", create=True) as opened:
        patch.setattr(tempfile, "tempdir", str(folder))
        engine = ScriptedEngine(planted, options=OPTIONS)
        for name, knobs in presets.items():
            spec = make_spec({**given, "study": name, "knobs": knobs}, "here")
            with open_study(opened, spec, engine, lambda _: None) as study:
                run_search(study)
        yield opened


def exported(home: Home, view: StudyView, form: str, base: Path | None, *, back: bool) -> str:
    return export.exported(read_record(home, view.name), claim_of(view), form, base, back=back).text


def table(text: str) -> dict[str, str]:
    sections = parse_options(text).sections
    return next(dict(v) for k, v in sections.items() if k.startswith("TableOptions"))


def test_what_a_preset_begins_with_is_deployed_and_taken_back(home: Home) -> None:
    files = deployment(read_record(home, "s"), claim_of(read_study(home, "s")))
    ran = [trial.spec.settings for trial in home.trials(home.study("s"))]
    assert all(settings[name] is True for settings in ran for name in BEGUN)
    deployed, before, own = table(files.options.text), table(files.back.text), table(OPTIONS)
    for name in BEGUN:
        assert deployed[name] == "true"
        assert before[name] == own[name] == "false"
    assert "bloomfilter:10" in deployed["filter_policy"]
    assert before["filter_policy"] == own["filter_policy"] == "nullptr"
    assert before["block_size"] == own["block_size"]
    for file in (files.options, files.back):
        assert any(f"{BEGUN[0]} = True" in line for line in comments(file.text))


def comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("#")]


def test_notes_of_a_file_name_the_trial_and_who_picked_it(home: Home) -> None:
    winner = read_study(home, "s")
    assert winner.best_trial
    other = next(t.number for t in winner.searched if t.number != winner.best_trial.number)
    for view, number in ((winner, winner.best_trial.number), (read_study(home, "s", other), other)):
        for form in ("options", "db_bench"):
            notes = comments(exported(home, view, form, None, back=False))
            assert f"trial {number}" in notes[0]
            assert ("picked" in notes[0]) is view.picked
            assert any("not verified" in note for note in notes)
            assert any("UNVERIFIED" in note for note in notes)
            assert all(note.isascii() for note in notes)


def test_flags_hold_it_too(home: Home) -> None:
    view = read_study(home, "s")
    lines = exported(home, view, "db_bench", None, back=False).splitlines()
    assert {"--cache_index_and_filter_blocks=1", "--bloom_bits=10"} <= set(lines)
    back = exported(home, view, "db_bench", None, back=True).splitlines()
    assert {"--cache_index_and_filter_blocks=0", "--bloom_bits=-1"} <= set(back)


def test_what_is_the_loads_is_not_deployed(home: Home) -> None:
    view = read_study(home, "varied")
    [base, *_] = home.trials(home.study("varied"))
    assert {"threads", "compression_ratio"} <= base.config.keys()
    flags = exported(home, view, "db_bench", None, back=False)
    assert "--write_buffer_size=" in flags
    assert "--threads" not in flags
    assert "--compression_ratio" not in flags
    files = deployment(read_record(home, view.name), claim_of(view))
    assert "write_buffer_size=" in files.options.text


def own_file(folder: Path, **values: str) -> Path:
    """Return a user's OPTIONS file with these values."""
    text = OPTIONS
    for key, value in values.items():
        text = re.sub(rf"^(\s*{key}=).*$", rf"\g<1>{value}", text, flags=re.MULTILINE)
        assert f"{key}={value}\n" in text
    path = folder / "OPTIONS-000007"
    path.write_text(text)
    return path


def test_back_restores_a_deployed_file(home: Home, tmp_path: Path) -> None:
    view = read_study(home, "s")
    own = own_file(tmp_path)
    deployed = tmp_path / "deployed"
    deployed.write_text(exported(home, view, "options", own, back=False))
    restored = exported(home, view, "options", deployed, back=True)
    assert parse_options(restored).sections == parse_options(own.read_text()).sections


def test_back_refuses_a_file_of_other_values(home: Home, tmp_path: Path) -> None:
    own = own_file(tmp_path, block_size="12345")
    with pytest.raises(UserError, match=r"block_size = 12345.*cannot restore"):
        exported(home, read_study(home, "s"), "options", own, back=True)


def test_notes_list_what_changes_in_the_users_file(home: Home, tmp_path: Path) -> None:
    view = read_study(home, "s")
    own = own_file(tmp_path, block_size="12345")
    notes = comments(exported(home, view, "options", own, back=False))
    changed = [note for note in notes if note.startswith("# Changed: ")]
    given, now = (parse_options(text).sections for text in (own.read_text(), "\n".join(
        exported(home, view, "options", own, back=False).splitlines())))  # fmt: skip
    differing = [
        key for section, keys in now.items() for key in keys
        if keys[key] != given.get(section, {}).get(key)
    ]  # fmt: skip
    assert len(changed) == len(differing) > 0
    assert all(any(f" {key} = " in note for note in changed) for key in differing)
    assert any("block_size" in note and "12345)" in note for note in notes)
    assert any("not the baseline of the study" in note for note in notes)
    same = comments(exported(home, view, "options", own_file(tmp_path), back=False))
    assert not any("not the baseline of the study" in note for note in same)


OF_THE_USER = {
    "write_buffer_size": "9000000", "delayed_write_rate": "7000000",
    "level_compaction_dynamic_level_bytes": "false", "target_file_size_base": "30000000",
}  # fmt: skip
"""Values that the baseline does not have; only the last but one may be a trial's, too."""
OF_THE_BASELINE = OPTIONS.replace(
    "level_compaction_dynamic_level_bytes=false", "level_compaction_dynamic_level_bytes=true"
)


REMARK = "the baseline compresses with snappy, which is slow in this library"


class OwnBaseline(ScriptedEngine):
    """A scripted engine whose baseline has the values of its OPTIONS text."""

    def base(self, facts: EngineFacts, own: OwnBase | None, workdir: Path) -> Base:
        """Return the baseline as the real engine does."""
        settings = read_settings(self.catalogue, facts.options)
        return Base(options=facts.options, settings=settings, notes=(REMARK,))


def values_of(text: str, keys: Iterable[str]) -> dict[str, str]:
    found = {k: v for section in parse_options(text).sections.values() for k, v in section.items()}
    return {key: found[key] for key in keys}


def test_only_what_the_trial_changed_is_written_into_a_file_of_the_user(
    home: Home, tmp_path: Path
) -> None:
    knobs = [*OF_THE_USER, "block_size"]
    spec = make_spec(
        {"study": "defaults", "objective": "write_amp", "optimizer": "random", "base_runs": 1,
         "trials": 6, "repeats": 0, "pairs": 0, "knobs": ",".join(knobs)}, "here",
    )  # fmt: skip
    engine = OwnBaseline(planted, options=OF_THE_BASELINE)
    with open_study(home, spec, engine, lambda _: None) as study:
        run_search(study)
    own = own_file(tmp_path, **OF_THE_USER)
    given, base = (values_of(text, knobs) for text in (own.read_text(), OF_THE_BASELINE))
    kept = set[str]()
    for trial in read_study(home, "defaults").searched:
        view = read_study(home, "defaults", trial.number)
        new = values_of(exported(home, view, "options", None, back=False), knobs)
        changed = {key for key in knobs if new[key] != base[key]}
        assert changed == {change.knob.name for change in view.changes if change.is_deployed}
        text = exported(home, view, "options", own, back=False)
        assert values_of(text, knobs) == given | {key: new[key] for key in changed}
        deployed = tmp_path / "deployed"
        deployed.write_text(text)
        restored = values_of(exported(home, view, "options", deployed, back=True), knobs)
        assert restored == given | {key: base[key] for key in changed}
        kept |= set(knobs) - changed
    assert len(kept) > 1


def test_published_study_exports_what_a_verification_at_scale_1_measures(home: Home) -> None:
    spec = make_spec(
        {"study": "memory", "objective": "write_amp", "optimizer": "random", "base_runs": 1,
         "trials": 8, "repeats": 0, "pairs": 0,
         "knobs": "cache_size,write_buffer_size,max_write_buffer_number"}, "here",
    )  # fmt: skip
    engine = OwnBaseline(planted, options=OF_THE_BASELINE)
    base = read_settings(engine.catalogue, OF_THE_BASELINE)
    with open_study(home, spec, engine, lambda _: None, published=True) as study:
        run_search(study)
        for trial in study.trials():
            if trial.role is not Role.TRIAL:
                continue
            verified = study.settings_at(trial.config, Fraction(1))
            view = read_study(home, "memory", trial.number)
            text = exported(home, view, "options", None, back=False)
            in_file = read_settings(engine.catalogue, text)
            for change in view.changes:
                name = change.knob.name
                assert change.deployed == verified[name]
                assert name == "cache_size" or in_file[name] == verified[name]
            differing = {n for n in in_file if in_file[n] != base[n]}
            differing.discard("arena_block_size")  # it follows the memtable
            rows = {row.name for row in options(view).rows}
            assert rows - {"cache_size"} == differing
            assert ("block cache" in "\n".join(comments(text))) is ("cache_size" in rows)
            assert any(REMARK[1:] in line for line in comments(text))


def test_an_older_file_is_kept(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ["export", "s", "--format", "options", "--home", str(home.path), "-o", "OPTIONS"]
    Path("OPTIONS").write_text("mine")
    for _ in range(2):  # the second call finds the text that it would write
        assert run(command) == 0
        assert "written: OPTIONS\n" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["OPTIONS", "OPTIONS.old"]
    assert Path("OPTIONS.old").read_text() == "mine"


def test_a_link_of_the_user_is_followed(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("real").mkdir()
    Path("real/mine").write_text("mine")
    Path("OPTIONS").symlink_to("real/mine")
    command = ["export", "s", "--format", "options", "--home", str(home.path), "-o", "OPTIONS"]
    assert run(command) == 0
    assert Path("OPTIONS").is_symlink()
    assert "[Version]" in Path("real/mine").read_text()
    assert Path("real/mine.old").read_text() == "mine"


def test_without_a_proven_gain_nothing_is_exported_unasked(tmp_path: Path) -> None:
    spec = make_spec(
        {"study": "n", "objective": "write_amp", "optimizer": "random", "knobs": "block_size",
         "base_runs": 1, "trials": 2, "repeats": 0, "pairs": 6, "max_pairs": 6}, "here",
    )  # fmt: skip
    seen = itertools.count()

    def lucky(trial: TrialSpec) -> TrialResult:
        """The search finds a gain; the pairs of runs do not."""
        gain = trial.settings != trial.base_settings and next(seen) < 2
        return measured(write_amp=2.0 if gain else 4.0)

    with Home(tmp_path / "home", create=True) as opened:
        engine = ScriptedEngine(lucky, options=OPTIONS)
        with open_study(opened, spec, engine, lambda _: None) as study:
            run_search(study)
            results = opened.path / "results" / "n"
            write_results(opened, read_result(opened, "n"), Observer())
            assert (results / "OPTIONS").exists()
            verify_contenders(study)
        view = read_study(opened, "n")
        assert view.best_trial
        with pytest.raises(UserError, match=f"trial = {view.best_trial.number}"):
            exported(opened, view, "options", None, back=False)
        picked = read_study(opened, "n", view.best_trial.number)
        assert exported(opened, picked, "options", None, back=False)
        write_results(opened, read_result(opened, "n"), Observer())
        assert not (results / "OPTIONS").exists()
        assert (results / "OPTIONS.back").exists()
