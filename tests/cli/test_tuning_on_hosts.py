"""`lsmtune tune --hosts`, `screen` and `sweep`, and `lsmtune.tune(hosts=…)`."""

import json
from pathlib import Path
from typing import Any

import pytest

import lsmtune
from lsmtune.cli.main import run
from lsmtune.store.home import Home

KEYS: dict[str, Any] = {
    "engine": "simulated", "workload": {"num": 20_000}, "trials": 6, "optimizer": "random",
    "study": "s", "pairs": 0, "simplify": False,
}  # fmt: skip
FLAGS = [
    "--engine", "simulated", "--num", "20000", "--trials", "6", "--optimizer", "random",
    "--study", "s", "--pairs", "0", "--no-simplify",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def hosts_of(home: str) -> list[str | None]:
    with Home(Path(home), create=False) as opened:
        return [trial.host for trial in opened.trials(opened.study("s"))]


@pytest.mark.slow
def test_a_number_of_processes_measures_as_many_trials(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    assert run(["tune", *FLAGS, "--hosts", "3", "--home", "command"]) == 0
    assert "worker-1" in capsys.readouterr().err
    assert run(["trials", "s", "--home", "command", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["role"] for row in rows].count("trial") == 6
    assert len({row["host"] for row in rows}) == 3
    assert run(["trials", "s", "--home", "command"]) == 0
    assert "worker-2" in capsys.readouterr().out
    # A larger budget continues the study without hosts.
    more = [*FLAGS[:5], "8", *FLAGS[6:]]
    assert run(["tune", *more, "--home", "command"]) == 0
    assert hosts_of("command").count(None) >= 2
    lsmtune.tune(**KEYS, hosts=3, home="program")
    assert len(hosts_of("program")) == len(rows)


@pytest.mark.slow
def test_a_finished_study_needs_no_host(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    flags = [*FLAGS, "--home", "home", "--json"]
    assert run(["tune", *flags, "--hosts", "2"]) == 0
    first, ran = json.loads(capsys.readouterr().out), hosts_of("home")
    gone = ["--hosts", "tcp://127.0.0.1:1"]
    assert run(["tune", *flags, *gone]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert lsmtune.tune(**KEYS, hosts="tcp://127.0.0.1:1", home="home").study == "s"
    assert hosts_of("home") == ran
    # More trials need the hosts, and the failure changes nothing.
    flags[5] = "8"
    assert run(["tune", *flags, *gone]) == 1
    assert "cannot connect" in capsys.readouterr().err
    assert hosts_of("home") == ran


@pytest.mark.slow
def test_a_screening_uses_the_hosts_and_its_lines_have_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    flags = ["--engine", "simulated", "--num", "20000", "--trials", "36", "--study", "s"]
    flags += ["--replicated", "2", "--runs", "2", "--home", "home"]
    assert run(["screen", *flags, "--hosts", "2", "-o", "two.jsonl"]) == 0
    assert "worker-1" in capsys.readouterr().err
    lines = [json.loads(line) for line in Path("two.jsonl").read_text().splitlines()]
    assert len(lines) == 38
    assert len({line["host"] for line in lines}) == 2
    # More configs without hosts: these lines have no host.
    flags[5] = "40"
    assert run(["screen", *flags, "-o", "more.jsonl"]) == 0
    more = [json.loads(line) for line in Path("more.jsonl").read_text().splitlines()]
    assert len([line for line in more if "host" not in line]) == len(more) - 38 >= 4
    assert run(["importance", "--batch", "two.jsonl", "--repeats", "1", "--json"]) == 0
    # The simulator predicts the same on all hosts.
    assert "hosts" not in json.loads(capsys.readouterr().out)


EXPERIMENT = """\
study = "s"
engine = "simulated"
[workload]
num = 20000
[sweep]
metrics = ["write_amp"]
[sweep.factors.memtable]
write_buffer_size = ["512KiB", "2MiB"]
[sweep.factors.files]
target_file_size_base = ["1MiB", "4MiB"]
"""


@pytest.mark.slow
def test_an_experiment_uses_the_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    Path("sizes.toml").write_text(EXPERIMENT)
    documents = []
    for flags in (["--home", "two", "--hosts", "2"], ["--home", "one"]):
        assert run(["sweep", "sizes.toml", *flags, "--json"]) == 0
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]
    assert len(set(hosts_of("two"))) == 2
    assert set(hosts_of("one")) == {None}


def test_jobs_and_hosts_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--engine", "simulated", "--hosts", "2", "--jobs", "2", "--home", "home"]
    assert run(["screen", *flags]) == 2
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "--jobs 2" in error
    assert "--hosts" in error


def test_one_process_is_this_one() -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    lsmtune.tune(**{**KEYS, "trials": 2, "finalists": 1, "repeats": 0}, hosts=1, home="home")
    assert set(hosts_of("home")) == {None}


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--hosts", "3", "--engine", "rocksdb"], ["--hosts 3", "rocksdb"]),
        (["--hosts", "0"], ["--hosts 0", "at least 1"]),
        (["--hosts", "-1"], ["--hosts -1", "at least 1"]),
        (["--hosts", "alpha"], ["alpha", "tls://"]),
        (["--hosts", "--trials", "4"], ["--hosts: ", "ADDRESS|N", "tls://IP:8786"]),
        (["--hosts"], ["--hosts: ", "ADDRESS|N", "tls://IP:8786"]),
        (["--hosts", "tls://10.0.0.1:87860"], ["'tls://10.0.0.1:87860'", "'87860'", "65535"]),
        (["--hosts", "tls://127.0.0.1:1"], ["--certificates"]),
        (["--hosts", "tcp://10.0.0.1:1"], ["--certificates"]),
        (["--hosts", "tcp://127.0.0.1:1"], ["cannot connect"]),
    ],
)
def test_a_mistake_is_one_sentence(
    flags: list[str], words: list[str], capsys: pytest.CaptureFixture[str], fake_db_bench: None
) -> None:
    given = [*FLAGS[2:], "--engine", "simulated", "--home", "home", *flags]
    assert run(["tune", *given]) == (1 if "cannot connect" in words else 2)
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert all(word in error for word in words)


def test_python_names_the_argument() -> None:
    for hosts in (0, [], 1.5):
        with pytest.raises(lsmtune.UserError, match="hosts"):
            lsmtune.tune(**KEYS, hosts=hosts, home="home")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_client_of_dask_is_used(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1",
            dashboard_address="127.0.0.1:0", local_directory=str(tmp_path),
        ) as usual,
        distributed.Client(usual, set_as_default=False) as client,
    ):  # fmt: skip
        lsmtune.tune(**KEYS, hosts=client, home="home")
        assert client.status == "running"
    # Each worker is a host of its own, although they share a folder.
    assert len(set(hosts_of("home"))) == 2
    assert None not in hosts_of("home")
