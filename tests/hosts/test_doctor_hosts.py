"""`lsmtune doctor --hosts`: what each host has, and what differs between them."""

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.host_processes import Cluster, HostProcess, joined, new_cluster
from fakes.libraries import put
from fakes.patience import eventually
from lsmtune.api import doctor
from lsmtune.api.doctor import Check
from lsmtune.api.doctor_hosts import HostsChecked, differences, facts_of, this_machine
from lsmtune.cli.doctor import host_lines
from lsmtune.cli.main import run
from lsmtune.engines.libraries.installed import DEFAULT_VERSION
from lsmtune.hosts.task import HostInfo, HostResult
from lsmtune.study.host_jobs import differing_engine
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.testing.scripted import measured

FACTS, STORAGE = describe_host(), describe_storage(Path("/"))


def info(**given: Any) -> HostInfo:
    """A host whose facts can be changed by their names."""
    facts = {name: given.pop(name) for name in list(given) if hasattr(FACTS, name)}
    storage = {name: given.pop(name) for name in list(given) if hasattr(STORAGE, name)}
    usual: dict[str, Any] = {
        "lsmtune": "1.0.0", "dask": "2026.1.0", "python": "3.12.1",
        "libraries": {"11.8.1": "a" * 64},
    }  # fmt: skip
    return HostInfo(
        **{**usual, **given}, facts=replace(FACTS, **facts), storage=replace(STORAGE, **storage)
    )


def different(*hosts: HostInfo, here: HostInfo | None = None) -> dict[str, Check]:
    """The checks of facts that differ, by name; the hosts are a, b, c and so on."""
    names = dict(zip("abcdefghij", hosts, strict=False))
    found = {check.name: check for check in differences(names, here or info(), "11.8.1")}
    found.pop("the same", None)
    return found


def test_equal_hosts_differ_in_nothing() -> None:
    hosts = dict(zip("abcdefghij", [info()] * 10, strict=True))
    (found,) = differences(hosts, info(), "11.8.1")
    assert found.ok
    assert set(found.detail.split(", ")) == {
        "lsmtune", "Dask", "Python", "RocksDB", "CPU", "cores", "disk", "file system", "memory",
        "kernel",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "must_match"),
    [
        ("lsmtune", {"lsmtune": "0.9.0"}, True),
        ("RocksDB", {"libraries": {"11.8.1": "b" * 64}}, True),
        ("RocksDB", {"libraries": {}}, True),
        ("Dask", {"dask": "2025.1.0"}, False),
        ("Python", {"python": "3.13.0"}, False),
        ("CPU", {"cpu_model": "another"}, False),
        ("cores", {"usable_cpus": 999}, False),
        ("memory", {"memory_bytes": 2 * FACTS.memory_bytes}, False),
        ("disk", {"rotational": not STORAGE.rotational}, False),
        ("disk", {"model": "another"}, False),
        ("file system", {"fs_type": "another"}, False),
        ("kernel", {"kernel": "another"}, False),
    ],
)
def test_the_host_that_differs_is_named(
    name: str, change: dict[str, Any], must_match: bool
) -> None:
    other = info(**change)
    found = different(info(), info(), other, info())
    assert list(found) == [name]
    assert found[name].ok is not must_match
    assert f"c: {facts_of(other, '11.8.1')[name]}" in found[name].detail
    assert found[name].fix is not None


def test_this_machine_must_have_the_same_software_only() -> None:
    here = info(
        python="3.13.0", libraries={"11.8.1": "b" * 64}, cpu_model="another", kernel="another"
    )
    assert set(different(info(), info(), here=here)) == {"Python", "RocksDB"}


def test_a_little_less_memory_is_the_same() -> None:
    size = FACTS.memory_bytes
    assert different(info(memory_bytes=size), info(memory_bytes=int(0.95 * size))) == {}


def test_a_host_that_does_not_answer_has_no_facts() -> None:
    assert different(info(), info(), HostInfo(problem="frozen")) == {}
    assert different(HostInfo(problem="frozen")) == {}


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_text_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    hosts = {"alpha-1a2b3c4d": info(), "beta-1a2b3c4d": info(usable_cpus=999)}
    checks = list(differences(hosts, info(), "11.8.1"))
    facts = {host: facts_of(found, "11.8.1") for host, found in hosts.items()}
    lines = list(host_lines(HostsChecked(checks, list(hosts.values()), facts)))
    assert max(map(len, lines)) <= columns
    assert all(any(line.startswith(host) for line in lines) for host in hosts)


def result(library: str | None, version: str = "0.0.0") -> HostResult:
    """The result of a host that loaded a library."""
    told = measured()
    assert told.measurement is not None
    changed = told.measurement.model_copy(update={"engine_version": version})
    return HostResult(
        attempt="a", study="s", host="h", facts=FACTS, storage=STORAGE, started_at="",
        duration_s=1, clock_jump_s=0, library=library,
        result=told.model_copy(update={"measurement": changed}),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("version", "sha256", "found", "words"),
    [
        ("0.0.0", "a" * 64, result("a" * 64), None),
        ("0.0.0", "a" * 64, result("b" * 64), ["h1", "aaaaaaaa", "bbbbbbbb"]),
        ("0.0.0", "a" * 64, result(None), None),
        ("0.0.0", None, result("b" * 64), None),
        (None, None, result("b" * 64, "9.9.9"), None),
        ("0.0.0", "a" * 64, result("a" * 64, "9.9.9"), ["h1", "0.0.0", "9.9.9"]),
    ],
)
def test_another_engine_of_a_host_is_one_sentence(
    version: str | None, sha256: str | None, found: HostResult, words: list[str] | None
) -> None:
    why = differing_engine(version, sha256, found, "h1")
    assert (why is None) == (words is None)
    assert all(word in str(why) for word in words or ())
    assert "aaaaaaaaa" not in str(why)


# With a scheduler and workers.


@pytest.fixture
def check(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Run the command when these workers can be used; return exit code and document."""

    def checked(*workers: HostProcess, at: Cluster = cluster) -> tuple[int, dict[str, Any]]:
        with at.connect() as hosts:
            joined(hosts, *workers)
        code = run(["doctor", "--hosts", at.address, "--certificates", str(at.keys), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return checked


def states(document: dict[str, Any]) -> dict[str, str]:
    """The state of each check by its name."""
    return {each["name"]: Check(**each).state for each in document["checks"]}


def name(worker: HostProcess) -> str:
    """The name of a host in rows."""
    return f"{this_machine().node}-{worker.host}"


@pytest.mark.slow
def test_what_differs_is_said_of_each_host(
    cluster: Cluster, check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "has_driver", lambda: True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "here"))
    put(tmp_path / "here", DEFAULT_VERSION)
    put(tmp_path / "there", DEFAULT_VERSION, pinned=False)
    usual = [cluster.start_worker(each) for each in ("one", "two")]
    code, document = check(*usual)
    assert (code, document["ok"], set(states(document).values())) == (0, True, {"ok"})
    other = cluster.start_worker(
        "three", TEST_KERNEL="another", TEST_CLOCK_S="300", XDG_CACHE_HOME=str(tmp_path / "there"),
    )  # fmt: skip
    older = cluster.start_worker("four", TEST_VERSION="0.0.1")
    with cluster.connect() as hosts:
        assert eventually(lambda: any(each.lsmtune == "0.0.1" for each in hosts.hosts()))
    code, document = check(*usual, other)
    assert (code, document["ok"]) == (1, False)
    assert states(document) == {
        "hosts": "ok", "clocks": "warn", "lsmtune": "FAIL", "RocksDB": "FAIL", "kernel": "warn",
        "the same": "ok",
    }  # fmt: skip
    texts = {each["name"]: each["detail"] for each in document["checks"]}
    assert all(name(other) in texts[row] for row in ("RocksDB", "kernel", "clocks"))
    assert {each["host"] for each in document["hosts"]} >= {one.host for one in (*usual, other)}
    assert not any(worker.ran for worker in (*usual, other, older))


@pytest.mark.slow
def test_no_host_and_wrong_certificates_are_one_sentence(
    cluster: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = new_cluster(tmp_path)
    for flags, words in (
        ([], "--certificates"),
        (["--certificates", str(other.keys)], "lsmtune hosts init"),
        (["--certificates", str(tmp_path / "nowhere")], "ca.pem"),
        (["--certificates", str(cluster.keys), "--calibrate"], "--calibrate"),
    ):
        assert run(["doctor", "--hosts", cluster.address, *flags]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        (line,) = captured.err.splitlines()
        assert words in line
    flags = ["--certificates", str(cluster.keys), "--json"]
    assert run(["doctor", "--hosts", cluster.address, *flags]) == 1
    document = json.loads(capsys.readouterr().out)
    assert states(document) == {"hosts": "FAIL"}
    assert document["hosts"] == []


@pytest.mark.slow
def test_a_frozen_host_is_one_row(tmp_path: Path, check: Any) -> None:
    patient = new_cluster(tmp_path)
    try:
        # The scheduler keeps a worker that is silent for longer than a commander waits for it.
        patient.start_scheduler(TEST_TTL_S="120")
        fine, frozen = patient.start_worker("one"), patient.start_worker("two")
        with patient.connect() as hosts:
            joined(hosts, fine, frozen)
        frozen.send(signal.SIGSTOP)
        code, document = check(fine, at=patient)
    finally:
        patient.end()
    assert code == 1
    failed = [each for each in document["checks"] if not each["ok"]]
    assert len(failed) == 1
