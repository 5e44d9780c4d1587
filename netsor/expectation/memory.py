"""Temporary arrays without page faults."""

from __future__ import annotations

import numpy as np


def keep_freed_memory() -> None:
    """Let the C library reuse freed arrays of up to 32 MiB instead of returning them to the system.

    glibc returns what is above a threshold, which starts at 128 KiB and grows to the size of the largest block that was freed, up
    to 32 MiB (M_MMAP_THRESHOLD in mallopt(3)). Until then the page faults of temporary arrays cost more than their arithmetic. The
    block that is freed here is never touched; other C libraries do not care.
    """
    np.empty(2**25 - 2**16, dtype=np.uint8)
