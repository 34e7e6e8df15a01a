"""Facts about the host, and whose CPU it was."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import psutil
import pytest

from lsmtune.system.host import (
    CpuMeter,
    CpuUse,
    boot_id,
    describe_host,
    describe_storage,
    free_bytes,
    parse_cpu_use,
)

TICKS_S = os.sysconf("SC_CLK_TCK")


def proc_stat(*seconds: int) -> str:
    """The text of /proc/stat with these seconds of user, nice, system, idle, iowait, …"""
    total = " ".join(str(value * TICKS_S) for value in seconds)
    return f"cpu  {total}\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 12345\nctxt 678\n"


def test_host_facts_are_plain_data() -> None:
    facts = describe_host()
    assert json.loads(json.dumps(asdict(facts))) == asdict(facts)
    assert facts.logical_cpus >= 1
    assert facts.memory_bytes > 2**20
    assert facts.max_open_files > 0
    assert facts.boot_id == boot_id() != ""
    assert all((facts.kernel, facts.machine, facts.os_name))


def test_unknown_cpu_and_system_are_not_invented(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_release() -> dict[str, str]:
        raise FileNotFoundError

    monkeypatch.setattr("platform.freedesktop_os_release", no_release)
    monkeypatch.setattr(Path, "read_text", lambda _: "processor : 0\nCPU part : 0xd0c\n")
    facts = describe_host()
    assert facts.cpu_model is None
    assert facts.os_name == "Linux"


def test_storage_of_a_path_that_is_yet_to_be_made(tmp_path: Path) -> None:
    here = describe_storage(tmp_path)
    later = describe_storage(tmp_path / "not" / "yet")
    assert (here.fs_type, here.device) == (later.fs_type, later.device)
    assert here.fs_type
    assert later.free_bytes > 0
    assert free_bytes(tmp_path / "not" / "yet") > 0


def mount(device: str, point: str, fs_type: str) -> object:
    return psutil._ntuples.sdiskpart(device, point, fs_type, "rw")


def test_the_deepest_and_latest_mount_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path.resolve()
    mounts = [
        mount("root", "/", "ext4"),
        mount("hidden", str(inner), "xfs"),
        mount("top", str(inner), "tmpfs"),
        mount("sibling", f"{inner}x", "btrfs"),
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: mounts)
    assert describe_storage(inner / "db").device == "top"
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: mounts[3:])
    assert describe_storage(inner / "db").fs_type is None


def test_busy_is_all_but_idle_and_waiting() -> None:
    #                        user nice system idle iowait irq softirq steal guest guest_nice
    use = parse_cpu_use(proc_stat(10, 2, 3, 70, 5, 1, 4, 5, 9, 1))
    assert (use.busy_s, use.total_s) == pytest.approx((25, 100))


def test_old_kernels_have_fewer_fields() -> None:
    assert parse_cpu_use(proc_stat(1, 0, 1, 8, 0)).total_s == pytest.approx(10)


@pytest.mark.parametrize(("own_cpu_s", "percent"), [(0, 30.0), (20, 10.0), (30, 0.0), (31, 0.0)])
def test_others_are_what_is_left(tmp_path: Path, own_cpu_s: float, percent: float) -> None:
    stat = tmp_path / "stat"
    stat.write_text(proc_stat(100, 0, 50, 1000, 10, 0, 0, 5))
    meter = CpuMeter(stat)
    stat.write_text(proc_stat(115, 0, 60, 1065, 15, 0, 0, 10))
    assert meter.stop().others_cpu_percent(own_cpu_s) == pytest.approx(percent)


def test_counters_that_step_back_do_no_harm(tmp_path: Path) -> None:
    stat = tmp_path / "stat"
    stat.write_text(proc_stat(100, 0, 0, 1000, 0, 0, 0, 0))
    meter = CpuMeter(stat)
    assert meter.stop() == CpuUse(0, 0)
    assert meter.stop().others_cpu_percent(0) == 0
    stat.write_text(proc_stat(99, 0, 0, 1000, 0, 0, 0, 0))
    assert meter.stop().others_cpu_percent(0) == 0


def test_the_real_meter_stays_in_bounds() -> None:
    use = CpuMeter().stop()
    assert 0 <= use.others_cpu_percent(0) <= 100
