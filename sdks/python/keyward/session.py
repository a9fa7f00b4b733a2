"""The session with the server, the user who is signed in, and what answers for both while the server is away."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import replace
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

from .errors import KeywardNetworkError
from .flight import Shared
from .identity import Identity
from .log import LogEvent
from .offline import OfflineAnswer
from .options import CheckedOptions
from .renewal import IsCurrent, LeaseRenewal
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
        self._renewal = LeaseRenewal(transport)

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

    def call(self, call: Call, deadline: float, is_current: IsCurrent, reopen: bool = True) -> Outcome:
        """A call that signs in or needs a session; opens a new one and repeats the call if it has ended."""
        while True:
            opened, token = self._opened(deadline) if is_current() else (overtaken(), None)
            if opened is not None:
                return opened
            # Sent now, it would sign in the user who has signed out meanwhile.
            if not is_current():
                return overtaken()
            outcome = self._transport.send(replace(call, session=token), deadline)
            if isinstance(outcome, Delivered):
                return self._remember(call, outcome, token, is_current)
            with self._lock:
                # A refusal ends what the license included, until the next success.
                if call.name == "session" and is_current():
                    self._user = None
                if outcome.code == "sessionUnauthed" and self._token == token:
                    self._token = None
            if outcome.code != "sessionUnauthed" or not reopen or not is_current():
                return outcome
            reopen = False

    def upgrade(self, call: Call) -> Outcome:
        """Adds a key to the user of that name, who may be another one than the signed-in user."""
        return self.call(call, self.deadline(), lambda: True)

    def signed_in(self, call: Call) -> Outcome:
        """A call of the signed-in user; without one it is ``sessionUnauthed``."""
        deadline = self.deadline()
        opened, token = self._opened(deadline)
        return self._transport.send(replace(call, session=token), deadline) if opened is None else opened

    def check(self, deadline: float, is_current: IsCurrent) -> Outcome:
        """Whether the user may go on; signs in again where the app remembers sign-ins."""
        while True:
            if self._token is None:
                resumed = self._resuming.run(lambda: self._resume(deadline, is_current))
                if resumed is not None:
                    return resumed
            outcome = self.call(_CHECK, deadline, is_current, reopen=False)
            if isinstance(outcome, Delivered) or outcome.code != "sessionUnauthed":
                return outcome
            if self._token is None:
                resumed = self._resuming.run(lambda: self._resume(deadline, is_current))
                if resumed is not None:
                    return resumed
            if self._token is None or not is_current():
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
        self,
        online: Callable[[float], Outcome],
        is_current: IsCurrent,
        license_key: Optional[str] = None,
    ) -> Union[UserData, Refused]:
        """Renews the lease after a success, and forgets it after a refusal that would hold offline, too."""
        deadline = self.deadline()
        outcome = online(deadline)
        if not is_current():
            return outcome if isinstance(outcome, Refused) else overtaken()
        has_ended = isinstance(outcome, Refused) and outcome.code in _ENDS_LEASE
        if has_ended:
            self.forget_user(is_current)
        offline = self._options.offline
        hwid = None if offline is None else self._identity.hwid()
        server_time = self._transport.server_time
        if offline is not None and server_time is not None:
            offline.correct_time(server_time, hwid)
        if isinstance(outcome, Refused):
            if has_ended and offline is not None and hwid is not None:
                offline.forget_lease(is_current)
            return outcome
        outcome, device_token = _split(outcome)
        if offline is not None and hwid is not None:
            if device_token is not None:
                offline.keep_device_token(device_token, is_current)
            self._renewal.run(offline, hwid, outcome.data["user"], license_key, self._token, deadline, is_current)
        return to_user_data(outcome) if is_current() else overtaken()

    def or_offline(
        self,
        name: str,
        online: Callable[[], Union[UserData, Refused]],
        is_current: IsCurrent,
        license_key: Optional[str] = None,
    ) -> Union[UserData, Refused]:
        """Answers from the lease or the activation if the server is not reached."""
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
            return self._if_current(answer, is_current)

    def activated(self, is_current: IsCurrent) -> Union[UserData, Refused, None]:
        """Answers from the activation of this machine; None if there is none that helps."""
        offline = self._options.offline
        hwid = None if offline is None else self._identity.hwid()
        if offline is None or hwid is None:
            return None
        answer = offline.answer_from_activation(hwid)
        if not isinstance(answer, OfflineAnswer):
            return None
        self._options.log(LogEvent("offline", "session", code="sessionUnauthed"))
        return self._if_current(answer, is_current)

    def answered(self, answer: OfflineAnswer, is_current: IsCurrent) -> UserData:
        """What a lease or an activation says, as the result of a call."""
        user, state = to_user(answer.user), answer.state
        with self._lock:
            if is_current():
                self._user = user
        shown = {"until": state.until, "graceUntil": state.grace_until, "inGrace": state.in_grace}
        return UserData(None, {"user": answer.user, "offline": shown}, user, state)

    def forget_user(self, is_current: Optional[IsCurrent] = None) -> None:
        with self._lock:
            if is_current is None or is_current():
                self._user = None

    def until_sign_out(self) -> IsCurrent:
        """Whether no sign-out has begun since now: ask for it before anything else of a call."""
        sign_outs = self._sign_outs
        return lambda: sign_outs == self._sign_outs

    def _if_current(self, answer: OfflineAnswer, is_current: IsCurrent) -> Union[UserData, Refused]:
        result = self.answered(answer, is_current)
        return result if is_current() else overtaken()

    def _opened(self, deadline: float) -> Tuple[Optional[Refused], Optional[str]]:
        """A session, or why there is none. Concurrent calls share one ``init``."""
        token = self._token
        if token is not None:
            return None, token
        opened = self._opening.run(lambda: self.open(deadline))
        return (opened, None) if isinstance(opened, Refused) else (None, self._token)

    def _remember(self, call: Call, outcome: Delivered, token: Optional[str], is_current: IsCurrent) -> Outcome:
        user = to_user(to_object(outcome, "user"))
        if call.name == "upgrade":
            # An upgrade may concern another user than the signed-in one.
            return outcome
        with self._lock:
            if is_current():
                self._user = user
                return outcome
            if self._token == token:
                self._token = None
        return overtaken()

    def _resume(self, deadline: float, is_current: IsCurrent) -> Optional[Outcome]:
        """Signs in with the remembered sign-in; None without one, or if the server has ended it."""
        offline = self._options.offline
        if offline is None or self._token is not None:
            return None
        device_token = offline.device_token()
        facts = {} if device_token is None else self._identity.facts()
        if device_token is None or "hwid" not in facts:
            return None
        # The server accepts the same token again if its answer was lost.
        body = {"deviceToken": device_token, **facts}
        call = Call("POST", "resume", repeatable=True, body=body)
        outcome = self.call(call, deadline, is_current, reopen=False)
        if isinstance(outcome, Delivered):
            outcome, renewed = _split(outcome)
            if renewed is not None:
                offline.keep_device_token(renewed, is_current)
            return outcome
        if outcome.code != "sessionUnauthed":
            return outcome
        offline.drop_device_token(device_token)
        return None


def overtaken() -> Refused:
    """The result of a sign-in or ``session`` that was granted only after the user had signed out."""
    return Refused("sessionUnauthed", "The user signed out before this call was finished")


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
