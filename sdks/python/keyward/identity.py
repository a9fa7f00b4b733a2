"""Which machine the program runs on."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional

from .device import describe_device
from .errors import KeywardUsageError
from .hwid import default_hwid
from .locks import Lock
from .options import DEFAULT, CheckedOptions
from .text import utf16_length

_MAX_HWID = 256


class Identity:
    """The hardware id and the description of the machine, found once. Failures are not kept."""

    def __init__(self, options: CheckedOptions) -> None:
        self._options = options
        self._lock = Lock()
        self._found_hwid: Optional[str] = None
        self._device: Optional[Dict[str, Any]] = None
        self._is_described = False

    def hwid(self) -> Optional[str]:
        """None if the program sends none."""
        if self._options.hwid is None:
            return None
        with self._lock.held():
            if self._found_hwid is None:
                self._found_hwid = self._find_hwid()
            return self._found_hwid

    def facts(self) -> Dict[str, Any]:
        """The members of a request that name the machine."""
        hwid = self.hwid()
        if hwid is None:
            return {}
        return {"hwid": hwid, "device": self._describe() if self._options.device else None}

    def sign_in_facts(self) -> Dict[str, Any]:
        """What a sign-in sends, which the program may remember."""
        facts = self.facts()
        return {**facts, "remember": True} if self._options.offline is not None and facts else facts

    def _find_hwid(self) -> str:
        hwid = self._options.hwid
        if hwid is DEFAULT:
            found: object = default_hwid(self._options.app_id)
        else:
            found = _ask(hwid) if callable(hwid) else hwid
        if isinstance(found, str) and 1 <= utf16_length(found) <= _MAX_HWID:
            return found
        raise KeywardUsageError("invalid_options", f"hwid must give a text of 1 to {_MAX_HWID} characters")

    def _describe(self) -> Optional[Dict[str, Any]]:
        with self._lock.held():
            if not self._is_described:
                self._is_described = True
                try:
                    self._device = describe_device(self._options.app_id)
                except Exception:
                    # The description is not needed to sign in.
                    self._device = None
            return self._device


def _ask(hwid: Callable[[], str]) -> object:
    try:
        return hwid()
    except Exception as error:
        raise KeywardUsageError("hwid_unavailable", "The function hwid failed") from error
