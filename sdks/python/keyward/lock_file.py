"""The lock file with which the programs of a machine take turns at a file. SDKs of all languages share it."""

from __future__ import annotations

import os
import re
import stat
import sys
import time
import uuid
from contextlib import contextmanager
from typing import Iterator, Literal, Optional

#: A change takes milliseconds, so an older lock is that of a program that was ended.
_STALE_LOCK_S = 10
_LONGEST_WAIT_S = 2
_POLL_S = 0.02
_HOLDER = re.compile(r"([1-9][0-9]{0,9}) [0-9]+ ([^ \n]+)\n", re.ASCII)


@contextmanager
def locked(path: str) -> Iterator[None]:
    """While this program alone has created the lock; without it where that is impossible."""
    is_ours = _take(path)
    try:
        yield
    finally:
        if is_ours:
            remove(path)


def remove(path: str) -> bool:
    try:
        os.remove(path)
        return True
    except OSError:
        return False


def _take(path: str) -> bool:
    ends_at = time.monotonic() + _LONGEST_WAIT_S
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError:
        return False
    holder = _describe_program(os.getpid()) or ""
    while time.monotonic() < ends_at:
        attempt = _create(path, holder)
        if attempt != "exists":
            return attempt == "created"
        if not _remove_stale(path):
            time.sleep(_POLL_S)
    return False


def _create(path: str, text: str) -> Literal["created", "exists", "impossible"]:
    whole = None if text == "" else _create_whole(path, text)
    if whole is not None:
        return whole
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        # Windows reports a file that is being deleted as one that may not be opened.
        return "exists" if isinstance(error, FileExistsError) or sys.platform == "win32" else "impossible"
    try:
        os.write(file, text.encode("ascii"))
    except OSError:
        pass
    finally:
        os.close(file)
    return "created"


def _create_whole(path: str, text: str) -> Optional[Literal["created", "exists"]]:
    """Creates a file together with its text; None where that is impossible."""
    if os.path.lexists(path):
        return "exists"
    # Written after it was created, the lock of a program that is killed in between would name no holder.
    draft = f"{path}.{uuid.uuid4()}"
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            os.write(file, text.encode("ascii"))
        finally:
            os.close(file)
        os.link(draft, path)
        return "created"
    except FileExistsError:
        return "exists"
    except OSError:
        return None
    finally:
        remove(draft)


def _remove_stale(path: str) -> bool:
    """Removes the lock of a program that was ended; returns whether it did."""
    if not _is_stale(path):
        return False
    # One program at a time, and each looks again: otherwise the second one would remove the lock that the first one took.
    claim = f"{path}.claim"
    if _create(claim, "") != "created":
        if _is_old(claim):
            remove(claim)
        return False
    try:
        return _is_stale(path) and remove(path)
    finally:
        remove(claim)


def _is_stale(path: str) -> bool:
    return _is_of_ended_program(path) or _is_old(path)


def _is_old(path: str) -> bool:
    try:
        return abs(time.time() - os.stat(path).st_mtime) > _STALE_LOCK_S
    except OSError:
        return False


def _is_of_ended_program(path: str) -> bool:
    """False wherever that cannot be known: on another machine, in another container, of an earlier version."""
    own = _describe_program(os.getpid())
    if own is None:
        return False
    try:
        # Something else may be at its place: reading a pipe waits forever.
        holder = _read(path) if stat.S_ISREG(os.stat(path).st_mode) else ""
    except OSError:
        return False
    found, place = _HOLDER.fullmatch(holder), own.rsplit(" ", 1)[1]
    if found is None or f"{found.group(2)}\n" != place:
        return False
    pid = int(found.group(1))
    if not _is_running(pid):
        return True
    # The system gives the number of an ended program to a new one.
    return _describe_program(pid) not in (None, holder)


def _is_running(pid: int) -> bool:
    """On Linux alone: elsewhere ``os.kill`` may end the program."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True


def _describe_program(pid: int) -> Optional[str]:
    """Number and start of a program, and where they are its own; None on systems other than Linux."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        # The second field is the name in parentheses, which may contain spaces.
        start = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()[19]
        boot = _read("/proc/sys/kernel/random/boot_id").strip()
        pids = os.readlink("/proc/self/ns/pid")
    except (OSError, IndexError):
        return None
    try:
        times = os.readlink("/proc/self/ns/time")
    except OSError:
        times = "-"
    return f"{pid} {start} {boot}/{pids}/{times}\n" if start.isdigit() else None


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(4_096).decode("latin-1")
