"""Renews the lease after a call that was granted."""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, Optional, Tuple

from .errors import KeywardError
from .offline import Offline
from .transport import Call, Delivered, Transport

#: Whether no sign-out has begun since a call.
IsCurrent = Callable[[], bool]

#: A call that was granted waits no longer for its lease.
_LONGEST_S = 5
_PAUSE_AFTER_FAILURE_S = 60


class LeaseRenewal:
    """Safe for threads. Never fails the call that was granted."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._failed: Optional[Tuple[object, float]] = None

    def run(
        self,
        offline: Offline,
        hwid: str,
        user: Dict[str, Any],
        license_key: Optional[str],
        session: str,
        deadline: float,
        is_current: IsCurrent,
    ) -> None:
        """``deadline`` is when the call ends that was granted, a time of ``time.monotonic()``."""
        user_id = user.get("_id")
        if not is_current() or (license_key is None and not self._is_due(offline, hwid, user_id)):
            return
        self._failed = (user_id, time.monotonic() + _PAUSE_AFTER_FAILURE_S)
        call = Call("POST", "lease", repeatable=True, body={"hwid": hwid}, session=session)
        try:
            outcome = self._transport.send(call, min(deadline, time.monotonic() + _LONGEST_S))
        except KeywardError:
            # The program may run; a later call tries again.
            return
        lease = outcome.data.get("lease") if isinstance(outcome, Delivered) else None
        if isinstance(lease, str):
            self._failed = None
            offline.keep(lease, hwid, user, license_key, is_current)

    def _is_due(self, offline: Offline, hwid: str, user_id: object) -> bool:
        """Not soon after a failure, which would delay every call."""
        failed = self._failed
        if failed is not None and failed[0] == user_id and time.monotonic() < failed[1]:
            return False
        return offline.is_due(hwid, user_id)
