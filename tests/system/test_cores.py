"""The number of usable cores: affinity and CPU quotas, from copied texts of /proc and /sys."""

import os
from fractions import Fraction
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.system.host import quota_cores, usable_cores

# Ubuntu 22.04, systemd, version 2 only.
V2_MOUNTS = """\
24 30 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
25 30 0:23 / /proc rw,nosuid,nodev,noexec,relatime shared:14 - proc proc rw
30 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw,discard,errors=remount-ro
34 24 0:29 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate
"""
# CentOS 7, systemd, version 1, with cpu and cpuacct in one hierarchy.
V1_MOUNTS = """\
23 24 0:22 / /sys rw,nosuid,nodev,noexec,relatime shared:6 - sysfs sysfs rw
25 23 0:23 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:8 - tmpfs tmpfs ro,mode=755
26 25 0:24 / /sys/fs/cgroup/systemd rw,nosuid shared:9 - cgroup cgroup rw,xattr,name=systemd
29 25 0:26 / /sys/fs/cgroup/cpuset rw,nosuid,relatime shared:11 - cgroup cgroup rw,cpuset
30 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid,relatime shared:12 - cgroup cgroup rw,cpuacct,cpu
"""
V1_GROUPS = """\
11:name=systemd:/system.slice/tune.service
4:cpuacct,cpu:/system.slice/tune.service
1:cpuset:/
"""
# A virtual machine with one hierarchy per controller, and version 2 without controllers.
HYBRID_MOUNTS = """\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw,relatime - cgroup cgroup rw,cpuset
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
HYBRID_GROUPS = """\
3:cpuset:/
2:cpuacct:/
1:cpu:/tune
0::/tune
"""
# Docker on version 1: the mount shows the container's own group, and the path is the host's.
DOCKER_V1_MOUNTS = """\
612 608 0:26 /docker/3f1c /sys/fs/cgroup/cpu,cpuacct ro,nosuid - cgroup cgroup rw,cpu,cpuacct
"""


V1 = "sys/fs/cgroup/cpu,cpuacct"
V2 = "sys/fs/cgroup"
Files = dict[str, str]


def machine(root: Path, groups: str, mounts: str, files: Files) -> Path:
    """Write the files of a machine below `root`, which is returned."""
    own = {"proc/self/cgroup": groups, "proc/self/mountinfo": mounts}
    for name, text in (own | files).items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(os.fsencode(text))
    return root


def v1(folder: str, quota: int, period: int = 100_000) -> Files:
    """Return the files of a group of version 1."""
    return {
        f"{folder}/cpu.cfs_quota_us": f"{quota}\n",
        f"{folder}/cpu.cfs_period_us": f"{period}\n",
    }


def v2(folder: str, text: str) -> Files:
    """Return the file of a group of version 2."""
    return {f"{folder}/cpu.max": f"{text}\n"}


def test_quota_cores_without_control_groups_is_none(tmp_path: Path) -> None:
    assert quota_cores(tmp_path) is None
    assert quota_cores(machine(tmp_path, "", "", {})) is None


V2_CASES = {
    "root group has no file": ("0::/", {}, None),
    "no quota": ("0::/tune", v2(f"{V2}/tune", "max 100000"), None),
    "whole": ("0::/tune", v2(f"{V2}/tune", "300000 100000"), 3),
    "fraction is rounded up": ("0::/tune", v2(f"{V2}/tune", "150000 100000"), 2),
    "less than one core": ("0::/tune", v2(f"{V2}/tune", "1000 100000"), 1),
    "other period": ("0::/tune", v2(f"{V2}/tune", "40000 10000"), 4),
    "cgroup namespace": ("0::/", v2(V2, "200000 100000"), 2),
    "parent is tighter": (
        "0::/user.slice/tune.scope",
        v2(f"{V2}/user.slice/tune.scope", "800000 100000")
        | v2(f"{V2}/user.slice", "250000 100000"),
        3,
    ),
    "own is tighter": (
        "0::/user.slice/tune.scope",
        v2(f"{V2}/user.slice/tune.scope", "400000 100000")
        | v2(f"{V2}/user.slice", "900000 100000"),
        4,
    ),
    "grandparent alone": ("0::/a/b/c", v2(f"{V2}/a", "500000 100000"), 5),
    "removed group": ("0::/a/b (deleted)", v2(f"{V2}/a", "500000 100000"), 5),
    "another group": ("0::/a", v2(f"{V2}/b", "500000 100000"), None),
    "colon in the name": ("0::/a:b", v2(f"{V2}/a:b", "500000 100000"), 5),
    "outside of the namespace": ("0::/../a", v2(V2, "500000 100000"), None),
}


@pytest.mark.parametrize(("groups", "files", "cores"), V2_CASES.values(), ids=list(V2_CASES))
def test_quota_cores_of_version_2(
    tmp_path: Path, groups: str, files: Files, cores: int | None
) -> None:
    assert quota_cores(machine(tmp_path, f"{groups}\n", V2_MOUNTS, files)) == cores


V1_CASES = {
    "no quota": (v1(f"{V1}/system.slice/tune.service", -1), None),
    "fraction is rounded up": (v1(f"{V1}/system.slice/tune.service", 150_000), 2),
    "whole": (v1(f"{V1}/system.slice/tune.service", 60_000, 20_000), 3),
    "parent is tighter": (
        v1(f"{V1}/system.slice/tune.service", 700_000) | v1(f"{V1}/system.slice", 500_000),
        5,
    ),
    "root of the mount": (v1(V1, 400_000), 4),
    "group of another controller": (v1("sys/fs/cgroup/cpuset", 400_000), None),
    "no period": ({f"{V1}/cpu.cfs_quota_us": "400000\n"}, None),
}


@pytest.mark.parametrize(("files", "cores"), V1_CASES.values(), ids=list(V1_CASES))
def test_quota_cores_of_version_1(tmp_path: Path, files: Files, cores: int | None) -> None:
    assert quota_cores(machine(tmp_path, V1_GROUPS, V1_MOUNTS, files)) == cores


def test_quota_cores_of_a_mount_of_a_container_uses_its_group(tmp_path: Path) -> None:
    files = v1(V1, 250_000) | v1(f"{V1}/inner", 150_000) | v1(f"{V1}/docker/3f1c", 50_000)
    groups = "4:cpu,cpuacct:/docker/3f1c{}\n"
    outer = machine(tmp_path / "outer", groups.format(""), DOCKER_V1_MOUNTS, files)
    inner = machine(tmp_path / "inner", groups.format("/inner"), DOCKER_V1_MOUNTS, files)
    other = machine(tmp_path / "other", "4:cpu,cpuacct:/docker/3f1cd\n", DOCKER_V1_MOUNTS, files)
    assert [quota_cores(root) for root in (outer, inner, other)] == [3, 2, None]


@pytest.mark.parametrize(("first", "second", "cores"), [(-1, "max", None), (200_000, "max", 2),
    (-1, "300000", 3), (200_000, "300000", 2), (500_000, "300000", 3)])  # fmt: skip
def test_quota_cores_of_hybrid_mounts_is_the_smaller_of_both_versions(
    tmp_path: Path, first: int, second: str, cores: int | None
) -> None:
    files = v1("sys/fs/cgroup/cpu/tune", first)
    files |= v2("sys/fs/cgroup/unified/tune", f"{second} 100000")
    assert quota_cores(machine(tmp_path, HYBRID_GROUPS, HYBRID_MOUNTS, files)) == cores


def test_quota_cores_of_a_hidden_mount_is_not_used(tmp_path: Path) -> None:
    hidden = V2_MOUNTS + "40 34 0:40 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    files = v2(V2, "100000 100000")
    assert quota_cores(machine(tmp_path / "hidden", "0::/\n", hidden, files)) is None
    assert quota_cores(machine(tmp_path / "visible", "0::/\n", V2_MOUNTS, files)) == 1


@pytest.mark.parametrize(
    "text",
    ["", "max", "100000", "max 100000 1", "100000 0", "0 100000", "-1 100000", "1e5 100000",
     "100000 100000 100000", "100000,100000", "٣ 1", "9" * 5000 + " 1", "\0 \0", "\udcff 1"],
)  # fmt: skip
def test_quota_cores_of_a_malformed_file_is_none(tmp_path: Path, text: str) -> None:
    assert quota_cores(machine(tmp_path, "0::/\n", V2_MOUNTS, v2(V2, text))) is None


@pytest.mark.parametrize(
    "line",
    ["", "34 24 0:29 /", "34 24 0:29 / /mnt rw", "34 24 0:29 / /mnt rw - cgroup cgroup",
     "34 24 0:29 / /mnt\\000 rw - cgroup2 cgroup2 rw", " - cgroup2 cgroup2 rw",
     "34 24 0:29 / /mnt\\777 rw - cgroup cgroup rw,cpu"],
)  # fmt: skip
def test_quota_cores_skips_malformed_mounts(tmp_path: Path, line: str) -> None:
    files = v2(V2, "300000 100000")
    assert quota_cores(machine(tmp_path, HYBRID_GROUPS, f"{line}\n{V2_MOUNTS}", files)) == 3


def test_quota_cores_of_an_unreadable_file_is_none(tmp_path: Path) -> None:
    machine(tmp_path, "0::/tune\n", V2_MOUNTS, v2(V2, "300000 100000"))
    (tmp_path / V2 / "tune" / "cpu.max").mkdir(parents=True)
    assert quota_cores(tmp_path) == 3  # the quota of the parent still counts


@pytest.mark.parametrize(("allowed", "cores"), [(1, 1), (2, 2), (3, 3), (64, 3)])
def test_usable_cores_is_the_smaller_of_affinity_and_quota(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: int, cores: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(allowed)))
    assert usable_cores(tmp_path) == allowed
    machine(tmp_path, "0::/\n", V2_MOUNTS, v2(V2, "250000 100000"))
    assert usable_cores(tmp_path) == cores


def test_usable_cores_of_this_machine_is_at_most_the_affinity() -> None:
    assert 1 <= usable_cores() <= len(os.sched_getaffinity(0))


micros = st.integers(1, 10**9)
names = st.text(
    st.characters(exclude_characters="/\n\0", exclude_categories=("Cs",)), min_size=1, max_size=12
).filter(lambda name: name not in (".", "..", "cpu.max"))


def escaped(path: str) -> str:
    """Return the path as mountinfo contains it (seq_path in fs/seq_file.c)."""
    for character in "\\ \t":
        path = path.replace(character, f"\\{ord(character):03o}")
    return path


@given(
    point=st.lists(names, min_size=1, max_size=3),
    above=st.lists(names, max_size=2),
    below=st.lists(st.tuples(names, st.none() | st.tuples(micros, micros)), max_size=4),
)
def test_quota_cores_of_any_tree_is_the_smallest_quota_rounded_up(
    point: list[str], above: list[str], below: list[tuple[str, tuple[int, int] | None]]
) -> None:
    mounted, top = "/".join(["mnt", *point]), "/" + "/".join(above)
    group = "/" + "/".join([*above, *(name for name, _ in below)])
    mounts = f"34 24 0:29 {escaped(top)} /{escaped(mounted)} rw - cgroup2 cgroup2 rw\n"
    files, folder = {}, mounted
    for name, quota in below:
        folder = f"{folder}/{name}"
        files |= v2(folder, "max 100000" if quota is None else f"{quota[0]} {quota[1]}")
    quotas = [Fraction(*quota) for _, quota in below if quota is not None]
    with TemporaryDirectory() as root:
        found = quota_cores(machine(Path(root), f"0::{group}\n", mounts, files))
    assert found == (ceil(min(quotas)) if quotas else None)


lines = st.sampled_from(
    f"{V2_MOUNTS}{HYBRID_MOUNTS}{V1_GROUPS}0::/\n0::/tune\n1:cpu:/tune".splitlines()
)
damaged = st.tuples(lines, st.binary(max_size=4), st.integers(0, 80)).map(
    lambda parts: parts[0][: parts[2]].encode() + parts[1] + parts[0][parts[2] :].encode()
)
texts = st.binary(max_size=200) | st.lists(damaged | lines.map(str.encode)).map(b"\n".join)


@given(groups=texts, mounts=texts, quota=texts)
def test_usable_cores_of_any_text_is_between_1_and_the_affinity(
    groups: bytes, mounts: bytes, quota: bytes
) -> None:
    files = v2(V2, os.fsdecode(quota)) | v2(f"{V2}/tune", "100000 100000")
    with TemporaryDirectory() as root:
        machine(Path(root), os.fsdecode(groups), os.fsdecode(mounts), files)
        assert 1 <= usable_cores(Path(root)) <= len(os.sched_getaffinity(0))
