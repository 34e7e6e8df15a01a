"""The host as the evidence records it: hardware, kernel, storage, clock, who else uses the CPU."""

import os
import platform
import re
import resource
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import psutil

_PROC_STAT = Path("/proc/stat")
_COUNTED_FIELDS = 8  # user nice system idle iowait irq softirq steal; guest is part of user
_IDLE, _IOWAIT = 3, 4
_CPU_MODEL_KEYS = ("model name", "cpu model", "Model")
_TOLERANCE_S = 0.1
_SLEW = 500e-6
"""The most by which Linux corrects a clock while it runs, as a share (adjtimex(2), MAXFREQ)."""

Clock = Callable[[], float]
"""Reads a clock, in seconds."""


@dataclass(frozen=True)
class HostFacts:
    """What a measurement says about the machine it was taken on.

    `cpu_model` is None where the kernel does not tell. `usable_cpus` are those that this process
    may run on. `memory_bytes` is the installed memory,
    `boot_id` changes with every start of the machine, `max_open_files` is the soft limit that
    this process and its children have.
    """

    cpu_model: str | None
    logical_cpus: int
    usable_cpus: int
    memory_bytes: int
    kernel: str
    machine: str
    os_name: str
    boot_id: str
    max_open_files: int


@dataclass(frozen=True)
class StorageFacts:
    """Where a path is stored: file system, device and its kind (None if unknown), free bytes.

    `model` is the product name of the disk; None where the kernel does not tell.
    """

    fs_type: str | None
    device: str | None
    free_bytes: int
    rotational: bool | None = None
    model: str | None = None


@dataclass(frozen=True)
class CpuUse:
    """Seconds that all CPUs of the machine together were busy, and that they had."""

    busy_s: float
    total_s: float

    def others_cpu_percent(self, own_cpu_s: float) -> float:
        """Return what everybody but us used, in percent of all CPUs' time; 0 to 100.

        `own_cpu_s` are the CPU seconds of the child and of lsmtune itself meanwhile. CPU stolen
        by the hypervisor counts as used by others, waiting for the disk as idle.
        """
        if self.total_s <= 0:
            return 0.0
        return max(0.0, 100 * (self.busy_s - own_cpu_s) / self.total_s)


class CpuMeter:
    """Measures the CPU use of the whole machine, and of this process, from its construction on."""

    def __init__(self, stat_path: Path = _PROC_STAT) -> None:
        self._stat_path = stat_path
        self._start = self._read()
        self._own_start_s = time.process_time()

    def stop(self) -> CpuUse:
        """Return what was used since the start; may be asked again later."""
        now = self._read()
        # The kernel's idle and iowait counters may step back a little.
        busy_s = max(0.0, now.busy_s - self._start.busy_s)
        return CpuUse(busy_s, now.total_s - self._start.total_s)

    def others_percent(self, children_cpu_s: float) -> float:
        """Return what all but this process and its children used; see `others_cpu_percent`."""
        own_cpu_s = time.process_time() - self._own_start_s + children_cpu_s
        return self.stop().others_cpu_percent(own_cpu_s)

    def _read(self) -> CpuUse:
        return parse_cpu_use(self._stat_path.read_text())


def parse_cpu_use(stat: str) -> CpuUse:
    """Return the machine's CPU use since boot from the text of /proc/stat."""
    # The first line is the sum of all CPUs.
    ticks = [int(field) for field in stat.split("\n", 1)[0].split()[1 : 1 + _COUNTED_FIELDS]]
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    total = sum(ticks)
    return CpuUse((total - ticks[_IDLE] - ticks[_IOWAIT]) * tick_s, total * tick_s)


def describe_host() -> HostFacts:
    """Return the facts of this machine; reads a few files of /proc and is cheap."""
    return HostFacts(
        cpu_model=_cpu_model(Path("/proc/cpuinfo").read_text()),
        logical_cpus=psutil.cpu_count() or 1,
        usable_cpus=len(os.sched_getaffinity(0)),
        memory_bytes=psutil.virtual_memory().total,
        kernel=platform.release(),
        machine=platform.machine(),
        os_name=_os_name(),
        boot_id=boot_id(),
        max_open_files=resource.getrlimit(resource.RLIMIT_NOFILE)[0],
    )


def describe_storage(path: Path) -> StorageFacts:
    """Return where `path` is, or would be, stored; it need not exist yet."""
    place = nearest_existing(path)
    mounts = psutil.disk_partitions(all=True)
    around = [mount for mount in mounts if place.is_relative_to(mount.mountpoint)]
    if not around:  # in a chroot the mount of the root directory may be out of sight
        return StorageFacts(None, None, free_bytes(place))
    # The deepest mount holds the path; of two on one point the later one hides the earlier.
    mount = max(reversed(around), key=lambda each: len(Path(each.mountpoint).parts))
    rotational = _text_of_disk(place, "queue/rotational")
    return StorageFacts(
        mount.fstype,
        mount.device,
        free_bytes(place),
        None if rotational is None else rotational == "1",
        _text_of_disk(place, "device/model") or None,
    )


def _text_of_disk(place: Path, name: str) -> str | None:
    """Return the text of a file that the kernel has for the disk; None if it has none."""
    number = place.stat().st_dev
    block = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    # A partition has no queue of its own; its disk is the folder above.
    for folder in (block.resolve(), block.resolve().parent):
        try:
            return (folder / name).read_text().strip()
        except OSError:
            continue
    return None


def free_bytes(path: Path) -> int:
    """Return the bytes that this user may still write where `path` is, or would be, stored."""
    return shutil.disk_usage(nearest_existing(path)).free


def boot_id() -> str:
    """Return the kernel's random id of this start of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def nearest_existing(path: Path) -> Path:
    """Return the path, or the nearest folder above it that exists."""
    resolved = path.resolve()
    return next(place for place in (resolved, *resolved.parents) if place.exists())


def _cpu_model(cpuinfo: str) -> str | None:
    entries = dict(_key_and_value(line) for line in cpuinfo.splitlines())
    return next((entries[key] for key in _CPU_MODEL_KEYS if entries.get(key)), None)


def _key_and_value(line: str) -> tuple[str, str]:
    key, _, value = line.partition(":")
    return key.strip(), value.strip()


def _os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:  # minimal containers have no os-release
        return platform.system()


_ROOT = Path("/")
_QUOTA_FILES = {1: ("cpu.cfs_quota_us", "cpu.cfs_period_us"), 2: ("cpu.max",)}
"""The files with quota and period in microseconds, per version of control groups."""
_QUOTA_AND_PERIOD = re.compile(r"\s*([1-9][0-9]{0,18})\s+([1-9][0-9]{0,18})\s*")
"""Neither `max` (version 2) nor -1 (version 1) matches: both mean no quota."""
_UNIFIED = "0::"
_SEPARATOR = " - "
_ESCAPE = re.compile(r"\\([0-7]{3})")
_FIELDS_BEFORE, _FIELDS_AFTER = 5, 3


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mount of control groups with CPU quotas.

    `version` is None for all other mounts. The mount shows the group `group` and its descendants.
    """

    version: int | None
    group: PurePosixPath
    point: str


def usable_cores(root: Path = _ROOT) -> int:
    """Return the number of cores that this process can use, at least 1.

    The number is the smaller of the CPU affinity and `quota_cores`. `root` is the directory that
    contains `proc` and the mount points.
    """
    allowed = len(os.sched_getaffinity(0))
    quota = quota_cores(root)
    return allowed if quota is None else min(allowed, quota)


def quota_cores(root: Path = _ROOT) -> int | None:
    """Return the CPU quota of this process in whole cores, rounded up; None without a quota.

    The quota is the smallest of the process's control groups and all their ancestors that are
    mounted. Groups of version 1 and 2 count, because a machine can have both. A file that is
    missing, unreadable or malformed means no quota.

    Source: Documentation/admin-guide/cgroup-v2.rst and scheduler/sched-bwc.rst of Linux, proc(5).
    """
    groups = _groups(_text(root / "proc/self/cgroup"))
    mounts = _mounts(_text(root / "proc/self/mountinfo"))
    quotas = (
        _cores(root / folder.lstrip("/"), mount.version)
        for mount in mounts
        if mount.version is not None and mount.version in groups
        for folder in _folders(groups[mount.version], mount)
    )
    return min((cores for cores in quotas if cores is not None), default=None)


def _groups(cgroup: str) -> dict[int, PurePosixPath]:
    """Return the process's group per version, from the text of /proc/self/cgroup."""
    found: dict[int, PurePosixPath] = {}
    for line in cgroup.split("\n"):
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if line.startswith(_UNIFIED):
            found[2] = PurePosixPath(path)
        elif "cpu" in controllers.split(","):
            found[1] = PurePosixPath(path)
    return found


def _mounts(mountinfo: str) -> tuple[_Mount, ...]:
    """Return the visible mounts, from the text of /proc/self/mountinfo."""
    mounts = (_mount(line) for line in mountinfo.split("\n"))
    # Of two mounts on one point the later one hides the earlier.
    return tuple({mount.point: mount for mount in mounts if mount is not None}.values())


def _mount(line: str) -> _Mount | None:
    """Return the mount of a line; None if the line is malformed."""
    before, _, after = line.partition(_SEPARATOR)
    place, kind = before.split(" "), after.split(" ")
    if len(place) < _FIELDS_BEFORE or len(kind) < _FIELDS_AFTER:
        return None
    version = None
    if kind[0] == "cgroup2":
        version = 2
    elif kind[0] == "cgroup" and "cpu" in kind[2].split(","):
        version = 1
    return _Mount(version, PurePosixPath(_unescaped(place[3])), _unescaped(place[4]))


def _unescaped(field: str) -> str:
    """Return a field of mountinfo, in which spaces and backslashes are octal numbers."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 8)), field)


def _folders(group: PurePosixPath, mount: _Mount) -> Iterator[str]:
    """Yield the folders of a group and its ancestors; none if the mount does not show the group.

    `..` in a path is a group outside of the cgroup namespace, which no folder shows.
    """
    if ".." in group.parts or not group.is_relative_to(mount.group):
        return
    below = group.relative_to(mount.group)
    for part in (below, *below.parents):
        yield str(PurePosixPath(mount.point) / part)


def _cores(folder: Path, version: int) -> int | None:
    """Return the quota of one group in whole cores, rounded up; None without a quota."""
    text = " ".join(_text(folder / name) for name in _QUOTA_FILES[version])
    found = _QUOTA_AND_PERIOD.fullmatch(text)
    return None if found is None else -(-int(found[1]) // int(found[2]))


def _text(path: Path) -> str:
    """Return the text of a file of the kernel; empty if the file cannot be read."""
    try:
        return os.fsdecode(path.read_bytes())
    except (OSError, ValueError):  # ValueError: a malformed mount point contains U+0000
        return ""


class ClockWatch:
    """Compares the wall clock with the monotonic one from its construction on.

    Moments that were read from the wall clock before and after a jump cannot be subtracted from
    each other. A sleep of the machine counts as a jump too: the monotonic clock stands still in it.
    """

    def __init__(self, wall: Clock = time.time, monotonic: Clock = time.monotonic) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._wall_start_s = wall()
        self._monotonic_start_s = monotonic()
        self._largest_s = 0.0

    def jump_s(self) -> float:
        """Return by how many seconds the wall clock was set: forward above 0, back below.

        0 while it is no more than 0.1 s, or what slow correction explains. Of several looks
        the largest jump counts, so a clock that was set and set back is found out by who looks
        in between.
        """
        elapsed_s = self._monotonic() - self._monotonic_start_s
        drift_s = self._wall() - self._wall_start_s - elapsed_s
        if abs(drift_s) > max(_TOLERANCE_S, _SLEW * elapsed_s, abs(self._largest_s)):
            self._largest_s = drift_s
        return self._largest_s
