"""`lsmtune doctor --hosts`: what differs between hosts, and whose runs give other results."""

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.host_processes import Cluster, HostProcess, host_task, joined, new_cluster
from fakes.libraries import put
from fakes.patience import PATIENCE_S, eventually
from lsmtune.api import doctor, doctor_hosts
from lsmtune.api.doctor import Check
from lsmtune.cli.doctor import host_lines
from lsmtune.cli.main import run
from lsmtune.engines.libraries.pins import DEFAULT_VERSION
from lsmtune.errors import UserError
from lsmtune.hosts.commander import Event, Hosts
from lsmtune.hosts.compare import Fact, compare_hosts
from lsmtune.hosts.task import HostInfo, HostResult
from lsmtune.study.host_jobs import differing_engine
from lsmtune.study.host_pairs import TIME, TIME_RATIO, Figures, HostPair, deviations, of_median
from lsmtune.system.host import describe_host, describe_storage
from lsmtune.testing.scripted import ScriptedEngine, measured

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


def compared(*hosts: HostInfo, here: HostInfo | None = None) -> dict[str, Fact]:
    """The facts by their names; the hosts are a, b, c and so on."""
    names = dict(zip("abcdefghij", hosts, strict=False))
    found = compare_hosts(names, here or info(), "11.8.1")
    return {fact.name: fact for fact in found}


def test_equal_hosts_differ_in_nothing() -> None:
    found = compared(*[info()] * 10)
    assert not [fact.name for fact in found.values() if fact.differs]
    assert {name: len(fact.groups) for name, fact in found.items()} == dict.fromkeys(
        ["lsmtune", "Dask", "Python", "RocksDB", "CPU", "cores", "disk", "file system", "memory",
         "kernel"], 1,
    )  # fmt: skip


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
    found = compared(info(), info(), info(**change), info())
    assert [fact.name for fact in found.values() if fact.differs] == [name]
    usual, other = found[name].groups
    assert (usual.hosts, other.hosts) == (("a", "b", "d"), ("c",))
    assert found[name].must_match is must_match
    assert f"c: {other.value}" in found[name].text


def test_this_machine_must_have_the_same_software_only() -> None:
    here = info(
        python="3.13.0", libraries={"11.8.1": "b" * 64}, cpu_model="another", kernel="another"
    )
    found = compared(info(), info(), here=here)
    assert {name for name, fact in found.items() if fact.differs} == {"Python", "RocksDB"}
    # A reader still sees that the hardware differs.
    assert {name for name, fact in found.items() if "this machine" in fact.text} == {
        "Python", "RocksDB", "CPU", "kernel",
    }  # fmt: skip


def test_a_little_less_memory_is_the_same() -> None:
    size = FACTS.memory_bytes
    found = compared(info(memory_bytes=size), info(memory_bytes=int(0.95 * size)))
    assert not found["memory"].differs


def test_a_host_that_does_not_answer_has_no_facts() -> None:
    found = compared(info(), info(), HostInfo(problem="frozen"))
    assert [fact.name for fact in found.values() if fact.differs] == []
    assert compared(HostInfo(problem="frozen")) == {}


def pair(host: str, *times: float, write_amp: float = 1.0) -> HostPair:
    """The runs of a host with these times."""
    return HostPair(host, [Figures(time_s, write_amp) for time_s in times])


def test_figures_near_the_median_are_no_deviation() -> None:
    assert deviations([pair("a", 10, 20), pair("b", 12, 21), pair("c", 8.1, 18)]) == []
    assert deviations([]) == []
    assert deviations([HostPair("a", problem="failed")]) == []


def test_a_slow_host_deviates_with_both_numbers() -> None:
    pairs = [pair("a", 10, 20), pair("b", 10, 20), pair("c", 13, 26)]
    (found,) = deviations(pairs)
    assert (found.host, found.what, found.value, found.usual) == ("c", TIME, 13, 10)
    assert of_median(pairs) == {"a": 1.0, "b": 1.0, "c": 1.3}


def test_a_host_with_another_ratio_deviates() -> None:
    pairs = [pair("a", 10, 20), pair("b", 10, 20), pair("c", 10, 14), pair("d", 10)]
    (found,) = deviations(pairs)
    assert (found.host, found.what, found.value, found.usual) == ("c", TIME_RATIO, 1.4, 2.0)
    assert pairs[-1].time_ratio is None


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_the_text_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    facts = [Check(fact.name, True, fact.text) for fact in compared(info(), info()).values()]
    pairs = [pair("alpha-1a2b3c4d", 10, 20), pair("beta-1a2b3c4d", 200, 400)]
    lines = list(host_lines(doctor_hosts.HostsChecked(facts, pairs, (1 << 20, 1 << 16))))
    assert max(map(len, lines)) <= columns
    for each in pairs:
        (row,) = [line.split() for line in lines if line.startswith(each.host)]
        assert "2.00" in row  # the ratio is in every width


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
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, dict[str, Any]]]:
    """Run the command when these workers can be used; return exit code and document."""

    def checked(*workers: HostProcess, at: Cluster = cluster) -> tuple[int, dict[str, Any]]:
        with at.connect() as hosts:
            joined(hosts, *workers)
        code = run(["doctor", "--hosts", at.address, "--certificates", str(at.keys), "--json"])
        return code, json.loads(capsys.readouterr().out)

    monkeypatch.setattr(doctor_hosts, "engine_of", lambda _: ScriptedEngine(lambda _: measured()))
    return checked


def states(document: dict[str, Any]) -> dict[str, str]:
    """The state of each check by its name; of several with one name, the worst."""
    found: dict[str, str] = {}
    for each in document["checks"]:
        state = Check(**each).state
        if found.get(each["name"]) != "FAIL":
            found[each["name"]] = state
    return found


def name(worker: HostProcess) -> str:
    """The name of a host in rows."""
    return f"{doctor_hosts.this_machine().node}-{worker.host}"


@pytest.mark.slow
def test_equal_hosts_run_both_and_keep_nothing(cluster: Cluster, check: Any) -> None:
    workers = [cluster.start_worker(each) for each in ("one", "two", "three")]
    before = [len(worker.ran) for worker in workers]
    code, document = check(*workers)
    assert (code, document["ok"]) == (0, True)
    assert set(states(document).values()) == {"ok"}
    assert {each["host"] for each in document["hosts"]} == {name(each) for each in workers}
    for each in document["hosts"]:
        assert each["time_ratio"] == each["write_amp_ratio"] == each["of_median"] == 1.0
        assert each["problem"] is None
    # Each run has a line when it begins and one when it ends.
    assert [len(w.ran) - b for w, b in zip(workers, before, strict=True)] == [4, 4, 4]
    with cluster.connect() as hosts:
        assert not any(info.kept for info in hosts.hosts())


@pytest.mark.slow
def test_what_differs_is_said_of_each_host(
    cluster: Cluster, check: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "has_driver", lambda: True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "here"))
    put(tmp_path / "here", DEFAULT_VERSION)
    put(tmp_path / "there", DEFAULT_VERSION, pinned=False)
    usual = [cluster.start_worker(each) for each in ("one", "two")]
    other = cluster.start_worker(
        "three", TEST_KERNEL="another", TEST_CLOCK_S="300", TEST_TIME_S="1.5",
        XDG_CACHE_HOME=str(tmp_path / "there"),
    )  # fmt: skip
    code, document = check(*usual, other)
    found = states(document)
    assert (code, document["ok"]) == (1, False)
    assert (found["RocksDB"], found["kernel"], found["clocks"]) == ("FAIL", "warn", "warn")
    assert found[f"host {name(other)}"] == found["equal runs"] == "warn"
    assert found["CPU"] == found["lsmtune"] == found["file system"] == "ok"
    texts = {each["name"]: each["detail"] for each in document["checks"]}
    for row in ("RocksDB", "kernel", "clocks"):
        assert name(other) in texts[row]
        assert name(usual[0]) not in texts[row]
    ratios = {each["host"]: each["of_median"] for each in document["hosts"]}
    assert ratios == {name(usual[0]): 1.0, name(usual[1]): 1.0, name(other): 1.5}


@pytest.mark.slow
def test_a_host_without_the_engine_and_a_busy_one_do_not_stop_the_others(
    cluster: Cluster, check: Any
) -> None:
    fine = cluster.start_worker("one")
    without = cluster.start_worker("two", TEST_NO_ENGINE="RocksDB is missing; install it")
    wrong = cluster.start_worker("three", TEST_ENGINE="9.9.9")
    older = cluster.start_worker("four", TEST_VERSION="0.0.1")
    busy = cluster.start_worker("five")
    with cluster.connect() as hosts:
        *_, found = joined(hosts, fine, without, wrong, busy)
        assert eventually(lambda: any(each.lsmtune == "0.0.1" for each in hosts.hosts()))
        hosts.start(found.address, host_task("busy-1", seconds=PATIENCE_S))
        assert eventually(lambda: bool(busy.ran))
        began = len(busy.ran)
        code, document = check(fine, without, wrong)
        assert hosts.hosts()
        assert len(busy.ran) == began
    assert code == 1
    found_states = states(document)
    assert found_states["lsmtune"] == "FAIL"
    assert found_states[f"host {name(without)}"] == found_states[f"host {name(wrong)}"] == "FAIL"
    assert found_states[f"host {name(busy)}"] == "warn"
    rows = {each["host"]: each for each in document["hosts"]}
    assert rows[name(fine)]["time_ratio"] == 1.0
    assert rows[name(busy)]["busy"] is True
    assert "9.9.9" in rows[name(wrong)]["problem"]
    assert name(older) not in rows
    (row,) = [each for each in document["checks"] if each["name"] == f"host {name(without)}"]
    assert (row["detail"], row["fix"]) == ("RocksDB is missing", "install it")


@pytest.mark.slow
def test_ctrl_c_ends_the_runs_on_the_hosts(
    cluster: Cluster, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers = [cluster.start_worker(each, TEST_SECONDS=str(PATIENCE_S)) for each in ("one", "two")]
    before = [len(worker.ran) for worker in workers]

    def all_began(_: float) -> list[Any]:
        assert eventually(lambda: all(len(w.ran) > b for w, b in zip(workers, before, strict=True)))
        raise KeyboardInterrupt

    with cluster.connect() as hosts:
        joined(hosts, *workers)
    with monkeypatch.context() as patch:
        patch.setattr("lsmtune.hosts.commander.Hosts.wait", lambda _, seconds: all_began(seconds))
        with pytest.raises(KeyboardInterrupt):
            doctor_hosts.doctor_hosts(cluster.address, cluster.keys)
    with cluster.connect() as hosts:
        assert eventually(lambda: all(each.running is None for each in hosts.hosts()))
        assert not any(each.kept for each in hosts.hosts())


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
def test_a_host_that_dies_is_one_row(
    cluster: Cluster, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = cluster.start_worker("one")
    dying = cluster.start_worker("two", TEST_SECONDS=str(PATIENCE_S))
    before, own_wait = len(dying.ran), Hosts.wait

    def wait(hosts: Hosts, timeout_s: float) -> list[Event]:
        if dying.popen.poll() is None and len(dying.ran) > before:
            dying.kill()
        return own_wait(hosts, timeout_s)

    monkeypatch.setattr(Hosts, "wait", wait)
    code, document = check(fine, dying)
    failed = [each["name"] for each in document["checks"] if not each["ok"]]
    assert (code, failed) == (1, [f"host {name(dying)}"])
    rows = {each["host"]: each for each in document["hosts"]}
    assert rows[name(fine)]["problem"] is None
    assert rows[name(dying)]["base"] is None


@pytest.mark.slow
def test_without_the_engine_here_the_facts_are_compared(
    cluster: Cluster, check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> None:
        raise UserError("RocksDB is missing; install it")

    monkeypatch.setattr(doctor_hosts, "engine_of", refuse)
    code, document = check(cluster.start_worker("one"))
    found = states(document)
    assert (code, found.pop("this machine"), document["hosts"]) == (1, "FAIL", [])
    assert set(found.values()) == {"ok"}


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
    assert [each["host"] for each in document["hosts"]] == [name(fine)]
