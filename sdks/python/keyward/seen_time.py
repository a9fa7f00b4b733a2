"""The clock of the machine, and how far it must have come."""

from __future__ import annotations

import math
import os
import sys
import time
from typing import Any, Callable, Dict, NamedTuple, Optional


class Boot(NamedTuple):
    """A run of the operating system, and its age in seconds."""

    id: str
    uptime: float


class SeenTime:
    """
    A clock that stands still or goes back gains no time. ``kept`` is the content of the storage: ``latest``, the latest time
    that was ever seen, and ``boot``, when the system started by the clock of that run. Not safe for threads.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.monotonic = time.monotonic
        self._anchor: Optional[Dict[str, float]] = None

    def floor(self, kept: Dict[str, Any]) -> float:
        """Where the clock must be at least."""
        noted = kept["boot"]
        own = read_boot() if noted is not None else None
        in_boot = noted["startedAt"] + own.uptime if own is not None and noted["id"] == own.id else 0
        floor: float = max(kept["latest"], self._in_run(), in_boot)
        return floor

    def note(self, kept: Dict[str, Any], now: float) -> Dict[str, Any]:
        """What to store after the clock was believed at ``now``."""
        if now >= self._in_run():
            self._anchor = {"wall": now, "at": self.monotonic()}
        seen = max(kept["latest"], math.floor(max(now, self._in_run())))
        return {"latest": seen, "boot": _note_boot(kept["boot"], now)}

    def forget(self) -> None:
        """Believes nothing of what this run has seen."""
        self._anchor = None

    def _in_run(self) -> float:
        anchor = self._anchor
        return 0 if anchor is None else anchor["wall"] + self.monotonic() - anchor["at"]


def _note_boot(noted: Optional[Dict[str, Any]], now: float) -> Optional[Dict[str, Any]]:
    own = read_boot()
    if own is None:
        return noted
    started_at = math.floor(now - own.uptime)
    if noted is not None and noted["id"] == own.id and noted["startedAt"] >= started_at:
        return noted
    return {"id": own.id, "startedAt": started_at}


def read_boot() -> Optional[Boot]:
    """None on systems other than Linux, and where the system does not say."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            boot = file.read().strip()
        with open("/proc/uptime", encoding="ascii") as file:
            uptime = float(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    try:
        clock = os.readlink("/proc/self/ns/time")
    except OSError:
        clock = "-"
    return Boot(f"{boot}/{clock}", uptime)


def to_boot_start(value: object) -> Optional[Dict[str, Any]]:
    if not isinstance(value, dict):
        return None
    name, started_at = value.get("id"), value.get("startedAt")
    is_whole = isinstance(started_at, int) and not isinstance(started_at, bool) and abs(started_at) < 2**53
    return {"id": name, "startedAt": started_at} if isinstance(name, str) and is_whole else None
