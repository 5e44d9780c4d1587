"""What this process may use of the machine: cores and memory, as the operating system and its containers allow."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
UNKNOWN_MEMORY = 4 * 2**30
"""Bytes that are taken for available where the system does not say."""


@cache
def usable_cores() -> int:
    """The cores that this process may run on: those of its affinity mask, and of its container's quota, rounded up."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _words(CGROUP / "cpu.max") or [*_words(CGROUP / "cpu/cpu.cfs_quota_us"), *_words(CGROUP / "cpu/cpu.cfs_period_us")]
    if len(quota) == 2 and quota[0].isdecimal() and int(quota[1]) > 0:
        count = min(count, -(-int(quota[0]) // int(quota[1])))
    return max(count, 1)


def available_memory() -> int:
    """Bytes that can still be taken without swapping, now: of the machine, the container and the process's own limit."""
    return min([_of_the_machine(), *_of_the_container(), *_of_the_process()])


def _of_the_machine() -> int:
    for line in _lines(Path("/proc/meminfo")):
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return UNKNOWN_MEMORY


def _of_the_container() -> list[int]:
    most, used = _words(CGROUP / "memory.max"), _words(CGROUP / "memory.current")
    if len(most) == len(used) == 1 and most[0].isdecimal() and used[0].isdecimal():
        return [max(int(most[0]) - int(used[0]), 0)]
    return []


def _of_the_process() -> list[int]:
    try:
        import resource
    except ImportError:  # not a Unix
        return []
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return [] if most == resource.RLIM_INFINITY else [most]


def _words(path: Path) -> list[str]:
    return " ".join(_lines(path)).split()


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return []
