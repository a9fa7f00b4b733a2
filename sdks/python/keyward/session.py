"""The session with the server, the user who is signed in, and what answers for both while the server is away."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import Callable, Mapping, Optional, Tuple, Union

from .fallback import Fallback, Online
from .flight import Shared
from .granted import overtaken, to_object, to_user_data, unexpected
from .identity import Identity
from .lease_endings import LEASE_ENDINGS
from .locks import Lock
from .log import LogEvent
from .offline import OfflineAnswer
from .options import CheckedOptions
from .renewal import IsCurrent, LeaseRenewal
from .results import AppInfo, InitData, Refused, User, UserData, to_advisory, to_texts, to_user
from .transport import Call, Delivered, Outcome, Transport
from .version import SDK

_SESSION = re.compile(r"[\x21-\x7e]{1,1024}")
_CHECK = Call("GET", "session", repeatable=True)


@dataclass
class Limits:
    #: When the call ends, a time of ``time.monotonic()``.
    deadline: float
    is_current: IsCurrent
    #: The session with which the call was granted.
    token: Optional[str] = None


class Session:
    """Safe for threads. The verdict of a call is never taken from another call."""

    def __init__(self, options: CheckedOptions, transport: Transport, identity: Identity) -> None:
        self._options = options
        self._transport = transport
        self._identity = identity
        self._lock = Lock()
        self._token: Optional[str] = None
        self._user: Optional[User] = None
        #: By the last answer of the server, for the time without it.
        self._known: Optional[User] = None
        self._public: Mapping[str, str] = {}
        #: The license key that signed in.
        self._key: Optional[str] = None
        self._sign_outs = 0
        self._fallback = Fallback(options, identity)
        self._opening: Shared[Tuple[Optional[Refused], Optional[str]]] = Shared()
        self._resuming: Shared[Optional[Outcome]] = Shared()
        self._signing_in: Shared[Union[UserData, Refused, None]] = Shared()
        self._renewal = LeaseRenewal(transport)

    @property
    def user(self) -> Optional[User]:
        return self._user

    @property
    def public_variables(self) -> Mapping[str, str]:
        return self._public

    def deadline(self) -> float:
        return time.monotonic() + self._options.timeout_s

    def limits(self, is_current: IsCurrent, timeout_s: Optional[float] = None) -> Limits:
        timeout_s = self._options.timeout_s if timeout_s is None else timeout_s
        return Limits(time.monotonic() + timeout_s, is_current)

    def open(self) -> Union[InitData, Refused]:
        """Opens a session, signed out."""
        with self._lock.held():
            self._key = None
        self._fallback.reset()
        return self._open(self.deadline())[0]

    def _open(self, deadline: float) -> Tuple[Union[InitData, Refused], Optional[str]]:
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
            return outcome, None
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
            advisory=to_advisory(data.get("advisory")),
        )
        with self._lock.held():
            self._token = token
            self._user = None
            self._public = opened.variables
        return opened, token

    def call(self, call: Call, limits: Limits, reopen: bool = True) -> Outcome:
        """A call that signs in or needs a session; opens a new one and repeats the call if it has ended."""
        is_current = limits.is_current
        while True:
            if not is_current():
                return overtaken()
            refused, token = self._opened(limits.deadline)
            if token is None:
                return overtaken() if refused is None else refused
            # Sent now, it would sign in the user who has signed out meanwhile.
            if not is_current():
                return overtaken()
            outcome = self._transport.send(replace(call, session=token), limits.deadline)
            if isinstance(outcome, Delivered):
                limits.token = token
                return self._remember(call, outcome, token, is_current)
            with self._lock.held():
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
        return self.call(call, self.limits(lambda: True))

    def signed_in(self, call: Call) -> Outcome:
        """
        A call of the signed-in user; without one it is ``sessionUnauthed``. One with a license key needs no user, so a
        session that has ended is opened again.
        """
        deadline = self.deadline()
        reopen = (call.body or {}).get("licenseKey") is not None
        while True:
            refused, token = self._opened(deadline)
            if token is None:
                return overtaken() if refused is None else refused
            outcome = self._transport.send(replace(call, session=token), deadline)
            if isinstance(outcome, Delivered) or outcome.code != "sessionUnauthed" or not reopen:
                return outcome
            with self._lock.held():
                if self._token == token:
                    self._token = None
            reopen = False

    def sign_in(
        self,
        call: Call,
        is_current: IsCurrent,
        license_key: Optional[str] = None,
        timeout_s: Optional[float] = None,
    ) -> Union[UserData, Refused]:
        result = self._kept(lambda passed: self.call(call, passed), self.limits(is_current, timeout_s), license_key)
        with self._lock.held():
            if result.ok and is_current():
                self._key = license_key
        return result

    def check(self, is_current: IsCurrent, timeout_s: Optional[float]) -> Union[UserData, Refused]:
        """Whether the user may go on; signs in again with a remembered sign-in or the key that signed in."""
        limits = self.limits(is_current, timeout_s)
        result = self._kept(self._check, limits)
        if result.ok or result.code != "sessionUnauthed" or not is_current():
            return result
        signed_in = self._sign_in_by_key(limits)
        if signed_in is not None:
            return signed_in
        activated = self._activated(is_current)
        return result if activated is None else activated

    def _check(self, limits: Limits) -> Outcome:
        while True:
            if self._token is None:
                resumed = self._resume_once(limits)
                if resumed is not None:
                    return resumed
            outcome = self.call(_CHECK, limits, reopen=False)
            if isinstance(outcome, Delivered) or outcome.code != "sessionUnauthed":
                return outcome
            if self._token is None:
                resumed = self._resume_once(limits)
                if resumed is not None:
                    return resumed
            if self._token is None or not limits.is_current():
                return outcome
            # Another thread has opened a session meanwhile: it may have a user.

    def _resume_once(self, limits: Limits) -> Optional[Outcome]:
        return self._resuming.run(lambda: self._resume(limits), limits.deadline)

    def _sign_in_by_key(self, limits: Limits) -> Union[UserData, Refused, None]:
        """Signs in with the key of the last sign-in; None if that was none by key."""
        license_key = self._key
        if license_key is None:
            return None
        return self._signing_in.run(lambda: self._signed_in_by(license_key, limits), limits.deadline)

    def _signed_in_by(self, license_key: str, limits: Limits) -> Union[UserData, Refused, None]:
        # Another call has signed in since this one was refused.
        if self._token is not None and self._user is not None:
            checked = self._kept(lambda passed: self.call(_CHECK, passed, reopen=False), limits)
            if checked.ok or checked.code != "sessionUnauthed":
                return checked
        # A vendor who deleted the user has freed the key for somebody else.
        is_freed = self._is_unused(license_key, limits.deadline)
        if is_freed:
            self._forget_key(license_key)
        if is_freed or not limits.is_current():
            return None
        call = Call("POST", "license", True, {"licenseKey": license_key, **self._identity.sign_in_facts()})
        result = self.sign_in(call, limits.is_current, license_key, limits.deadline - time.monotonic())
        if isinstance(result, Refused) and result.code == "keyNotFound":
            self._forget_key(license_key)
        return result

    def _is_unused(self, license_key: str, deadline: float) -> bool:
        body = {
            "appId": self._options.app_id,
            "licenseKey": license_key,
            **self._identity.facts(),
            "locale": self._options.locale,
        }
        outcome = self._transport.send(Call("POST", "validate", True, body), deadline)
        if isinstance(outcome, Refused) or outcome.data.get("valid") is not True:
            return False
        return to_object(outcome, "license").get("used") is not True

    def _forget_key(self, license_key: str) -> None:
        with self._lock.held():
            if self._key == license_key:
                self._key = None

    def sign_out(self) -> Optional[str]:
        """Ends the session on this machine and returns it."""
        with self._lock.held():
            token, self._token = self._token, None
            self._user = self._known = self._key = None
            self._sign_outs += 1
        self._fallback.reset()
        if self._options.offline is not None:
            self._options.offline.forget()
        return token

    def _kept(
        self, online: Callable[[Limits], Outcome], limits: Limits, license_key: Optional[str] = None
    ) -> Union[UserData, Refused]:
        """Renews the lease after a success, and forgets it after a refusal that would hold offline, too."""
        is_current = limits.is_current
        outcome = online(limits)
        self._fallback.reset()
        if not is_current():
            return outcome if isinstance(outcome, Refused) else overtaken()
        has_ended = isinstance(outcome, Refused) and outcome.code in LEASE_ENDINGS
        if has_ended:
            self.forget_user(is_current, and_known=True)
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
            user, token = outcome.data["user"], limits.token
            if token is not None:
                self._renewal.run(offline, hwid, user, license_key, token, limits.deadline, is_current)
        return to_user_data(outcome) if is_current() else overtaken()

    def or_offline(
        self, name: str, online: Online, is_current: IsCurrent, license_key: Optional[str] = None
    ) -> Union[UserData, Refused]:
        """A call that what is stored may answer in place of the server."""

        def on_answer(answer: OfflineAnswer) -> Union[UserData, Refused]:
            with self._lock.held():
                if license_key is not None and is_current():
                    self._key = license_key
            return self._if_current(answer, is_current)

        return self._fallback.run(name, online, on_answer, is_current, license_key)

    def _activated(self, is_current: IsCurrent) -> Union[UserData, Refused, None]:
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
        state, known = answer.state, self._known
        shown_user = dict(answer.user)
        if known is not None and known.id == shown_user.get("_id"):
            shown_user["variables"] = {**shown_user["variables"], **known.variables}
        user = to_user(shown_user)
        with self._lock.held():
            if is_current():
                self._user = user
        shown = {"until": state.until, "graceUntil": state.grace_until, "inGrace": state.in_grace}
        return UserData(None, {"user": shown_user, "offline": shown}, user, state)

    def forget_user(self, is_current: Optional[IsCurrent] = None, and_known: bool = False) -> None:
        with self._lock.held():
            if is_current is None or is_current():
                self._user = None
                self._known = None if and_known else self._known

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
        return (None, token) if token is not None else self._opening.run(lambda: self._open_once(deadline), deadline)

    def _open_once(self, deadline: float) -> Tuple[Optional[Refused], Optional[str]]:
        opened, token = self._open(deadline)
        return opened if isinstance(opened, Refused) else None, token

    def _remember(self, call: Call, outcome: Delivered, token: str, is_current: IsCurrent) -> Outcome:
        user = to_user(to_object(outcome, "user"))
        if call.name == "upgrade":
            # An upgrade may concern another user than the signed-in one.
            return outcome
        with self._lock.held():
            if is_current():
                self._user = self._known = user
                return outcome
            if self._token == token:
                self._token = None
        return overtaken()

    def _resume(self, limits: Limits) -> Optional[Outcome]:
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
        outcome = self.call(call, limits, reopen=False)
        if isinstance(outcome, Delivered):
            outcome, renewed = _split(outcome)
            if renewed is not None:
                offline.keep_device_token(renewed, limits.is_current)
            return outcome
        if outcome.code != "sessionUnauthed":
            return outcome
        offline.drop_device_token(device_token)
        return None


def _split(outcome: Delivered) -> Tuple[Delivered, Optional[str]]:
    """What programs see, and the token of a remembered sign-in, which they never see."""
    data = dict(outcome.data)
    token = data.pop("deviceToken", None)
    return Delivered(outcome.message, data), token if isinstance(token, str) else None
