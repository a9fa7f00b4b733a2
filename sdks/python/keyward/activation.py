"""Machines that are never online: their request to the vendor, and the file with which the vendor answers."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, Optional

from .jws import Subject, features_at, is_time, read_statement
from .text import WHITE_SPACE, to_utf8

NONCE_BYTES = 8
LICENSE_KEY_MAX = 100
_VERSION = 1
_CHECK_BYTES = 4
_GROUP = 5
#: The longest file that is read: as many lines as an app can have keys, and more.
_FILE_LENGTH_MAX = 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_TO_CROCKFORD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
_DATE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)


@dataclass(frozen=True)
class Activation:
    """The claims of an activation; times in seconds since 1970."""

    sub: str
    #: The nonce of the request that the file answers, 16 hex digits.
    nonce: str
    iat: float
    #: None for never.
    exp: Optional[float]
    features: List[Any]
    #: When features end that do not last as long as the file, by name; most files have none.
    features_until: Any
    username: str
    term: str
    #: When the license ends, without grace days; None for never.
    expires_at: Optional[str]
    #: The code with which the vendor frees the device.
    deactivation: str


def encode_request(app_id: str, hwid: str, license_key: str, nonce: bytes) -> str:
    """The request of a machine, as the vendor's console reads it."""
    body = bytes([_VERSION]) + nonce + hashlib.sha256(to_utf8(hwid)).digest() + to_utf8(license_key)
    check = hashlib.sha256(to_utf8(app_id) + body).digest()[:_CHECK_BYTES]
    text = to_crockford(body + check)
    return "KWR1-" + "-".join(text[at : at + _GROUP] for at in range(0, len(text), _GROUP))


def to_crockford(data: bytes) -> str:
    """Crockford base32 in upper case without padding; zero bits fill the last symbol."""
    return base64.b32encode(data).decode("ascii").rstrip("=").translate(_TO_CROCKFORD)


def read_activation(text: str, subject: Subject) -> Optional[Activation]:
    """
    Verifies one line of an activation file: typed as one, signed by a pinned key, for this app and this device.
    Returns its claims, or None. Looks neither at the clock nor at the nonce.
    """
    claims = read_statement(text, "keyward-activation+jws", subject)
    if claims is None or not _is_activation(claims):
        return None
    return Activation(
        sub=claims["sub"],
        nonce=claims["nonce"],
        iat=claims["iat"],
        exp=claims["exp"],
        features=claims["features"],
        features_until=claims.get("featuresUntil"),
        username=claims["username"],
        term=claims["term"],
        expires_at=claims["expiresAt"],
        deactivation=claims["deactivation"],
    )


def _is_activation(claims: Dict[str, Any]) -> bool:
    # A missing end must not pass for none.
    if any(not isinstance(claims.get(name), str) for name in ("sub", "nonce", "username", "term", "deactivation")):
        return False
    if not is_time(claims.get("iat")) or not is_time(claims.get("seq")):
        return False
    if not isinstance(claims.get("features"), list):
        return False
    if "exp" not in claims or not (claims["exp"] is None or is_time(claims["exp"])):
        return False
    expires_at = claims.get("expiresAt", "")
    return expires_at is None or (isinstance(expires_at, str) and parse_time(expires_at) is not None)


def lines_of(file: str) -> List[str]:
    """The lines of an activation file: the same statement, signed with different keys."""
    if len(file) > _FILE_LENGTH_MAX:
        return []
    return [line for line in re.split(f"[{WHITE_SPACE}]+", file) if line != ""]


def to_activated(activation: Activation, now: float) -> Dict[str, Any]:
    """The user of an activation that is valid at ``now``, in seconds, as the server would send it."""
    expires_at = activation.expires_at
    ends = None if expires_at is None else parse_time(expires_at)
    return {
        "_id": activation.sub,
        "username": activation.username,
        "email": None,
        "expiresAt": expires_at,
        "inGrace": ends is not None and now >= ends,
        "term": activation.term,
        "createdAt": to_iso(activation.iat),
        "lastLoginAt": None,
        "hwidBound": True,
        "features": features_at(activation.features, activation.features_until, now),
        "variables": {},
        "updatesUntil": None,
        "devices": {"used": 1, "limit": 1},
        "seat": None,
    }


def to_iso(seconds: float) -> str:
    """ISO 8601 in UTC with milliseconds, as servers write times."""
    at = _EPOCH + timedelta(seconds=seconds)
    return at.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def parse_time(text: str) -> Optional[float]:
    """The seconds since 1970 of a time in ISO 8601; None for anything else."""
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        at = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0), tzinfo=timezone.utc
        )
    except ValueError:
        return None
    offset = 0
    if zone is not None and zone != "Z":
        offset = (int(zone[1:3]) * 60 + int(zone[4:6])) * (-60 if zone[0] == "-" else 60)
    return (at - _EPOCH).total_seconds() - offset + float(f"0.{fraction or 0}")
