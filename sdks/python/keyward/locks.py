"""Locks that outlive a fork: its child has none of the threads that would release the locks of its parent."""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import contextmanager
from typing import Iterator, Protocol

from .errors import KeywardNetworkError

#: Longer than any work under a lock takes; a function of the program that runs under it may never return.
_LONGEST_WAIT_S = 60.0


class Renewable(Protocol):
    def renew(self) -> None:
        """Forgets what the threads of the parent were doing."""


_in_child: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_in_child(each: Renewable) -> None:
    """Has ``renew`` called in the child of every fork, while it has one thread."""
    _in_child.add(each)


class Lock:
    """Held by one thread at a time, which may take it again. Nothing waits for it without an end."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        renew_in_child(self)

    def renew(self) -> None:
        self._lock = threading.RLock()

    @contextmanager
    def held(self) -> Iterator[None]:
        # A function of the program that forks under the lock returns in the child, too.
        lock = self._lock
        if not lock.acquire(timeout=_LONGEST_WAIT_S):
            raise KeywardNetworkError("timed_out", "Another thread never ended its call", outcome_unknown=False)
        try:
            yield
        finally:
            lock.release()


def _renew_all() -> None:
    for each in list(_in_child):
        each.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
