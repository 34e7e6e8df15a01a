"""A Python program and the command line make the same study of the same keys."""

import json
from pathlib import Path
from typing import Any

import pytest

import lsmtune
from lsmtune.api.resolve import Request, resolve
from lsmtune.cli.main import run
from lsmtune.report.study_document import show_document
from lsmtune.store.home import Home

pytest.importorskip("lsmsim", reason="the native core is not built here")

FAST: dict[str, Any] = {
    "engine": "simulated", "workload": {"num": 20_000}, "trials": 3, "finalists": 1, "repeats": 1,
}  # fmt: skip
FLAGS = ["--engine", "simulated", "--num", "20000", "--trials", "3"]
SHORT = "finalists = 1\nrepeats = 1\n"
OPTIONS = """[Version]
  rocksdb_version=11.8.1
[DBOptions]
  max_background_jobs=4
[CFOptions "default"]
  write_buffer_size=33554432
  level0_file_num_compaction_trigger=6
"""

SAME: dict[str, tuple[dict[str, Any], list[str]]] = {
    "defaults": ({}, []),
    "one metric": ({"objective": "write_amp"}, ["--objective", "write_amp"]),
    "a limit": (
        {"limits": ["live_sst_bytes <= 1.05 * base"]},
        ["--limit", "live_sst_bytes <= 1.05 * base"],
    ),
    "listed knobs": (
        {"knobs": "write_buffer_size,level0_file_num_compaction_trigger"},
        ["--knobs", "write_buffer_size,level0_file_num_compaction_trigger"],
    ),
    "another scale": ({"scale": "1/32"}, ["--scale", "1/32"]),
    "memory": ({"memory": "1GiB"}, ["--memory", "1GiB"]),
    "an optimizer": ({"optimizer": "random", "seed": 5}, ["--optimizer", "random", "--seed", "5"]),
    "a baseline": (
        {"base": "OPTIONS", "cache": "64MiB"},
        ["--base", "OPTIONS", "--cache", "64MiB"],
    ),
    "an end": ({"until": 2}, ["--until", "2"]),
    "a name": ({"study": "mine", "pairs": 0}, ["--study", "mine", "--pairs", "0"]),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("OPTIONS").write_text(OPTIONS)
    Path("short.toml").write_text(SHORT)


def found(home: str) -> list[tuple[str, dict[str, Any], list[Any], dict[str, Any]]]:
    """Name, settings, trials and claim of each study."""
    with Home(Path(home), create=False) as opened:
        names = opened.study_names()
        studies = [opened.study(name) for name in names]
        trials = [
            [(t.role, t.config, t.spec.seed, t.result.metrics) for t in opened.trials(study)]
            for study in studies
        ]
    documents = [show_document(lsmtune.result(name, home=home).view) for name in names]
    for document in documents:  # the commands of next steps name the home
        del document["claim"]["next"], document["claim"]["undo"]
    return [
        (study.name, study.settings.model_dump(), runs, document)
        for study, runs, document in zip(studies, trials, documents, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("case", SAME)
def test_the_same_keys_make_the_same_study(case: str) -> None:
    keys, flags = SAME[case]
    assert run(["tune", "short.toml", *FLAGS, *flags, "--home", "command"]) == 0
    lsmtune.tune(**{**FAST, **keys}, home="program")
    assert found("command") == found("program")


@pytest.mark.slow
def test_a_continued_study_is_the_same() -> None:
    for trials in (2, 4):
        flags = [*FLAGS[:4], "--trials", str(trials), "--study", "s", "--pairs", "0"]
        assert run(["tune", "short.toml", *flags, "--home", "command"]) == 0
        lsmtune.tune(**{**FAST, "trials": trials, "study": "s", "pairs": 0}, home="program")
    assert found("command") == found("program")
    assert len(found("program")) == 1


SIMULATED: dict[str, Any] = {"engine": "simulated", "workload": {"num": 20_000}}
FEW: dict[str, Any] = {**SIMULATED, "trials": 33}
FACTORS = {
    "memtable": {"write_buffer_size": ["512KiB", "2MiB"]},
    "files": {"target_file_size_base": ["1MiB", "4MiB"]},
}
EXPERIMENT = """engine = "simulated"
[workload]
num = 20000
[sweep]
metrics = ["write_amp"]
repeats = 2
[sweep.factors.memtable]
write_buffer_size = ["512KiB", "2MiB"]
[sweep.factors.files]
target_file_size_base = ["1MiB", "4MiB"]
"""


def kept(home: str) -> list[tuple[str, dict[str, Any], set[tuple[Any, ...]]]]:
    """Name, settings and trials of each study; several may have run at the same time."""
    with Home(Path(home), create=False) as opened:
        studies = [opened.study(name) for name in opened.study_names()]
        return [
            (
                study.name,
                study.settings.model_dump(),
                {
                    (t.role, t.config, t.spec.seed, *sorted(t.result.metrics.items()))
                    for t in opened.trials(study)
                },
            )
            for study in studies
        ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("keys", "flags"),
    [
        ({"screen": {"replicated": 2, "runs": 2}}, ["--replicated", "2", "--runs", "2"]),
        (
            {"screen": {"replicated": 0, "design": "latin"}, "study": "mine", "seed": 3},
            ["--replicated", "0", "--design", "latin", "--study", "mine", "--seed", "3"],
        ),
    ],
)
def test_the_same_keys_make_the_same_screening(
    keys: dict[str, Any], flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--engine", "simulated", "--num", "20000", "--trials", "33", *flags]
    assert run(["screen", *given, "--home", "command", "-o", "command.jsonl", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = lsmtune.screen(**{**FEW, **keys}, home="program", output="program.jsonl")
    assert capsys.readouterr() == ("", "")
    assert found.document() == {**printed, "output": str(found.output)}
    assert kept("command") == kept("program")
    lines = [
        {json.dumps({**json.loads(line), "id": ""}) for line in Path(file).read_text().splitlines()}
        for file in ("command.jsonl", "program.jsonl")
    ]
    assert lines[0] == lines[1]


@pytest.mark.slow
def test_the_same_keys_make_the_same_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    Path("sizes.toml").write_text(EXPERIMENT)
    flags = ["--home", "command", "--csv", "command.csv", "--page", "command.html", "--json"]
    assert run(["sweep", "sizes.toml", *flags]) == 0
    printed = json.loads(capsys.readouterr().out)
    given = {"metrics": ["write_amp"], "repeats": 2, "factors": FACTORS}
    of_keys = lsmtune.sweep(**SIMULATED, sweep=given, study="sizes", home="program")
    of_file = lsmtune.sweep("sizes.toml", home="other")
    assert capsys.readouterr() == ("", "")
    for found, home in ((of_keys, "program"), (of_file, "other")):
        assert found.study == "sizes"
        assert json.loads(json.dumps(found.document())) == printed
        assert found.csv("program.csv") == Path("program.csv").read_text()
        assert Path("program.csv").read_text() == Path("command.csv").read_text()
        assert kept("command") == kept(home)
        assert len(repr(found)) < 200
    assert of_keys.markdown().count("\n") > 5
    assert of_keys.page("program.html") == Path("program.html").read_text()


def test_keys_replace_those_of_an_experiment_file() -> None:
    Path("sizes.toml").write_text(EXPERIMENT)
    one = {"metrics": ["write_amp"], "repeats": 2, "factors": {"memtable": FACTORS["memtable"]}}
    found = lsmtune.sweep("sizes.toml", sweep=one, seed=5, home="home")
    assert found.swept.blocks == 2
    assert list(found.swept.factors) == ["memtable"]
    assert kept("home")[0][1]["seed"] == 5


@pytest.mark.slow
def test_a_screening_and_an_experiment_run_on_hosts() -> None:
    pytest.importorskip("distributed")
    screened = lsmtune.screen(**FEW, screen={"replicated": 0}, hosts=2, home="home")
    lines = [json.loads(line) for line in screened.output.read_text().splitlines()]
    assert len({line["host"] for line in lines}) == 2
    given = {"metrics": ["write_amp"], "repeats": 2, "factors": FACTORS}
    swept = lsmtune.sweep(**SIMULATED, sweep=given, hosts=2, home="home")
    with Home(Path("home"), create=False) as opened:
        assert None not in {trial.host for trial in opened.trials(opened.study(swept.study))}


@pytest.mark.usefixtures("library", "quick_models")
@pytest.mark.parametrize(
    ("program", "command"),
    [
        (
            Request(keys={"rocksdb": "11.8.1", "workload": "overwrite", "online": {}}),
            Request(keys={"rocksdb": "11.8.1"}, workload="overwrite", online=True, flags=True),
        ),
        (
            Request(keys={"knobs": "top:3", "workload": {"name": "fillrandom", "num": 20_000}}),
            Request(keys={"knobs": "top:3"}, workload="fillrandom", num=20_000, flags=True),
        ),
    ],
)
def test_settings_of_studies_on_rocksdb_are_the_same(program: Request, command: Request) -> None:
    ours, theirs = (resolve(request, Path("home")).settings for request in (program, command))
    assert ours == theirs
    assert ours.name == theirs.name
    assert ours.rocksdb == "11.8.1"


def test_a_mistake_is_one_sentence_that_names_the_key() -> None:
    for keys, words in (
        ({"trails": 3}, "did you mean 'trials'"),
        ({"num": 20_000}, "workload="),
        ({**FAST, "workload": {"name": "fillrandm"}}, "fillrandm"),
        ({**FAST, "scale": "2"}, "scale"),
    ):
        with pytest.raises(lsmtune.UserError, match=words) as error:
            lsmtune.tune(**keys, home="home")
        assert "\n" not in str(error.value)
        assert not Path("home").exists()


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    result = lsmtune.tune(**{**FAST, "pairs": 0, "simplify": False}, home="home")
    assert json.dumps(result.document())
    assert result.page().startswith("<!DOCTYPE html>")
    assert result.figure("convergence").data
    assert "var(--" not in result.figure("convergence").to_json()
    assert "trials" in result.figure("convergence").layout.title.text
    assert capfd.readouterr() == ("", "")


def test_an_older_file_is_kept_and_the_result_is_short() -> None:
    result = lsmtune.tune(**{**FAST, "pairs": 0, "simplify": False}, home="home")
    assert len(repr(result)) < 200
    assert len(repr(result.claim)) < 200
    trial = result.view.searched[0].number
    picked = lsmtune.result(result.study, home="home", trial=trial)
    Path("OPTIONS").write_text("mine")
    picked.export("OPTIONS", back=True)
    assert Path("OPTIONS.old").read_text() == "mine"


def test_pairs_and_homes_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    for pairs in (1, 5, "6"):
        with pytest.raises(lsmtune.UserError, match="pairs"):
            lsmtune.verify("s", home="home", pairs=pairs)  # type: ignore[arg-type]
    lsmtune.tune(**{**FAST, "pairs": 0, "simplify": False, "study": "s"}, home="elsewhere")
    monkeypatch.setenv("LSMTUNE_HOME", "elsewhere")
    assert [study["study"] for study in lsmtune.studies()] == ["s"]
    with pytest.raises(lsmtune.UserError, match="a list of paths"):
        lsmtune.inspect([])
