"""Statements of the server that a program keeps: JSON Web Signatures in compact form."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any, Dict, List, Literal, Optional

from .keys import KeyRing
from .text import from_base64_url, parse_object, to_utf8

#: A kind of statement: none passes for another.
StatementType = Literal["keyward-lease+jws", "keyward-activation+jws"]

#: The end of the year 9999.
_LAST_TIME = 253_402_300_799


@dataclass(frozen=True)
class Subject:
    """What a statement must be about."""

    app_id: str
    hwid: str
    keys: KeyRing


def read_statement(text: str, kind: StatementType, subject: Subject) -> Optional[Dict[str, Any]]:
    """
    Verifies a statement: of this type, signed by a pinned key, for this app and this device. Returns its claims, or
    None. Does not look at the clock.
    """
    parts = text.split(".")
    if len(parts) != 3:
        return None
    header, claims, signature = (from_base64_url(part) for part in parts)
    if header is None or claims is None or signature is None or len(signature) != 64:
        return None
    names = parse_object(header) or {}
    kid = names.get("kid")
    if names.get("alg") != "EdDSA" or names.get("typ") != kind or not isinstance(kid, str):
        return None
    verify = subject.keys.get(kid)
    if verify is None or not verify(f"{parts[0]}.{parts[1]}".encode("ascii"), signature):
        return None
    found = parse_object(claims) or {}
    is_ours = (
        found.get("iss") == "keyward"
        and found.get("aud") == subject.app_id
        and found.get("hwid") == sha256_hex(subject.hwid)
    )
    return found if is_ours else None


def sha256_hex(text: str) -> str:
    return hashlib.sha256(to_utf8(text)).hexdigest()


def features_at(features: List[Any], features_until: object, now: float) -> List[Any]:
    """The features that hold at ``now``, in seconds."""
    ends = ends_of(features_until)
    return features + [name for name, end in ends.items() if now < end and name not in features]


def ends_of(features_until: object) -> Dict[str, float]:
    """The ends of a claim ``featuresUntil`` by name; of anything else none."""
    if not isinstance(features_until, dict):
        return {}
    return {name: end for name, end in features_until.items() if is_time(end)}


def is_time(value: object) -> bool:
    """Whether a claim is a whole number that a date can show as seconds since 1970."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return math.isfinite(value) and 0 <= value <= _LAST_TIME and float(value).is_integer()
