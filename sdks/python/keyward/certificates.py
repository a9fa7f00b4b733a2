"""Certificates that are rejected, before anything of a request is sent."""

from __future__ import annotations

import ssl
from typing import Optional

from .errors import KeywardNetworkError

#: What OpenSSL calls a certificate that is not valid yet, and one that has expired.
_NOT_YET_VALID, _EXPIRED = 9, 10


def to_certificate_error(error: Exception, origin: str) -> Optional[KeywardNetworkError]:
    """The error of a connection whose certificate was rejected; None if something else happened."""
    if not isinstance(error, ssl.SSLCertVerificationError):
        return None
    certificate, reason = f"The certificate of {origin}", error.verify_message
    if error.verify_code == _NOT_YET_VALID:
        message = f"{certificate} is not valid yet ({reason}). Set the date and time of this computer, then try again."
        return KeywardNetworkError("clock", message, outcome_unknown=False)
    message = (
        f"{certificate} has expired ({reason}). Check the date and time of this computer; if they are right, tell the "
        "vendor of this program."
        if error.verify_code == _EXPIRED
        else f"{certificate} is not trusted ({reason}). A proxy, a virus scanner or another network may be in between; if "
        "not, tell the vendor of this program."
    )
    return KeywardNetworkError("certificate", message, outcome_unknown=False)
