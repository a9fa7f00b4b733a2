"""Sends calls, accepts only signed responses, and retries what is safe to repeat."""

from __future__ import annotations

import math
import random
import re
import secrets
import time
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Any, Callable, Dict, Optional, Tuple, Union

from .address import Address
from .errors import KeywardError, KeywardNetworkError
from .exchange import Exchange, Network
from .keys import KeyRing
from .log import Log, LogEvent
from .results import Refused, to_refused
from .signature import ReceivedAnswer, SentRequest, content_digest, is_signed, judge
from .text import parse_object, to_base64_url, to_json

#: Errors that a retry within seconds does not mend.
_LASTING = frozenset(
    ["unexpected_answer", "captive_portal", "wrong_address", "unknown_app", "blocked", "certificate", "clock"]
)
_MAX_ATTEMPTS = 3
_FIRST_PAUSE_MS = 250
_LONGEST_PAUSE_MS = 4_000
_SECONDS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True)
class Call:
    method: str
    #: Path below ``/api/client/``.
    name: str
    #: Whether executing the call twice has the same effect as once.
    repeatable: bool
    #: Members that are None are not sent.
    body: Optional[Dict[str, Any]] = None
    session: Optional[str] = None


@dataclass(frozen=True)
class Delivered:
    message: Optional[str]
    data: Dict[str, Any]


Outcome = Union[Delivered, Refused]


class Transport:
    def __init__(
        self,
        address: Address,
        app_id: str,
        keys: KeyRing,
        network: Network,
        log: Log,
        *,
        pause: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._address = address
        self._app_id = app_id
        self._keys = keys
        self._network = network
        self._log = log
        # Replaceable, so that tests of retries need neither waiting nor randomness.
        self._pause = pause
        self._jitter = jitter
        #: When the server signed its last verdict, in seconds since 1970. The clock of this machine has no part in it.
        self.server_time: Optional[int] = None

    def send(self, call: Call, deadline: float) -> Outcome:
        """``deadline`` is a time of ``time.monotonic()``; no attempt or pause exceeds it."""
        attempt = 1
        while True:
            started_at = time.monotonic()
            try:
                status, outcome = self._attempt(call, attempt, deadline)
            except KeywardError as error:
                pause_ms = self._pause_before_next(call, attempt, error)
                again = pause_ms is not None and time.monotonic() + pause_ms / 1000 < deadline
                delay_ms = round(pause_ms) if again and pause_ms is not None else None
                self._note_failure(call, attempt, error, _since(started_at), delay_ms)
                if not again or pause_ms is None:
                    raise
                self._pause(pause_ms / 1000)
                attempt += 1
            else:
                self._note_answer(call, attempt, status, outcome, _since(started_at))
                return outcome

    def _attempt(self, call: Call, attempt: int, deadline: float) -> Tuple[int, Outcome]:
        left_ms = (deadline - time.monotonic()) * 1000
        if left_ms <= 0:
            raise KeywardNetworkError("timed_out", "The time for this call is used up", outcome_unknown=False)
        # Leave time for a retry, so that one hanging connection does not use up the whole timeout.
        attempt_ms = left_ms / 2 if call.repeatable and attempt < _MAX_ATTEMPTS else left_ms
        request, sent = self._prepare(call)
        self._log(LogEvent("request", _name(call), attempt=attempt))
        answer = self._network.exchange(request, math.ceil(attempt_ms) / 1000)
        verdict, created = judge(sent, answer, self._keys)
        if verdict == "unavailable":
            raise _to_unavailable(answer)
        self.server_time = created
        return answer.status, _to_outcome(answer)

    def _prepare(self, call: Call) -> Tuple[Exchange, SentRequest]:
        path = f"{self._address.prefix}/api/client/{call.name}"
        nonce = to_base64_url(secrets.token_bytes(24))
        # The digest covers the bytes on the wire, which a coding would change.
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Keyward-Nonce": nonce,
            "Keyward-Keys": ",".join(self._keys),
        }
        authorization = digest = body = None
        if call.session is not None:
            authorization = f"Bearer {call.session}"
            headers["Authorization"] = authorization
            headers["Keyward-App"] = self._app_id
        if call.body is not None:
            body = to_json({name: value for name, value in call.body.items() if value is not None}).encode("utf-8")
            digest = content_digest(body)
            headers["Content-Type"] = "application/json"
            headers["Content-Digest"] = digest
        sent = SentRequest(call.method, path, nonce, authorization, digest)
        return Exchange(self._address, call.method, path, headers, body), sent

    def _pause_before_next(self, call: Call, attempt: int, error: KeywardError) -> Optional[float]:
        """In milliseconds; None if the call must not be repeated."""
        if not isinstance(error, KeywardNetworkError) or attempt == _MAX_ATTEMPTS or not _may_repeat(call, error):
            return None
        ceiling: int = min(_LONGEST_PAUSE_MS, _FIRST_PAUSE_MS * 2**attempt)
        return (error.retry_after_ms or 0) + ceiling * (0.5 + self._jitter() / 2)

    def _note_answer(self, call: Call, attempt: int, status: int, outcome: Outcome, duration_ms: int) -> None:
        if isinstance(outcome, Refused):
            facts: Dict[str, Any] = {"code": outcome.code, "reference": outcome.reference}
        else:
            # The answer of validate has them in its data.
            facts = {name: _text(outcome.data.get(name)) for name in ("code", "reference")}
        self._log(LogEvent("response", _name(call), attempt, status, duration_ms=duration_ms, **facts))

    def _note_failure(
        self, call: Call, attempt: int, error: KeywardError, duration_ms: int, delay_ms: Optional[int]
    ) -> None:
        event = LogEvent(
            "failed" if delay_ms is None else "retry",
            _name(call),
            attempt,
            status=getattr(error, "status", None),
            code=error.code,
            duration_ms=duration_ms,
            delay_ms=delay_ms,
        )
        self._log(event)


def _name(call: Call) -> str:
    """The first part of a name: the others are ids."""
    return call.name.split("/", 1)[0]


def _since(started_at: float) -> int:
    return round((time.monotonic() - started_at) * 1000)


def _may_repeat(call: Call, error: KeywardNetworkError) -> bool:
    """
    A signed 429 was sent before any work, so even calls that must not be repeated can be. A proxy may send an unsigned
    one after it lost the answer of a request that it passed on.
    """
    # A proxy that rejects the credentials would lock their account after a few more attempts.
    if error.code in _LASTING or error.status == 407:
        return False
    return call.repeatable or not error.outcome_unknown


def _to_unavailable(answer: ReceivedAnswer) -> KeywardNetworkError:
    status = answer.status
    retry_after_ms = _parse_retry_after(answer.header("retry-after"))
    if status == 429:
        wait = f"in {math.ceil(retry_after_ms / 1000)} seconds" if retry_after_ms else "later"
        return KeywardNetworkError(
            "rate_limited",
            f"Too many attempts; try again {wait}",
            status=status,
            retry_after_ms=retry_after_ms,
            # Without a signature anyone may have sent this after the server executed the request.
            outcome_unknown=not is_signed(answer),
        )
    message = f"The server answered {status}"
    return KeywardNetworkError(
        "server_error", message, status=status, retry_after_ms=retry_after_ms, outcome_unknown=True
    )


def _parse_retry_after(value: str) -> Optional[int]:
    if _SECONDS.fullmatch(value):
        return int(value) * 1000
    try:
        date = parsedate_to_datetime(value)
        date = date if date.tzinfo is not None else date.replace(tzinfo=timezone.utc)
        return max(0, round((date.timestamp() - time.time()) * 1000))
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def _to_outcome(answer: ReceivedAnswer) -> Outcome:
    answered = parse_object(answer.body) or {}
    success, code = answered.get("success"), answered.get("code")
    message = _text(answered.get("message"))
    if answer.status < 300 and success is True:
        data = answered.get("data")
        return Delivered(message, data if isinstance(data, dict) else {})
    if answer.status >= 400 and success is False and isinstance(code, str):
        return to_refused(code, code if message is None else message, answered, answered.get("errors"))
    message = f"The answer with status {answer.status} is unknown"
    raise KeywardNetworkError("unexpected_answer", message, status=answer.status, outcome_unknown=True)


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None
