"""Leases: what a device may do while the server cannot be reached."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional

from .jws import Subject, is_time, read_statement


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
    #: When features end that do not last as long as the lease, by name; most leases have none.
    features_until: Any
    #: The variables that the vendor offers offline; servers of earlier versions send none.
    variables: Any


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
        features_until=claims.get("featuresUntil"),
        variables=claims.get("variables"),
    )
