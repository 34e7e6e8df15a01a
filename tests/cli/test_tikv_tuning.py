"""The whole way on TiKV's stand-in: tune, show, export, page, sweep, interruption, doctor."""

import json
import os
import re
import signal
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

import pytest

from fakes.fake_tikv import Mode
from fakes.forks import Program
from fakes.patience import eventually
from fakes.tikv_site import FILE, NUM, Site, site
from lsmtune.cli.main import run

pytestmark = pytest.mark.slow

BLOCK = "rocksdb.defaultcf.block-size"
STUDY = """
study = "s"
knobs = "rocksdb.defaultcf.block-size,rocksdb.defaultcf.write-buffer-size"
objective = "get_mean_us"
optimizer = "random"
trials = 3
base_runs = 1
finalists = 1
repeats = 0
pairs = 6
max_pairs = 6
memory = "16GiB"
"""
ONE = STUDY.replace("pairs = 6", "pairs = 0").replace("trials = 3", "trials = 2")


@dataclass
class Tuned:
    site: Site
    home: Path


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory, crowd: None) -> Iterator[Tuned]:
    """A study that was tuned and verified with `lsmtune tune --engine tikv`."""
    folder = tmp_path_factory.mktemp("tikv")
    with site(folder / "site") as place:
        (folder / "study.toml").write_text(place.file("ycsb_c", STUDY))
        home = folder / "home"
        arguments = ["tune", str(folder / "study.toml"), "--engine", "tikv", "--home", str(home)]
        assert run(arguments) == 0
        yield Tuned(place, home)


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def test_a_gain_is_found_and_verified(tuned: Tuned, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(out(capsys, "show", "s", "--home", str(tuned.home), "--json"))
    assert document["engine"] == "tikv"
    assert document["engine_version"] == "8.5.3"
    assert document["trials"]["failed"] == 0
    assert document["verification"]["claim"] == "gain"
    assert document["verification"]["pairs"] == 6
    assert document["best"]["config"][BLOCK] < 64 * 1024
    assert document["base"]["metrics"]["get_mean_us"] == 100 + 10 * 64
    assert "live_sst_bytes <= 1.1 * base" in document["limits"]
    assert "get_p99_us <= 1.1 * base" in document["limits"]


def test_tikv_runs_as_before_in_the_end(tuned: Tuned) -> None:
    place = tuned.site
    assert place.config.read_text() == FILE
    assert place.tikv.value(BLOCK) == "64KB"
    assert place.tikv.starts > 3
    files = [path for path in tuned.home.rglob("*") if path.is_file()]
    secret = {path for path in files if b"never-to-be-shown" in path.read_bytes()}
    results = tuned.home / "results" / "s"
    assert secret == {results / "tikv.toml", results / "tikv.toml.back"}
    assert {path.stat().st_mode for path in secret} == {place.config.stat().st_mode}


def test_the_file_to_deploy_and_the_way_back(
    tuned: Tuned, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = tuned.home / "results" / "s"
    deployed = (results / "tikv.toml").read_text()
    found = tomllib.loads(deployed)["rocksdb"]["defaultcf"]["block-size"]
    assert found.endswith("KiB")
    assert "6 pairs of runs" in deployed
    assert "restart" in deployed
    assert "Do not start TiKV" not in deployed
    assert without_notes((results / "tikv.toml.back").read_text()) == without_first_line(FILE)
    own = tmp_path / "own.toml"
    own.write_text(FILE)
    flags = ["--format", "tikv-toml", "--home", str(tuned.home), "--base", str(own)]
    text = out(capsys, "export", "s", *flags)
    assert f'block-size = "{found}" # as ever' in text
    assert 'data-dir = "/data/tikv"   # big disk' in text
    assert "Only [rocksdb]" not in text
    # Without --base it is the file that TiKV starts with, if that can be read.
    # Only the notes about changes and about the way back differ.
    plain = out(capsys, "export", "s", *flags[:-2])
    assert without_notes(plain) == without_notes(text)
    own.write_text(text)
    again = tomllib.loads(out(capsys, "export", "s", *flags, "--back"))
    assert again["rocksdb"]["defaultcf"]["block-size"] == "64KiB"
    assert again["security"] == tomllib.loads(FILE)["security"]


def without_first_line(text: str) -> str:
    """Return the user's file without the comment that it begins with."""
    return text.partition("\n")[2]


def without_notes(text: str) -> str:
    """Return the file without the comment lines at its top."""
    lines = text.splitlines(keepends=True)
    return "".join(dropwhile(lambda line: line.startswith("#"), lines))


def test_what_can_go_online_is_told_with_its_calls(
    tuned: Tuned, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads(out(capsys, "trials", "s", "--home", str(tuned.home), "--json"))
    memtable = "rocksdb.defaultcf.write-buffer-size"
    number = next(
        row["trial"] for row in rows
        if row["role"] == "trial" and row["config"][memtable] != 128 << 20
    )  # fmt: skip
    text = out(capsys, "export", "s", "--format", "tikv-toml", "--trial", str(number),
               "--home", str(tuned.home))  # fmt: skip
    told = tomllib.loads(text)["rocksdb"]["defaultcf"]["write-buffer-size"]
    status = f"127.0.0.1:{tuned.site.port}"
    assert f"""curl -X POST http://{status}/config -d '{{"{memtable}": "{told}"}}'""" in text
    assert f"modify-tikv-config -n {memtable} -v {told}" in text


def test_a_file_that_cannot_be_read_is_not_made_up(
    tuned: Tuned, capsys: pytest.CaptureFixture[str]
) -> None:
    away = tuned.site.config.rename(tuned.site.folder / "away")
    try:
        text = out(capsys, "export", "s", "--format", "tikv-toml", "--home", str(tuned.home))
    finally:
        away.rename(tuned.site.config)
    assert "Do not start TiKV" in text
    command = "lsmtune export s --format tikv-toml --base tikv.toml"
    assert f"{command} --home {tuned.home}\n" in text
    assert "security" not in tomllib.loads(text)


def test_other_forms_are_refused(tuned: Tuned, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "s", "--format", "options", "--home", str(tuned.home)]) == 2
    assert "tikv-toml" in capsys.readouterr().err


def test_no_other_scale_is_verified(tuned: Tuned, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "s", "--scale", "1/8", "--home", str(tuned.home)]) == 2
    assert "scale: 1/8 " in capsys.readouterr().err


def test_there_is_a_page(tuned: Tuned) -> None:
    page = (tuned.home / "results" / "s" / "report.html").read_text()
    assert "tikv 8.5.3" in page
    assert BLOCK in page


@pytest.fixture
def place(tmp_path: Path, crowd: None) -> Iterator[Site]:
    with site(tmp_path / "site") as found:
        yield found


def study_file(place: Site, text: str, load: str = "ycsb_a") -> Path:
    path = place.folder.parent / "study.toml"
    path.write_text(place.file(load, text))
    return path


def test_a_dry_run_changes_nothing(
    place: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = out(capsys, "tune", str(study_file(place, ONE)), "--dry-run", "--home",
               str(tmp_path / "home"))  # fmt: skip
    assert "tikv 8.5.3" in told
    assert re.search(r"^disk .* 0 B ", told, re.MULTILINE)
    assert (place.tikv.starts, place.tikv.asked, place.runs()) == (1, [], [])
    assert not (tmp_path / "home").exists()


def test_a_load_that_never_leaves_the_memtables_is_refused(
    place: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, home = study_file(place, ONE, "writeheavy"), str(tmp_path / "home")
    large = path.read_text()
    small = large.replace(f"num = {NUM}", "num = 20000")
    assert "TOO SMALL" not in dry_run(path, capsys, large)
    assert "TOO SMALL" in dry_run(path, capsys, small)
    assert run(["tune", str(path), "--home", home]) == 2
    refused = re.search(r"workload\.num: 20000 .* use (\d+) or more", capsys.readouterr().err)
    assert refused is not None
    path.write_text(large.replace(f"num = {NUM}", f"num = {refused[1]}"))
    assert run(["tune", str(path), "--home", str(tmp_path / "other")]) == 0


def test_a_load_that_also_reads_says_that_it_flushes_too_seldom(
    place: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, home = study_file(place, ONE), str(tmp_path / "home")
    small = path.read_text().replace(f"num = {NUM}", "num = 20000")
    told = dry_run(path, capsys, small)
    assert "not measurable" in told
    assert "TOO SMALL: " not in told
    assert run(["tune", str(path), "--home", home]) == 0
    err = capsys.readouterr().err
    assert "not measurable" in err
    assert "noise: throughput_ops_s" in err
    document = json.loads(out(capsys, "show", "s", "--home", home, "--json"))
    assert document["base"]["metrics"]["flushes"] == 0
    assert "write_amp" not in document["base"]["metrics"]
    path.write_text(small.replace('"get_mean_us"', '"write_amp"').replace('"s"', '"t"'))
    assert run(["tune", str(path), "--home", home]) == 2
    assert "workload.num: 20000 " in capsys.readouterr().err


def dry_run(path: Path, capsys: pytest.CaptureFixture[str], text: str) -> str:
    path.write_text(text)
    return out(capsys, "tune", str(path), "--dry-run")


def test_transactions_are_tuned_although_some_conflict(
    place: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.tikv.conflicts = 0.2
    path, home = study_file(place, ONE, "writeheavy"), str(tmp_path / "home")
    path.write_text(path.read_text().replace("[tikv]", '[tikv]\napi = "txn"'))
    assert run(["tune", str(path), "--home", home]) == 0
    document = json.loads(out(capsys, "show", "s", "--home", home, "--json"))
    assert document["trials"]["failed"] == 0
    assert document["base"]["metrics"]["failed_percent"] == pytest.approx(20)


def test_trials_that_fail_are_told_and_the_study_goes_on(
    place: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.tikv.mode = Mode.STARTS_WITH_ITS_OWN
    home = str(tmp_path / "home")
    text = ONE.replace("write-buffer-size", "bloom-filter-bits-per-key")
    assert run(["tune", str(study_file(place, text)), "--home", home]) == 0
    document = json.loads(out(capsys, "show", "s", "--home", home, "--json"))
    assert document["trials"]["failed"] == document["trials"]["total"] == 2
    assert {trial["status"] for trial in document["failed_trials"]} == {"mismatch"}
    assert place.config.read_text() == FILE


def test_a_controlled_experiment_runs_on_tikv(
    place: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
[sweep]
factors = { block = { "rocksdb.defaultcf.block-size" = ["4KiB", "64KiB"] } }
repeats = 2
metrics = ["get_mean_us"]
"""
    path = study_file(place, "", "smallpntlookup")
    path.write_text(path.read_text() + text)
    home = str(tmp_path / "home")
    told = json.loads(out(capsys, "sweep", str(path), "--home", home, "--json"))
    assert told["failed"] == 0
    assert told["factors"]["block"]["levels"] == ["4 KiB", "64 KiB"]
    assert place.config.read_text() == FILE


def test_a_screening_runs_one_load_at_a_time(
    place: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = study_file(place, "")
    assert run(["screen", str(path), "--jobs", "2", "--home", str(tmp_path / "home")]) == 2
    assert "--jobs: invalid value 2" in capsys.readouterr().err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGHUP])
def test_a_study_that_is_interrupted_gives_tikv_back(
    place: Site, tmp_path: Path, how: signal.Signals
) -> None:
    """While go-ycsb runs under options that came by a restart."""
    path = study_file(place, ONE.replace('"random"', '"tpe"'))
    place.program.with_name("hold").touch()
    process = Program(["tune", str(path), "--home", str(tmp_path / "home")], tmp_path, os.environ)
    try:
        held = place.program.with_name("held")
        assert eventually(lambda: held.exists() or process.poll() is not None)
        assert place.config.read_text() != FILE
        process.send_signal(how)
        _, err = process.communicate()
    finally:
        process.kill()
    assert "lsmtune: interrupted" in err
    assert process.returncode == 1
    assert place.config.read_text() == FILE
    assert place.tikv.value(BLOCK) == "64KB"


def test_doctor_needs_no_go_ycsb(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    run(["doctor", "--home", str(tmp_path), "--json"])
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert checks["go-ycsb"]["ok"]
    assert "TiKV" in checks["go-ycsb"]["fix"]
