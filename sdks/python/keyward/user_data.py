"""Where a program keeps what outlives it."""

from __future__ import annotations

import os
import re
import sys
import time
import uuid
from contextlib import contextmanager
from typing import Iterator, Optional, Protocol, runtime_checkable

from .lock_file import locked, remove

_SAFE = re.compile(r"[A-Za-z0-9_]")
_BUSY_ATTEMPTS = 20
_BUSY_PAUSE_S = 0.05


@runtime_checkable
class Storage(Protocol):
    """
    A place that outlives the program, such as a file. Its content may be read and changed by the user. It may have a
    method ``lock()`` that returns a context manager: changes of two programs may overwrite each other without one.
    """

    def read(self) -> Optional[str]:
        """Returns what was last written; None or an empty text if there is nothing."""

    def write(self, text: str) -> None:
        """Replaces what is there."""


class UserDataFile:
    """A file of one app in the user's data folder, readable by the user alone. SDKs of all languages share it."""

    def __init__(self, app_id: str, folder: Optional[str] = None) -> None:
        name = "".join(each if _SAFE.fullmatch(each) else _underscores(each) for each in app_id)
        self._path = os.path.join(_data_folder() if folder is None else folder, "keyward", f"{name}.json")

    def read(self) -> Optional[str]:
        try:
            with open(self._path, "rb") as file:
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return None

    def write(self, text: str) -> None:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        draft = f"{self._path}.{uuid.uuid4()}.tmp"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            with os.fdopen(os.open(draft, flags, 0o600), "wb") as file:
                file.write(text.encode("utf-8"))
            _replace(draft, self._path)
        except BaseException:
            remove(draft)
            raise

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Keeps other programs from changing the content; does nothing where that is impossible."""
        with locked(f"{self._path}.lock"):
            yield


def _replace(draft: str, path: str) -> None:
    for _ in range(_BUSY_ATTEMPTS):
        try:
            return os.replace(draft, path)
        except PermissionError:
            # Windows refuses while another program has the file open.
            if sys.platform != "win32":
                raise
            time.sleep(_BUSY_PAUSE_S)
    os.replace(draft, path)


def _underscores(character: str) -> str:
    # Other languages count a character beyond 16 bits as two.
    return "_" if ord(character) <= 0xFFFF else "__"


def _data_folder() -> str:
    """The folder for data of programs that the user does not edit, on this system."""
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        # A user without a home: a relative path would be another file in every folder.
        home = os.sep
    if sys.platform == "win32":
        return os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support")
    return os.environ.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
