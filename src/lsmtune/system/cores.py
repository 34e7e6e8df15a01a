"""CPU cores that this process can use: its affinity and the CPU quotas of its control groups."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

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
