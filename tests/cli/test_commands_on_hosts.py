"""`lsmtune verify`, `simplify` and `compare` with `--hosts`."""

import json
from pathlib import Path

import pytest

import lsmtune
from lsmtune.cli.main import run
from lsmtune.store.home import Home
from lsmtune.trials import Role

OPTIONS = Path(__file__).parents[2] / "examples" / "OPTIONS"
"""A baseline that a few trials can improve."""
FLAGS = [
    "--engine", "simulated", "--base", str(OPTIONS), "--num", "20000", "--trials", "4",
    "--study", "s", "--pairs", "0", "--no-simplify", "--home", "home",
    "--limit", "scan_p99_us <= 9 * base", "--limit", "live_sst_bytes <= 9 * base",
]  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, own_host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def hosts_of(name: str, *roles: Role) -> set[str | None]:
    with Home(Path("home"), create=False) as opened:
        return {t.host for t in opened.trials(opened.study(name)) if t.role in roles}


@pytest.mark.slow
def test_a_winner_is_simplified_and_verified_on_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    assert run(["tune", *FLAGS]) == 0
    place = ["--home", "home", "--hosts", "2"]
    assert run(["simplify", "s", *place]) == 0
    simplified = hosts_of("s", Role.SIMPLIFY)
    assert len(simplified - {None}) == len(simplified) > 0
    assert "worker-1" in capsys.readouterr().err
    assert run(["verify", "s", "--pairs", "8", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
    verified = hosts_of("s", Role.VERIFY_BEST, Role.VERIFY_BASE)
    assert len(verified - {None}) == len(verified) == 2
    lsmtune.verify("s", home="home", pairs=9, hosts=2)
    with Home(Path("home"), create=False) as opened:
        pairs = [t for t in opened.trials(opened.study("s")) if t.role is Role.VERIFY_BEST]
    assert len(pairs) == 9


@pytest.mark.slow
def test_pairs_that_are_missing_need_the_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    assert run(["tune", *FLAGS]) == 0
    place = FLAGS.index("--pairs") + 1
    flags = [*FLAGS[:place], "6", *FLAGS[place + 1 :]]
    gone = ["--hosts", "tcp://127.0.0.1:1"]
    assert run(["tune", *flags, *gone]) == 1
    assert "cannot connect" in capsys.readouterr().err
    assert run(["tune", *flags, "--hosts", "2"]) == 0
    assert len(hosts_of("s", Role.VERIFY_BEST) - {None}) == 2
    assert run(["tune", *flags, *gone]) == 0


@pytest.mark.slow
def test_each_search_of_a_comparison_uses_the_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lsmsim", reason="the native core is not built here")
    file = Path("study.toml")
    file.write_text('engine = "simulated"\n[workload]\nname = "fillrandom"\nnum = 20000\n')
    asked = ["compare", "random", "tpe", "--real", "--study-file", str(file), "--trials", "4",
             "--repeats", "1", "--home", "home", "--hosts", "2", "--json"]  # fmt: skip
    assert run(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["optimizers"].keys() == {"random", "tpe"}
    with Home(Path("home"), create=False) as opened:
        names = opened.study_names()
    assert len(names) == 2
    for name in names:
        assert len(hosts_of(name, Role.TRIAL) - {None}) == 2


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["compare", "random", "--hosts", "2"], ["--hosts", "--real"]),
        (["verify", "s", "--rocksdb", "9.0.0", "--hosts", "2"], ["--hosts", "--rocksdb"]),
    ],
)
def test_hosts_that_would_not_be_used_are_refused(
    command: list[str], words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, "--home", "home"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert all(word in line for word in words)
    assert not Path("home").exists()


def test_python_names_the_argument() -> None:
    with pytest.raises(lsmtune.UserError, match="hosts"):
        lsmtune.verify("s", hosts=[])  # type: ignore[arg-type]
    with pytest.raises(lsmtune.UserError, match="certificates"):
        lsmtune.verify("s", hosts="tls://10.0.0.1:1", certificates=5)  # type: ignore[arg-type]
