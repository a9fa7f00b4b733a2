"""What answers while the server cannot be reached: the latest lease of a device, or its activation."""

from __future__ import annotations

import math
import re
import secrets
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Callable, ContextManager, Dict, Iterator, List, Literal, Optional, Tuple, Union

from .activation import NONCE_BYTES, Activation, lines_of, read_activation, to_activated, to_iso
from .errors import OfflineProblem
from .jws import Subject, is_time, read_statement, sha256_hex
from .keys import KeyRing
from .results import OfflineState
from .text import parse_object, to_json
from .user_data import Storage

#: How far a clock may lag behind the highest time that the server has signed, in seconds.
_CLOCK_TOLERANCE_S = 300
_NONCE = re.compile(r"[0-9a-f]{16}")

#: Why a file was not accepted.
ActivationProblem = Literal["not_for_this_machine", "other_request", "lease_ended", "clock_set_back"]
#: The content of the storage, which programs in other languages share.
Kept = Dict[str, Any]


class StorageFailure(Exception):
    """A change that must be stored was not."""


@dataclass(frozen=True)
class Lease:
    """The claims of a lease; times in seconds since 1970."""

    sub: str
    iat: float
    exp: float
    refresh_after: float
    grace_until: float
    seq: float
    features: List[Any]


@dataclass(frozen=True)
class OfflineAnswer:
    #: As the server would send it. Only its id and its features are signed in a lease.
    user: Dict[str, Any]
    state: OfflineState


def read_lease(text: str, subject: Subject) -> Optional[Lease]:
    """
    Verifies a lease: typed as one, signed by a pinned key, for this app and this device. Returns its claims, or None.
    Does not look at the clock.
    """
    claims = read_statement(text, "keyward-lease+jws", subject)
    if claims is None or not isinstance(claims.get("sub"), str):
        return None
    if not all(is_time(claims.get(name)) for name in ("iat", "exp", "refreshAfter", "graceUntil", "seq")):
        return None
    if not isinstance(claims.get("features"), list):
        return None
    return Lease(
        sub=claims["sub"],
        iat=claims["iat"],
        exp=claims["exp"],
        refresh_after=claims["refreshAfter"],
        grace_until=claims["graceUntil"],
        seq=claims["seq"],
        features=claims["features"],
    )


class Offline:
    """Keeps leases, activations and the token of a remembered sign-in. Safe for threads."""

    def __init__(
        self, storage: Storage, app_id: str, keys: KeyRing, now: Callable[[], float] = time.time
    ) -> None:
        self._storage = storage
        self._app_id = app_id
        self._keys = keys
        self._now = now
        # A storage of the program's own may call the client.
        self._lock = threading.RLock()

    def is_due(self, hwid: str, user_id: object) -> bool:
        """Whether a new lease is due for this user."""
        lease = self._read_lease(self._load(), hwid)
        return lease is None or lease.sub != user_id or self._now() >= lease.refresh_after

    def keep(
        self, text: str, hwid: str, user: Any, license_key: Optional[str], is_current: Callable[[], bool]
    ) -> None:
        """Stores a lease that was just issued; ignores one that is not valid, or older than the stored one."""
        with self._alone():
            if not is_current():
                return
            lease = read_lease(text, self._subject(hwid))
            kept = self._load()
            stored = self._read_lease(kept, hwid)
            is_same_user = lease is not None and stored is not None and stored.sub == lease.sub
            if lease is None or (stored is not None and is_same_user and stored.seq > lease.seq):
                return
            key = kept["key"] if is_same_user else None
            self._write(
                {
                    **kept,
                    "lease": text,
                    "latest": max(kept["latest"], lease.iat),
                    "user": user,
                    "key": key if license_key is None else sha256_hex(license_key),
                }
            )

    def correct_time(self, server_time: float, hwid: Optional[str]) -> None:
        """
        Corrects the latest time after a clock that was far ahead. ``server_time`` is when the server signed the answer to
        a request of just now; an attacker can neither choose nor repeat it.
        """
        if self._load()["latest"] <= server_time + _CLOCK_TOLERANCE_S:
            return
        with self._alone():
            kept = self._load()
            lease = None if hwid is None else self._read_lease(kept, hwid)
            latest = max(server_time, 0 if lease is None else lease.iat)
            if kept["latest"] > server_time + _CLOCK_TOLERANCE_S and latest < kept["latest"]:
                self._write({**kept, "latest": latest})

    def forget_lease(self, is_current: Callable[[], bool]) -> None:
        """Forgets the lease and the activation after a refusal."""
        with self._alone():
            if not is_current():
                return
            kept = self._load()
            pending = (kept["activation"] or {}).get("pending")
            self._write({**kept, **_NOTHING, "activation": {"pending": pending} if pending else None})

    def forget(self) -> None:
        """Forgets everything but the time and the activation, after a sign-out."""
        with self._alone():
            self._write({**self._load(), **_NOTHING, "deviceToken": None})

    def device_token(self) -> Optional[str]:
        token: Optional[str] = self._load()["deviceToken"]
        return token

    def keep_device_token(self, token: str, is_current: Callable[[], bool]) -> None:
        with self._alone():
            if is_current():
                self._write({**self._load(), "deviceToken": token})

    def drop_device_token(self, refused: str) -> None:
        """Forgets a token that the server has refused, unless another program has stored a newer one."""
        with self._alone():
            kept = self._load()
            if kept["deviceToken"] == refused:
                self._write({**kept, "deviceToken": None})

    def answer(self, hwid: str, license_key: Optional[str]) -> Union[OfflineAnswer, OfflineProblem]:
        """Answers, or says why it cannot. ``license_key`` must be the key that signed in, if it is given."""
        with self._alone():
            kept = self._load()
            key = None if license_key is None else sha256_hex(license_key)
            leased = self._answer_from_lease(kept, hwid, key)
            if isinstance(leased, OfflineAnswer):
                return leased
            activated = self._answer_from_activation(kept, hwid, key)
            return activated if isinstance(activated, OfflineAnswer) or leased == "no_lease" else leased

    def answer_from_activation(self, hwid: str) -> Union[OfflineAnswer, OfflineProblem]:
        """Answers from the activation alone, or says why it cannot."""
        with self._alone():
            return self._answer_from_activation(self._load(), hwid, None)

    def request_nonce(self, license_key: str) -> str:
        """The nonce of the request that waits for a file, 16 hex digits; a new one unless this key has one."""
        with self._alone():
            kept = self._load()
            key = sha256_hex(license_key)
            activation = kept["activation"] or {}
            pending = activation.get("pending")
            if pending and pending["licenseKey"] == key:
                return str(pending["nonce"])
            nonce = secrets.token_hex(NONCE_BYTES)
            self._store({**kept, "activation": {**activation, "pending": {"nonce": nonce, "licenseKey": key}}})
            return nonce

    def activate(self, file: str, hwid: str) -> Union[OfflineAnswer, ActivationProblem]:
        """Accepts a file that answers the pending request."""
        with self._alone():
            found = self._find_activation(file, hwid)
            if found is None:
                return "not_for_this_machine"
            line, activation = found
            kept = self._load()
            pending = (kept["activation"] or {}).get("pending")
            if not pending or pending["nonce"] != activation.nonce:
                return "other_request"
            now = self._now()
            problem = _judge(kept, activation.iat, activation.exp, now)
            if problem is not None:
                return problem
            latest = max(kept["latest"], activation.iat, math.floor(now))
            self._store({**kept, "latest": latest, "activation": {"file": line, **pending}})
            return _activated(activation, now)

    def deactivate(self, hwid: str) -> Optional[str]:
        """Forgets the activation and the pending request; returns the code, or None without an activation."""
        with self._alone():
            kept = self._load()
            activation = self._read_activation(kept, hwid)
            if activation is None:
                return None
            self._store({**kept, "activation": None})
            return activation.deactivation

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One change after the other, so that none is lost, also those of other programs."""
        with self._lock:
            lock = _taken(self._storage)
            try:
                yield
            finally:
                if lock is not None:
                    with suppress(Exception):
                        lock.__exit__(None, None, None)

    def _answer_from_lease(
        self, kept: Kept, hwid: str, key: Optional[str]
    ) -> Union[OfflineAnswer, OfflineProblem]:
        lease = self._read_lease(kept, hwid)
        if kept["user"] is None or lease is None or (key is not None and kept["key"] != key):
            return "no_lease"
        now = self._now()
        problem = _judge(kept, lease.iat, lease.grace_until, now)
        if problem is not None:
            return problem
        self._note_time(kept, lease.iat, now)
        user = {**kept["user"], "_id": lease.sub, "features": lease.features, "variables": {}}
        return OfflineAnswer(user, OfflineState(to_iso(lease.exp), to_iso(lease.grace_until), now >= lease.exp))

    def _answer_from_activation(
        self, kept: Kept, hwid: str, key: Optional[str]
    ) -> Union[OfflineAnswer, OfflineProblem]:
        activation = self._read_activation(kept, hwid)
        if activation is None or (key is not None and kept["activation"]["licenseKey"] != key):
            return "no_lease"
        now = self._now()
        problem = _judge(kept, activation.iat, activation.exp, now)
        if problem is not None:
            return problem
        self._note_time(kept, activation.iat, now)
        return _activated(activation, now)

    def _find_activation(self, file: str, hwid: str) -> Optional[Tuple[str, Activation]]:
        for line in lines_of(file):
            activation = read_activation(line, self._subject(hwid))
            if activation is not None:
                return line, activation
        return None

    def _read_activation(self, kept: Kept, hwid: str) -> Optional[Activation]:
        stored = kept["activation"]
        if not stored or "file" not in stored:
            return None
        activation = read_activation(stored["file"], self._subject(hwid))
        return activation if activation is not None and activation.nonce == stored["nonce"] else None

    def _read_lease(self, kept: Kept, hwid: str) -> Optional[Lease]:
        return read_lease(kept["lease"], self._subject(hwid))

    def _subject(self, hwid: str) -> Subject:
        return Subject(self._app_id, hwid, self._keys)

    def _note_time(self, kept: Kept, iat: float, now: float) -> None:
        """Notes the latest time, from which the clock cannot go back."""
        if now > max(kept["latest"], iat):
            self._write({**kept, "latest": math.floor(now)})

    def _load(self) -> Kept:
        try:
            text = self._storage.read()
        except Exception:
            return {**_NOTHING, "latest": 0, "deviceToken": None, "activation": None, _UNREADABLE: True}
        stored = (parse_object(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None) or {}
        stored.pop(_UNREADABLE, None)
        latest, user = stored.get("latest"), stored.get("user")
        return {
            # Members that other versions have written are kept.
            **stored,
            "lease": _text(stored.get("lease")) or "",
            "latest": latest if isinstance(latest, (int, float)) and not isinstance(latest, bool) else 0,
            "user": user if isinstance(user, dict) else None,
            "key": _text(stored.get("key")),
            "deviceToken": _text(stored.get("deviceToken")),
            "activation": _to_kept_activation(stored.get("activation")),
        }

    def _write(self, kept: Kept) -> None:
        try:
            self._store(kept)
        except StorageFailure:
            # A full disk must not stop a program that is online.
            pass

    def _store(self, kept: Kept) -> None:
        """Raises ``StorageFailure`` unless the change is stored."""
        if _UNREADABLE in kept:
            # What is there would be lost.
            raise StorageFailure("The storage cannot be read")
        written = {name: value for name, value in kept.items() if value is not None or name not in _OPTIONAL}
        try:
            self._storage.write(to_json(written))
        except Exception as error:
            raise StorageFailure("The storage cannot be written") from error


_UNREADABLE = "\0unreadable"
_NOTHING: Kept = {"lease": "", "user": None, "key": None}
#: Left out where there is none.
_OPTIONAL = ("deviceToken", "activation")


def _taken(storage: Storage) -> Optional[ContextManager[object]]:
    """The lock of a storage that has one. A lock that fails must not stop the program."""
    try:
        lock: ContextManager[object] = storage.lock()  # type: ignore[attr-defined]
        lock.__enter__()
        return lock
    except Exception:
        return None


def _judge(
    kept: Kept, iat: float, end: Optional[float], now: float
) -> Optional[Literal["clock_set_back", "lease_ended"]]:
    """Why a statement of ``iat`` that ends at ``end`` does not help at ``now``; all in seconds."""
    if now < max(kept["latest"], iat) - _CLOCK_TOLERANCE_S:
        return "clock_set_back"
    return "lease_ended" if end is not None and now >= end else None


def _activated(activation: Activation, now: float) -> OfflineAnswer:
    until = None if activation.exp is None else to_iso(activation.exp)
    return OfflineAnswer(to_activated(activation, now), OfflineState(until, until, False))


def _to_kept_activation(value: object) -> Optional[Dict[str, Any]]:
    if not isinstance(value, dict):
        return None
    request, waiting, file = _to_request(value), _to_request(value.get("pending")), value.get("file")
    kept: Dict[str, Any] = {"file": file, **request} if isinstance(file, str) and request else {}
    return {**kept, "pending": waiting} if waiting else kept


def _to_request(value: object) -> Optional[Dict[str, str]]:
    if not isinstance(value, dict):
        return None
    nonce, license_key = value.get("nonce"), value.get("licenseKey")
    if not isinstance(nonce, str) or not _NONCE.fullmatch(nonce) or not isinstance(license_key, str):
        return None
    return {"nonce": nonce, "licenseKey": license_key}


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None
