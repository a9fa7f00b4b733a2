"""Events for the option ``log``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Literal, Optional


@dataclass(frozen=True)
class LogEvent:
    """What happens to a call. Never contains a secret, a key, a token, a hardware id or a body."""

    #: Each attempt is a ``request``, and then one of: ``response``, a genuine answer; ``retry``, an error after which
    #: the call is repeated; ``failed``, an error that the program gets. ``offline``: what is stored answered in place
    #: of the server.
    event: Literal["request", "response", "retry", "failed", "offline"]
    #: The call of the protocol, such as ``license`` or ``init``.
    call: str
    #: From 1; not with ``offline``.
    attempt: Optional[int] = None
    #: The HTTP status, if there was an answer.
    status: Optional[int] = None
    #: The code of the refusal or of the error.
    code: Optional[str] = None
    #: Names the refusal, for the console.
    reference: Optional[str] = None
    #: How long the attempt took, in milliseconds.
    duration_ms: Optional[int] = None
    #: The pause before the next attempt, in milliseconds.
    delay_ms: Optional[int] = None


Log = Callable[[LogEvent], None]


def to_log(hook: Optional[Callable[[LogEvent], object]]) -> Log:
    """A hook must not change the result of a call, whatever it raises."""

    def log(event: LogEvent) -> None:
        if hook is None:
            return
        try:
            hook(event)
        except Exception:
            pass

    return log
