"""Wrong use ends with exit code 2 and one sentence that names the fault; nothing is lost."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.fake_db_bench import install
from fakes.forks import Program
from fakes.studies import open_study
from lsmtune.cli.main import run
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.knobs.catalogue import load
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.search import run_search
from lsmtune.testing.scripted import ScriptedEngine, measured
from lsmtune.trials import TrialResult, TrialSpec

STUDY = "kept"
TRIALS = 2
FLAGS_OF_STUDY = ["--study", STUDY, "--workload", "fillrandom", "--optimizer", "random"]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a study that has a winner, measured by a script."""
    folder = tmp_path_factory.mktemp("template")
    runs = 0

    def better_each_time(spec: TrialSpec) -> TrialResult:
        nonlocal runs
        runs += 1
        return measured(write_amp=1 / runs)

    spec = StudySettings(
        study=STUDY,
        workload={"name": "fillrandom", "num": 100_000},
        optimizer="random",
        trials=TRIALS,
        base_runs=1,
        finalists=1,
        pairs=0,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(folder))
        with (
            Home(folder / "home", create=True) as home,
            open_study(home, spec, ScriptedEngine(better_each_time), lambda event: None) as study,
        ):
            run_search(study)
    return folder / "home"


@pytest.fixture
def place(tmp_path: Path, own_host: Path, template: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of a user: his study in `home`, a db_bench, files of every kind."""
    folder = tmp_path / "place"
    shutil.copytree(template, folder / "home")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("LSMTUNE_HOME", "home")
    program = install(folder / "bin")
    monkeypatch.setenv("LSMTUNE_DB_BENCH", str(program))
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    monkeypatch.setattr(RocksDB, "run", lambda *_: pytest.fail("a trial was run"))
    for name, text in STUDY_FILES.items():
        Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    Path("text").write_text("hello\n")
    Path("garbage").write_bytes(b"\xff\xfe\x00" * 50)
    Path("foreign").mkdir()
    Path("foreign/mine.txt").write_text("not yours\n")
    make_homes()
    return folder


STUDY_FILES: dict[str, str | bytes] = {
    "no-toml.toml": "num = = 3",
    "twice.toml": "trials = 1\ntrials = 2",
    "binary.toml": b"\xff\xfe\x00\x80",
    "null.toml": b"trials = 1\x00",
    "key.toml": "numm = 3",
    "nested-key.toml": "[workload]\nnumm = 3",
    "protocol-key.toml": "[protocol]\nquiet = 3",
    "type.toml": "trials = 'many'",
    "value.toml": "trials = 0",
    "workload.toml": "workload = 3",
    "workload-value.toml": "[workload]\nvalue_size = 0",
    "workload-nan.toml": "[workload]\ncompression_ratio = nan",
    "protocol.toml": "protocol = 3",
    "endless.toml": "[protocol]\nsilence_limit_s = inf",
    "knobs.toml": "knobs = ['write_buffer_size']",
    "limits.toml": "limits = 'write_amp <= 2'",
    "limit.toml": "limits = ['write_amp < 2']",
    "pairs.toml": "pairs = 3",
    "scale.toml": "scale = '2'",
    "budget.toml": "budget = '5'",
    "objective.toml": "objective = 'speed'",
    "name.toml": "study = '../outside'",
    "program.toml": "program = ''",
    "nul.toml": 'base = "a\\u0000b"',
    "trace.toml": f'[workload]\nname = "trace"\ntrace = "{"x" * 5000}"\ndatabase = "db"',
    "empty.toml": "",
}


def make_homes() -> None:
    """Folders that are no homes: foreign, broken, of a lsmtune to come."""
    Path("corrupt").mkdir()
    Path("corrupt/lsmtune.sqlite3").write_text("this is no database\n" * 100)
    Path("cut").mkdir()
    with Path("home/lsmtune.sqlite3").open("rb") as whole:
        Path("cut/lsmtune.sqlite3").write_bytes(whole.read(3000))
    Path("newer").mkdir()
    shutil.copy("home/lsmtune.sqlite3", "newer")
    with sqlite3.connect("newer/lsmtune.sqlite3") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    Path("database-is-folder/lsmtune.sqlite3").mkdir(parents=True)


HUGE = 10**12

CASES: list[tuple[list[str], list[str]]] = [
    # commands and flags
    (["frobnicate"], ["'frobnicate'", "tune", "inspect"]),
    (["tun"], ["'tun'", "'tune'"]),
    (["tune", "--trails", "3"], ["--trails", "'--trials'"]),
    (["--frobnicate"], ["--frobnicate"]),
    (["tune", "--frobnicate"], ["--frobnicate"]),
    (["tune", "empty.toml", "another.toml"], ["another.toml"]),
    (["show"], ["STUDY"]),
    (["show", STUDY, "another"], ["another"]),
    (["show", STUDY, "--jsn"], ["--jsn", "--json"]),
    (["workloads", "more"], ["more"]),
    (["optimizers", "more"], ["more"]),
    (["knobs", "nosuch"], ["'nosuch'", "rocksdb"]),
    (["knobs", "../catalogue/rocksdb"], ["'../catalogue/rocksdb'", "embedded, myrocks, rocksdb"]),
    # every typed flag of tune
    (["tune", "--num", "0"], ["num", "0", "1000"]),
    (["tune", "--num", "-5"], ["num", "-5", "1000"]),
    (["tune", "--num", "abc"], ["--num 'abc': ", "integer"]),
    (["tune", "--num", "1e6"], ["--num '1e6': ", "integer"]),
    (["reproduce", "sst-size", "--num", "5"], ["--num '5': ", "1000"]),
    (["tune", "--num", "9" * 21], ["num", str(HUGE)]),
    (["tune", "--num"], ["--num", "value is missing"]),
    (["tune", "--scale", "0"], ["scale", "'0'", "1/64"]),
    (["tune", "--scale", "2"], ["scale", "'2'", "1/64"]),
    (["tune", "--scale", "1/0"], ["scale", "'1/0'", "1/64"]),
    (["tune", "--scale", "x"], ["scale", "'x'", "1/64"]),
    (["tune", "--scale", "-1/2"], ["scale", "'-1/2'", "1/64"]),
    (["tune", "--scale", "nan"], ["scale", "'nan'", "1/64"]),
    (["tune", "--scale", "1/513"], ["scale", "1/513", "too small", "1/512 to 1"]),
    (["tune", "--knobs="], ["knobs", "empty", "jin2022", "write-path"]),
    (["tune", "--knobs", ","], ["knobs", "empty", "jin2022", "write-path"]),
    (["tune", "--knobs", "nosuch"], ["knobs", "'nosuch'", "lsmtune knobs"]),
    (["tune", "--knobs", "num_levels,num_levels"], ["knobs", "num_levels", "twice"]),
    (["tune", "--knobs", "bloom_locality"], ["bloom_locality", "no effect", "plain table"]),
    (["tune", "--knobs", "threads"], ["threads", "workload"]),
    (["tune", "--knobs", "compression_ratio"], ["compression_ratio", "workload"]),
    (["tune", "--knobs", "top:six"], ["knobs", "'top:six'", "N >= 1"]),
    (["tune", "--objective", "speed"], ["objective", "'speed'", "balanced", "write_amp"]),
    (["tune", "--objective="], ["objective", "''", "balanced"]),
    (["tune", "--objective", "others_cpu_percent"], ["objective", "others_cpu_percent"]),
    (["tune", "--limit", "nosuch"], ["limit", "'nosuch'", "METRIC <= NUMBER"]),
    (["tune", "--limit", "nosuch <= 3"], ["limit", "'nosuch'", "write_amp"]),
    (["tune", "--limit", "write_amp < 3"], ["limit", "'write_amp < 3'", "METRIC <= NUMBER"]),
    (["tune", "--limit", "write_amp <= -1"], ["limit", "'write_amp <= -1'"]),
    (["tune", "--limit", "write_amp <= 0 * base"], ["limit", "0 * base", "write_amp <= NUMBER"]),
    (["tune", "--limit="], ["limit", "''", "METRIC <= NUMBER"]),
    (["tune", "--limit", "others_cpu_percent <= 3"], ["limit", "others_cpu_percent"]),
    (["tune", "--memory", "0"], ["memory", "'0'", "64MiB"]),
    (["tune", "--memory", "5"], ["memory", "baseline", "5 B"]),
    (["tune", "--memory", "1MiB"], ["memory", "baseline", "1 MiB"]),
    (["tune", "--memory", "abc"], ["memory", "'abc'", "64MiB"]),
    (["tune", "--memory", "64MiBB"], ["memory", "'64MiBB'", "64MiB"]),
    (["tune", "--optimizer", "nosuch"], ["optimizer", "'nosuch'", "tpe", "random"]),
    (["tune", "--optimizer", "nosuch", "--dry-run"], ["optimizer", "'nosuch'", "tpe", "random"]),
    (["tune", "--trials", "0"], ["trials", "0", "1"]),
    (["tune", "--trials", "-1"], ["trials", "-1"]),
    (["tune", "--trials", "x"], ["--trials", "integer"]),
    (["tune", "--budget", "5"], ["budget", "'5'", "20m"]),
    (["tune", "--until", "never"], ["until", "'never'", "stable", "number of trials >= 1"]),
    (["tune", "--until", "0"], ["until", "'0'", "number of trials >= 1"]),
    (["tune", "--budget", "0s"], ["budget", "'0s'", "20m"]),
    (["tune", "--budget", "x"], ["budget", "'x'", "20m"]),
    (["tune", "--budget", "-5m"], ["budget", "'-5m'", "20m"]),
    (["tune", "--pairs", "3"], ["pairs", "3", "use 0", "6"]),
    (["tune", "--pairs", "-1"], ["pairs", "-1"]),
    (["tune", "--pairs", "x"], ["--pairs", "integer"]),
    (["tune", "--seed", "0"], ["seed", "0", "1"]),
    (["tune", "--seed", str(2**31)], ["seed", str(2**31 - 1)]),
    (["tune", "--seed", "x"], ["--seed", "integer"]),
    (["tune", "--study", "a/b"], ["study", "'a/b'", "letters, digits"]),
    (["tune", "--study", "a b"], ["study", "'a b'", "letters, digits"]),
    (["tune", "--study", "a\nb"], ["study", "letters, digits"]),
    (["tune", "--study", ".."], ["study", "'..'", "letters, digits"]),
    (["tune", "--study", ".hidden"], ["study", "'.hidden'", "letters, digits"]),
    (["tune", "--study", "a" * 65], ["study", "64"]),
    (["tune", "--study="], ["study", "''", "letters, digits"]),
    (["tune", "--engine", "mysql"], ["engine", "'mysql'", "rocksdb"]),
    (["tune", "--workload", "nosuch"], ["workload", "'nosuch'", "fillrandom"]),
    (["tune", "--num", str(HUGE)], ["home", "--num", "free"]),
    # the program
    (["tune", "--db-bench", "/no/such/db_bench"], ["/no/such/db_bench", "does not exist"]),
    (["tune", "--db-bench", "./text"], ["text", "executable"]),
    (["tune", "--db-bench", "./foreign"], ["foreign", "executable"]),
    (["tune", "--db-bench", "/bin/true"], ["/bin/true", "no RocksDB version"]),
    (["tune", "--db-bench="], ["program", "''"]),
    # study files
    (["tune", "missing.toml"], ["missing.toml", "No such file"]),
    (["tune", "foreign"], ["foreign", "folder"]),
    (["tune", "no-toml.toml"], ["no-toml.toml", "TOML", "line 1"]),
    (["tune", "twice.toml"], ["twice.toml", "TOML"]),
    (["tune", "binary.toml"], ["binary.toml", "UTF-8"]),
    (["tune", "null.toml"], ["null.toml", "TOML"]),
    (["tune", "key.toml"], ["key.toml", "numm", "workload", "protocol"]),
    (["tune", "nested-key.toml"], ["nested-key.toml", "workload.numm", "'num'", "value_size"]),
    (["tune", "protocol-key.toml"], ["protocol-key.toml", "protocol.quiet", "quiet_s"]),
    (["tune", "type.toml"], ["type.toml", "trials", "'many'", "integer"]),
    (["tune", "value.toml"], ["value.toml", "trials = 0", "1"]),
    (["tune", "workload.toml"], ["workload.toml", "workload = 3"]),
    (["tune", "workload.toml", "--num", "5000"], ["workload.toml", "workload = 3"]),
    (["tune", "workload-value.toml"], ["workload-value.toml", "workload.value_size = 0"]),
    (["tune", "workload-nan.toml"], ["workload-nan.toml", "workload.compression_ratio"]),
    (["tune", "protocol.toml"], ["protocol.toml", "protocol = 3"]),
    (["tune", "endless.toml"], ["endless.toml", "protocol.silence_limit_s", "finite"]),
    (["tune", "knobs.toml"], ["knobs.toml", "knobs", "text"]),
    (["tune", "limits.toml"], ["limits.toml", "limits"]),
    (["tune", "limit.toml"], ["limit.toml", "limit", "'write_amp < 2'"]),
    (["tune", "pairs.toml"], ["pairs.toml", "pairs", "3", "6"]),
    (["tune", "scale.toml"], ["scale.toml", "scale", "'2'"]),
    (["tune", "budget.toml"], ["budget.toml", "budget", "'5'"]),
    (["tune", "objective.toml"], ["objective.toml", "objective", "'speed'", "balanced"]),
    (["tune", "name.toml"], ["name.toml", "study", "'../outside'"]),
    (["tune", "program.toml"], ["program.toml", "program"]),
    (["tune", "nul.toml"], ["nul.toml", "U+0000"]),
    (["tune", "trace.toml"], ["workload", "xxx", "too long"]),
    # homes
    (["tune", "--home", "text"], ["--home", "text"]),
    (["tune", "--home", "text/below"], ["--home", "text/below", "Not a directory"]),
    (["tune", "--home", "foreign"], ["--home", "foreign", "empty folder"]),
    (["tune", "--home", "/proc/lsmtune"], ["--home", "/proc/lsmtune"]),
    (["tune", "--home", "corrupt"], ["--home", "corrupt", "not a database"]),
    (["tune", "--home", "cut"], ["--home", "cut", "malformed"]),
    (["tune", "--home", "newer"], ["newer", "99", "upgrade"]),
    (["tune", "--home", "database-is-folder"], ["--home", "database-is-folder"]),
    (["show", STUDY, "--home", "text"], ["--home", "text", "no study"]),
    (["show", STUDY, "--home", "nowhere"], ["--home", "nowhere", "no study"]),
    (["show", STUDY, "--home", "foreign"], ["--home", "foreign", "no study"]),
    (["show", STUDY, "--home", "corrupt"], ["--home", "corrupt", "not a database"]),
    (["show", STUDY, "--home", "newer"], ["newer", "99", "upgrade"]),
    # studies that are not there, or are there with other settings
    *[
        ([command, "nosuch", *more], ["'nosuch'", STUDY])
        for command, *more in (
            ["show"], ["trials"], ["verify"], ["report", "-o", "page.html"],
            ["export", "--format", "options"],
        )
    ],
    (["tune", *FLAGS_OF_STUDY, "--num", "5000"], [STUDY, "other settings", "workload", "--study"]),
    (
        ["tune", *FLAGS_OF_STUDY, "--num", "100000", "--seed", "2"],
        [STUDY, "other settings", "seed", "--study"],
    ),
    (["verify", STUDY, "--scale", "x"], ["scale", "'x'"]),
    (["verify", STUDY, "--scale", "2"], ["scale", "'2'"]),
    (["verify", STUDY, "--num", "0"], ["num", "0", "1000"]),
    (["verify", STUDY, "--num", "x"], ["--num", "integer"]),
    # output
    (["trials", STUDY, "--csv", "--jsonl"], ["--csv", "--jsonl", "--json"]),
    (["trials", STUDY, "--csv", "--json"], ["--csv", "--jsonl", "--json"]),
    (["report", STUDY, "-o", "foreign"], ["foreign", "directory"]),
    (["report", STUDY, "-o", ""], ["regular file"]),
    (["export", STUDY, "--format", "db_bench", "-o", ""], ["regular file"]),
    (["report", STUDY, "-o", "text/page.html"], ["text/page.html", "does not exist"]),
    (["report", STUDY, "-o", "/proc/lsmtune/page.html"], ["/proc/lsmtune", "does not exist"]),
    (["export", STUDY, "--format", "yaml"], ["--format yaml", "options, db_bench"]),
    (["export", STUDY, "--format", "option"], ["--format option", "'options'?"]),
    (["export", STUDY, "--format", "my.cnf"], ["my.cnf", "rocksdb", "options, db_bench"]),
    (["export", STUDY, "--format", "tikv-toml"], ["tikv-toml", "rocksdb", "options, db_bench"]),
    (["export", STUDY, "--format", "toml"], ["toml", "rocksdb", "options, db_bench"]),
    (["export", STUDY, "--format", "db_bench", "--base", "text"], ["--base", "options"]),
    (["export", STUDY, "--format", "options", "--base", "missing"], ["--base missing"]),
    (["export", STUDY, "--format", "options", "--base", "foreign"], ["--base foreign"]),
    (["export", STUDY, "--format", "options", "--base", "garbage"], ["--base garbage"]),
    (["export", STUDY, "--format", "options", "--base", "text"], ["--base text", "line 1"]),
    (["export", STUDY, "--format", "db_bench", "-o", "foreign"], ["foreign", "directory"]),
]  # fmt: skip


def name_of(case: tuple[list[str], list[str]]) -> str:
    return ascii(" ".join(case[0]))[1:-1][:60] or "nothing"


@pytest.mark.parametrize(("arguments", "words"), CASES, ids=map(name_of, CASES))
def test_wrong_use_is_told_in_one_sentence(
    place: Path,
    template: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    words: list[str],
) -> None:
    before = contents(place)
    code = run(arguments)
    out, err = capsys.readouterr()
    assert code == 2, err
    assert out == ""
    check_message(err, words)
    assert missing(before, contents(place)) == []
    assert not (place / "page.html").exists()
    with Home(place / "home", create=False) as home, Home(template, create=False) as untouched:
        assert home.trials(home.study(STUDY)) == untouched.trials(untouched.study(STUDY))


def check_message(err: str, words: list[str]) -> None:
    assert err.startswith("lsmtune: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "Traceback" not in err
    assert [word for word in words if word not in err] == [], err


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file of the user; of the database only that it is there (reading it may tidy it)."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path: b"" if path.name.startswith("lsmtune.sqlite3-") else path.read_bytes()
        for path in files
        if path.parent.name != "home" or path.name != "lsmtune.sqlite3"
    }


def missing(before: dict[Path, bytes], after: dict[Path, bytes]) -> list[Path]:
    """The files that are gone or have changed; SQLite's helpers of an open database may go."""
    return [
        path
        for path, data in before.items()
        if after.get(path) != data and not path.name.startswith("lsmtune.sqlite3-")
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ["tune", "--knobs", "nosuch"], ["tune", "--optimizer", "nosuch"], ["tune", "--num", "0"],
        ["tune", "--memory", "5"], ["tune", "key.toml"], ["show", STUDY], ["trials", STUDY],
        ["verify", STUDY], ["report", STUDY, "-o", "page.html"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_use_makes_no_home(place: Path, arguments: list[str]) -> None:
    assert run([*arguments, "--home", "fresh"]) == 2
    assert not (place / "fresh").exists()


def test_nothing_of_a_newer_or_foreign_home_is_touched(place: Path) -> None:
    folders = ["foreign", "newer", "corrupt", "cut", "database-is-folder"]
    before = {name: (place / name / "lsmtune.sqlite3").is_file() for name in folders}
    contents_before = contents(place)
    for name in folders:
        assert run(["tune", "--home", name]) == 2
        assert run(["show", STUDY, "--home", name]) == 2
    assert missing(contents_before, contents(place)) == []
    assert {name: (place / name / "lsmtune.sqlite3").is_file() for name in folders} == before
    assert [path.name for path in (place / "foreign").iterdir()] == ["mine.txt"]


def test_an_empty_study_file_means_the_defaults(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", "empty.toml", "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["workload"]["num"] == StudySettings().workload.num
    assert len(plan["knobs"]) == len(load("rocksdb").select(StudySettings().knobs))


def test_a_db_bench_beside_the_user_is_found(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", "--db-bench", "bin/db_bench", "--json"]) in (0, 1)
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["db_bench"]["detail"] == "RocksDB 7.8.3"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["frobnicate"], ["'frobnicate'"]),
        (["tune", "key.toml"], ["key.toml", "numm"]),
        (["show", "nosuch"], ["'nosuch'", STUDY]),
        (["tune", "--home", "newer"], ["newer", "upgrade"]),
        (["tune", "--db-bench", "./text"], ["text", "executable"]),
    ],
    ids=["command", "study file", "study", "home", "program"],
)
def test_a_process_of_the_program_ends_with_2(
    place: Path, arguments: list[str], words: list[str]
) -> None:
    process = Program(arguments, place, os.environ)
    out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    check_message(err, words)


def test_the_installed_program_ends_with_2(place: Path) -> None:
    program = Path(sys.executable).with_name("lsmtune")
    done = subprocess.run(
        [program, "show", "nosuch"], env=os.environ, capture_output=True, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    check_message(done.stderr, ["'nosuch'", STUDY])
