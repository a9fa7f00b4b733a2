"""Answers from the lease or the activation if the server is not reached."""

from __future__ import annotations

from typing import Callable, Optional, Union

from .away import PATIENCE_S, Away
from .errors import KeywardNetworkError
from .identity import Identity
from .log import LogEvent
from .offline import OfflineAnswer
from .options import CheckedOptions
from .renewal import IsCurrent
from .results import Refused, UserData

#: Asks the server within so many seconds; None is the whole time of a call.
Online = Callable[[Optional[float]], Union[UserData, Refused]]


class Fallback:
    """
    If what is stored could answer, the server gets a few seconds, and after a network error it is asked in the background
    for a while. Safe for threads.
    """

    def __init__(self, options: CheckedOptions, identity: Identity) -> None:
        self._options = options
        self._identity = identity
        self._away = Away()

    def reset(self) -> None:
        """Asks the server first with the next call."""
        self._away.end()

    def run(
        self,
        name: str,
        online: Online,
        on_answer: Callable[[OfflineAnswer], Union[UserData, Refused]],
        is_current: IsCurrent,
        license_key: Optional[str],
    ) -> Union[UserData, Refused]:
        offline = self._options.offline
        hwid = None if offline is None else self._identity.hwid()
        if offline is None or hwid is None:
            return online(None)

        def probe() -> None:
            if is_current():
                self._away.probe(lambda: online(None))

        can_answer = offline.would_answer(hwid, license_key)
        code = self._away.code if can_answer else None
        if code is not None:
            answer = offline.answer(hwid, license_key)
            probe()
            if isinstance(answer, OfflineAnswer):
                self._options.log(LogEvent("offline", name, code=code))
                return on_answer(answer)
        try:
            return online(min(PATIENCE_S, self._options.timeout_s) if can_answer else None)
        except KeywardNetworkError as error:
            if error.code == "unexpected_answer":
                raise
            answer = offline.answer(hwid, license_key)
            if not isinstance(answer, OfflineAnswer):
                error.offline = answer
                raise
            if is_current():
                self._away.note(error)
            if error.code == "timed_out":
                # The network may only be slow.
                probe()
            self._options.log(LogEvent("offline", name, code=error.code))
            return on_answer(answer)
