"""The session with the server, the user who is signed in, and what answers for both while the server is away."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from .errors import KeywardError, KeywardNetworkError
from .flight import Shared
from .identity import Identity
from .log import LogEvent
from .offline import Offline, OfflineAnswer
from .options import CheckedOptions
from .results import AppInfo, InitData, Refused, User, UserData, to_texts, to_user
from .transport import Call, Delivered, Outcome, Transport
from .version import SDK

#: Refusals of the user, the key or the device; mistyped input is not one.
_ENDS_LEASE = frozenset(
    [
        "userBanned",
        "keyBanned",
        "pausedSub",
        "noActiveSubs",
        "updatesEnded",
        "hwidBlacklisted",
        "hwidMismatch",
        "notActivated",
        "trialUsed",
    ]
)
_SESSION = re.compile(r"[\x21-\x7e]{1,1024}")
_CHECK = Call("GET", "session", repeatable=True)


class Session:
    """Safe for threads. The verdict of a call is never taken from another call."""

    def __init__(self, options: CheckedOptions, transport: Transport, identity: Identity) -> None:
        self._options = options
        self._transport = transport
        self._identity = identity
        self._lock = threading.Lock()
        self._token: Optional[str] = None
        self._user: Optional[User] = None
        self._public: Mapping[str, str] = {}
        self._sign_outs = 0
        self._opening: Shared[Union[InitData, Refused]] = Shared()
        self._resuming: Shared[Optional[Outcome]] = Shared()

    @property
    def user(self) -> Optional[User]:
        return self._user

    @property
    def public_variables(self) -> Mapping[str, str]:
        return self._public

    def deadline(self) -> float:
        return time.monotonic() + self._options.timeout_s

    def open(self, deadline: float) -> Union[InitData, Refused]:
        """Opens a session, signed out."""
        options = self._options
        body = {
            "appId": options.app_id,
            "secret": options.secret,
            "version": options.version,
            "hash": options.hash,
            "hwid": self._identity.hwid(),
            "locale": options.locale,
            "sdk": SDK,
        }
        outcome = self._transport.send(Call("POST", "init", repeatable=True, body=body), deadline)
        if isinstance(outcome, Refused):
            self.forget_user()
            return outcome
        data = dict(outcome.data)
        token, app = data.pop("session", None), data.get("app")
        if not isinstance(token, str) or not _SESSION.fullmatch(token) or not isinstance(app, dict):
            raise unexpected("init")
        opened = InitData(
            message=outcome.message,
            raw=data,
            expires_at=data.get("expiresAt"),
            app=AppInfo(app.get("name", ""), app.get("version", "")),
            update_available=data.get("updateAvailable") is True,
            variables=to_texts(data.get("variables")),
        )
        with self._lock:
            self._token = token
            self._user = None
            self._public = opened.variables
        return opened

    def call(self, call: Call, deadline: float, reopen: bool = True) -> Outcome:
        """A call that signs in or needs a session; opens a new one and repeats the call if it has ended."""
        is_current = self._until_sign_out()
        while True:
            opened, token = self._opened(deadline)
            if opened is not None:
                return opened
            outcome = self._transport.send(replace(call, session=token), deadline)
            if isinstance(outcome, Delivered):
                self._remember(call, outcome, token, is_current)
                return outcome
            with self._lock:
                # A refusal ends what the license included, until the next success.
                if call.name == "session":
                    self._user = None
                if outcome.code == "sessionUnauthed" and self._token == token:
                    self._token = None
            if outcome.code != "sessionUnauthed" or not reopen:
                return outcome
            reopen = False

    def signed_in(self, call: Call) -> Outcome:
        """A call of the signed-in user; without one it is ``sessionUnauthed``."""
        deadline = self.deadline()
        opened, token = self._opened(deadline)
        return self._transport.send(replace(call, session=token), deadline) if opened is None else opened

    def check(self, deadline: float) -> Outcome:
        """Whether the user may go on; signs in again where the app remembers sign-ins."""
        while True:
            if self._token is None:
                resumed = self._resuming.run(lambda: self._resume(deadline))
                if resumed is not None:
                    return resumed
            outcome = self.call(_CHECK, deadline, reopen=False)
            if isinstance(outcome, Delivered) or outcome.code != "sessionUnauthed":
                return outcome
            if self._token is None:
                resumed = self._resuming.run(lambda: self._resume(deadline))
                if resumed is not None:
                    return resumed
            if self._token is None:
                return outcome
            # Another thread has opened a session meanwhile: it may have a user.

    def sign_out(self) -> Optional[str]:
        """Ends the session on this machine and returns it."""
        with self._lock:
            token, self._token = self._token, None
            self._user = None
            self._sign_outs += 1
        if self._options.offline is not None:
            self._options.offline.forget()
        return token

    def kept(
        self, online: Callable[[float], Outcome], license_key: Optional[str] = None
    ) -> Union[UserData, Refused]:
        """Renews the lease after a success, and forgets it after a refusal that would hold offline, too."""
        is_current = self._until_sign_out()
        deadline = self.deadline()
        outcome = online(deadline)
        offline = self._options.offline
        hwid = None if offline is None else self._identity.hwid()
        if isinstance(outcome, Refused):
            if outcome.code in _ENDS_LEASE:
                self.forget_user()
                if offline is not None and hwid is not None:
                    offline.forget_lease()
            return outcome
        outcome, device_token = _split(outcome)
        if offline is not None and hwid is not None:
            if device_token is not None:
                offline.keep_device_token(device_token, is_current)
            if is_current() and (license_key is not None or offline.is_due(hwid, outcome.data["user"].get("_id"))):
                lease = self._new_lease(hwid, deadline)
                if lease is not None:
                    offline.keep(lease, hwid, outcome.data["user"], license_key, is_current)
        return to_user_data(outcome)

    def or_offline(
        self, name: str, online: Callable[[], Union[UserData, Refused]], license_key: Optional[str] = None
    ) -> Union[UserData, Refused]:
        """Answers from the lease or the activation if the server is not reached."""
        is_current = self._until_sign_out()
        try:
            return online()
        except KeywardNetworkError as error:
            offline = self._options.offline
            hwid = None if offline is None or error.code == "unexpected_answer" else self._identity.hwid()
            if offline is None or hwid is None:
                raise
            answer = offline.answer(hwid, license_key)
            if not isinstance(answer, OfflineAnswer):
                error.offline = answer
                raise
            self._options.log(LogEvent("offline", name, code=error.code))
            return self.answered(answer, is_current)

    def activated(self) -> Optional[UserData]:
        """Answers from the activation of this machine; None if there is none that helps."""
        offline = self._options.offline
        hwid = None if offline is None else self._identity.hwid()
        if offline is None or hwid is None:
            return None
        is_current = self._until_sign_out()
        answer = offline.answer_from_activation(hwid)
        if not isinstance(answer, OfflineAnswer):
            return None
        self._options.log(LogEvent("offline", "session", code="sessionUnauthed"))
        return self.answered(answer, is_current)

    def answered(self, answer: OfflineAnswer, is_current: Optional[Callable[[], bool]] = None) -> UserData:
        """What a lease or an activation says, as the result of a call."""
        user, state = to_user(answer.user), answer.state
        with self._lock:
            if is_current is None or is_current():
                self._user = user
        shown = {"until": state.until, "graceUntil": state.grace_until, "inGrace": state.in_grace}
        return UserData(None, {"user": answer.user, "offline": shown}, user, state)

    def forget_user(self) -> None:
        with self._lock:
            self._user = None

    def _opened(self, deadline: float) -> Tuple[Optional[Refused], Optional[str]]:
        """A session, or why there is none. Concurrent calls share one ``init``."""
        token = self._token
        if token is not None:
            return None, token
        opened = self._opening.run(lambda: self.open(deadline))
        return (opened, None) if isinstance(opened, Refused) else (None, self._token)

    def _until_sign_out(self) -> Callable[[], bool]:
        """A function that says whether no sign-out has begun since now."""
        sign_outs = self._sign_outs
        return lambda: sign_outs == self._sign_outs

    def _remember(self, call: Call, outcome: Delivered, token: Optional[str], is_current: Callable[[], bool]) -> None:
        user = to_user(to_object(outcome, "user"))
        with self._lock:
            if not is_current():
                # The user has signed out meanwhile, and must not be signed in by this answer.
                if self._token == token:
                    self._token = None
            elif call.name != "upgrade":
                # An upgrade may concern another user than the signed-in one.
                self._user = user

    def _resume(self, deadline: float) -> Optional[Outcome]:
        """Signs in with the remembered sign-in; None without one, or if the server has ended it."""
        offline = self._options.offline
        if offline is None or self._token is not None:
            return None
        is_current = self._until_sign_out()
        device_token = offline.device_token()
        facts = {} if device_token is None else self._identity.facts()
        if device_token is None or "hwid" not in facts:
            return None
        # The server accepts the same token again if its answer was lost.
        body = {"deviceToken": device_token, **facts}
        outcome = self.call(Call("POST", "resume", repeatable=True, body=body), deadline, reopen=False)
        if isinstance(outcome, Delivered):
            outcome, renewed = _split(outcome)
            if renewed is not None:
                offline.keep_device_token(renewed, is_current)
            return outcome
        if outcome.code != "sessionUnauthed":
            return outcome
        offline.drop_device_token(device_token)
        return None

    def _new_lease(self, hwid: str, deadline: float) -> Optional[str]:
        call = Call("POST", "lease", repeatable=True, body={"hwid": hwid}, session=self._token)
        try:
            outcome = self._transport.send(call, deadline)
        except KeywardError:
            # The program may run; the next call tries again.
            return None
        lease = outcome.data.get("lease") if isinstance(outcome, Delivered) else None
        return lease if isinstance(lease, str) else None


def to_user_data(outcome: Delivered) -> UserData:
    return UserData(outcome.message, outcome.data, to_user(to_object(outcome, "user")), None)


def to_object(outcome: Delivered, name: str) -> Dict[str, Any]:
    found = outcome.data.get(name)
    if isinstance(found, dict):
        return found
    raise unexpected(name)


def to_list(outcome: Delivered, name: str) -> List[Dict[str, Any]]:
    found = outcome.data.get(name)
    if isinstance(found, list) and all(isinstance(each, dict) for each in found):
        return found
    raise unexpected(name)


def _split(outcome: Delivered) -> Tuple[Delivered, Optional[str]]:
    """What programs see, and the token of a remembered sign-in, which they never see."""
    data = dict(outcome.data)
    token = data.pop("deviceToken", None)
    return Delivered(outcome.message, data), token if isinstance(token, str) else None


def unexpected(what: str) -> KeywardNetworkError:
    message = f"The answer to {what} is incomplete"
    return KeywardNetworkError("unexpected_answer", message, outcome_unknown=True)
