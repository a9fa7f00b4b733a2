"""What answers while the server cannot be reached: the latest lease of a device, or its activation."""

from __future__ import annotations

import math
import secrets
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Callable, ContextManager, Dict, Iterator, Literal, Optional, Tuple, Union

from .activation import NONCE_BYTES, Activation, lines_of, read_activation, to_activated, to_iso
from .errors import OfflineProblem
from .jws import Subject, ends_of, features_at, sha256_hex
from .kept import NOTHING, Kept, StorageFailure, load, store
from .keys import KeyRing
from .lease import Lease, read_lease
from .locks import Lock
from .results import OfflineState, to_texts
from .seen_time import SeenTime
from .user_data import Storage

#: How far a clock may lag behind the highest time that the server has signed, in seconds.
_CLOCK_TOLERANCE_S = 300
#: The same for a file, and for a lease of days: the clock may be set to the farthest time zone.
_TIME_ZONE_TOLERANCE_S = 14 * 3_600
_DAYS_LONG_S = 72 * 3_600

#: Why a file was not accepted.
ActivationProblem = Literal["not_for_this_machine", "other_request", "lease_ended", "clock_set_back"]


@dataclass(frozen=True)
class OfflineAnswer:
    #: As the server would send it. Only its id and its features are signed in a lease.
    user: Dict[str, Any]
    state: OfflineState


@dataclass(frozen=True)
class _Found:
    """A statement that holds now."""

    answer: OfflineAnswer
    #: The time by which it was judged; None where nothing ends, which no clock concerns.
    now: Optional[float]
    lease: Optional[Lease] = None


class Offline:
    """Keeps leases, activations and the token of a remembered sign-in. Safe for threads."""

    def __init__(
        self, storage: Storage, app_id: str, keys: KeyRing, now: Callable[[], float] = time.time
    ) -> None:
        self._storage = storage
        self._app_id = app_id
        self._keys = keys
        self._time = SeenTime(now)
        #: The highest number of a lease that this program has seen, by user.
        self._seen: Dict[str, float] = {}
        # A storage of the program's own may call the client.
        self._lock = Lock()

    def is_due(self, hwid: str, user_id: object) -> bool:
        """Whether a new lease is due for this user."""
        lease = self._read_lease(self._load(), hwid)
        return lease is None or lease.sub != user_id or self._time.now() >= lease.refresh_after

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
            if lease is None or self._is_older(lease):
                return
            if stored is not None and is_same_user and stored.seq > lease.seq:
                return
            self._seen[lease.sub] = lease.seq
            # A clock that is ahead must not count: the server has just said what time it is.
            noted = self._time.note(kept, min(self._time.now(), lease.iat))
            key = kept["key"] if is_same_user else None
            self._write(
                {
                    **kept,
                    "lease": text,
                    "latest": max(kept["latest"], lease.iat),
                    "boot": noted["boot"],
                    "user": user,
                    "key": key if license_key is None else sha256_hex(license_key),
                }
            )

    def correct_time(self, server_time: float, hwid: Optional[str]) -> None:
        """
        Corrects the latest time after a clock that was far ahead. ``server_time`` is when the server signed the answer to
        a request of just now; an attacker can neither choose nor repeat it.
        """

        def is_ahead(kept: Kept) -> bool:
            return self._time.floor(kept) > server_time + _CLOCK_TOLERANCE_S

        with self._lock.held():
            if not is_ahead(self._load()):
                return
        with self._alone():
            kept = self._load()
            if not is_ahead(kept):
                return
            lease = None if hwid is None else self._read_lease(kept, hwid)
            self._time.forget()
            latest = min(kept["latest"], max(server_time, 0 if lease is None else lease.iat))
            self._write({**kept, "latest": latest, "boot": None})

    def forget_lease(self, is_current: Callable[[], bool]) -> None:
        """Forgets the lease and the activation after a refusal."""
        with self._alone():
            if not is_current():
                return
            kept = self._load()
            pending = (kept["activation"] or {}).get("pending")
            self._write({**kept, **NOTHING, "activation": {"pending": pending} if pending else None})

    def forget(self) -> None:
        """Forgets everything but the time and the activation, after a sign-out."""
        with self._alone():
            self._write({**self._load(), **NOTHING, "deviceToken": None})

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

    def would_answer(self, hwid: str, license_key: Optional[str]) -> bool:
        """Whether ``answer`` would answer now."""
        with self._lock.held():
            return isinstance(self._find(self._load(), hwid, license_key), _Found)

    def answer(self, hwid: str, license_key: Optional[str]) -> Union[OfflineAnswer, OfflineProblem]:
        """Answers, or says why it cannot. ``license_key`` must be the key that signed in, if it is given."""
        with self._alone():
            kept = self._load()
            return self._used(kept, self._find(kept, hwid, license_key))

    def answer_from_activation(self, hwid: str) -> Union[OfflineAnswer, OfflineProblem]:
        """Answers from the activation alone, or says why it cannot."""
        with self._alone():
            kept = self._load()
            return self._used(kept, self._find_activation(kept, hwid, None))

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
        """Accepts a file that answers the pending request. It is newer than that, so it corrects the time that was seen."""
        with self._alone():
            found = self._find_line(file, hwid)
            if found is None:
                return "not_for_this_machine"
            line, activation = found
            kept = self._load()
            pending = (kept["activation"] or {}).get("pending")
            if not pending or pending["nonce"] != activation.nonce:
                return "other_request"
            now = self._time.now()
            if activation.exp is not None and now < activation.iat - _TIME_ZONE_TOLERANCE_S:
                return "clock_set_back"
            if activation.exp is not None and now >= activation.exp:
                return "lease_ended"
            answered = {"file": line, **pending}
            self._store({**kept, "latest": activation.iat, "boot": None, "activation": answered})
            self._time.forget()
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
        with self._lock.held():
            lock = _taken(self._storage)
            try:
                yield
            finally:
                if lock is not None:
                    with suppress(Exception):
                        lock.__exit__(None, None, None)

    def _find(self, kept: Kept, hwid: str, license_key: Optional[str]) -> Union[_Found, OfflineProblem]:
        key = None if license_key is None else sha256_hex(license_key)
        leased = self._find_lease(kept, hwid, key)
        if isinstance(leased, _Found):
            return leased
        activated = self._find_activation(kept, hwid, key)
        return activated if isinstance(activated, _Found) or leased == "no_lease" else leased

    def _find_lease(self, kept: Kept, hwid: str, key: Optional[str]) -> Union[_Found, OfflineProblem]:
        lease = self._read_lease(kept, hwid)
        if kept["user"] is None or lease is None or (key is not None and kept["key"] != key):
            return "no_lease"
        is_days_long = lease.grace_until - lease.iat >= _DAYS_LONG_S
        tolerance = _TIME_ZONE_TOLERANCE_S if is_days_long else _CLOCK_TOLERANCE_S
        now = self._judge(kept, lease.iat, lease.grace_until, tolerance)
        if isinstance(now, str):
            return now
        texts = dict(to_texts(lease.variables))
        features = features_at(lease.features, lease.features_until, now)
        user = {**kept["user"], "_id": lease.sub, "features": features, "variables": texts}
        state = OfflineState(to_iso(lease.exp), to_iso(lease.grace_until), now >= lease.exp)
        return _Found(OfflineAnswer(user, state), now, lease)

    def _find_activation(self, kept: Kept, hwid: str, key: Optional[str]) -> Union[_Found, OfflineProblem]:
        activation = self._read_activation(kept, hwid)
        if activation is None or (key is not None and kept["activation"]["licenseKey"] != key):
            return "no_lease"
        is_endless = activation.exp is None
        if is_endless and not ends_of(activation.features_until):
            return _Found(_activated(activation, self._time.now()), None)
        end = math.inf if activation.exp is None else activation.exp
        now = self._judge(kept, activation.iat, end, _TIME_ZONE_TOLERANCE_S)
        if not isinstance(now, str):
            return _Found(_activated(activation, now), now)
        # A file without an end goes on, without the features that end.
        return _Found(_activated(activation, math.inf), None) if is_endless else now

    def _judge(
        self, kept: Kept, iat: float, end: float, tolerance: float
    ) -> Union[float, Literal["clock_set_back", "lease_ended"]]:
        """The time, or why a statement of ``iat`` that ends at ``end`` does not help now; all in seconds."""
        clock = self._time.now()
        floor = max(iat, self._time.floor(kept))
        if clock < floor - tolerance:
            return "clock_set_back"
        # A clock that lags must not hold up the time that is noted: it could be set back again after every restart.
        now = max(clock, floor)
        return "lease_ended" if now >= end else now

    def _used(self, kept: Kept, found: Union[_Found, OfflineProblem]) -> Union[OfflineAnswer, OfflineProblem]:
        """Notes the time at which a statement was used, from which the clock cannot go back."""
        if not isinstance(found, _Found):
            return found
        if found.lease is not None:
            self._seen[found.lease.sub] = found.lease.seq
        if found.now is not None:
            noted = self._time.note(kept, found.now)
            if noted["latest"] > kept["latest"] or noted["boot"] != kept["boot"]:
                self._write({**kept, **noted})
        return found.answer

    def _is_older(self, lease: Lease) -> bool:
        """Whether this program has seen a newer lease: an older one was copied back."""
        return lease.seq < self._seen.get(lease.sub, lease.seq)

    def _find_line(self, file: str, hwid: str) -> Optional[Tuple[str, Activation]]:
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
        lease = read_lease(kept["lease"], self._subject(hwid))
        return None if lease is None or self._is_older(lease) else lease

    def _subject(self, hwid: str) -> Subject:
        return Subject(self._app_id, hwid, self._keys)

    def _load(self) -> Kept:
        return load(self._storage)

    def _store(self, kept: Kept) -> None:
        store(self._storage, kept)

    def _write(self, kept: Kept) -> None:
        try:
            self._store(kept)
        except StorageFailure:
            # A full disk must not stop a program that is online.
            pass


def _taken(storage: Storage) -> Optional[ContextManager[object]]:
    """The lock of a storage that has one. A lock that fails must not stop the program."""
    try:
        lock: ContextManager[object] = storage.lock()  # type: ignore[attr-defined]
        lock.__enter__()
        return lock
    except Exception:
        return None


def _activated(activation: Activation, now: float) -> OfflineAnswer:
    until = None if activation.exp is None else to_iso(activation.exp)
    return OfflineAnswer(to_activated(activation, now), OfflineState(until, until, False))
