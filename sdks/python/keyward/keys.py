"""The public keys that are built into a program."""

from __future__ import annotations

import re
from typing import Any, Callable, Dict, List, Mapping

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from .errors import KeywardUsageError
from .text import from_base64_url

#: Whether a signature (second argument) is the key's signature of a message (first argument).
Verify = Callable[[bytes, bytes], bool]
#: Verifies with public keys, by key id.
KeyRing = Mapping[str, Verify]

_KID = re.compile(r"[\x20-\x2b\x2d-\x7e]{1,256}")


def to_key_ring(public_keys: object) -> KeyRing:
    """
    Reads the Ed25519 signing keys of a JWK set and ignores keys of other kinds, as RFC 7517 requires. Raises
    ``KeywardUsageError`` if no key is left, or one is malformed or private.
    """
    ring: Dict[str, Verify] = {}
    for jwk in _to_list(public_keys):
        if not isinstance(jwk, Mapping):
            raise _wrong("a key is not an object")
        if "d" in jwk:
            raise _wrong("a private key must never be part of a program")
        use = jwk.get("use")
        if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519" or (use is not None and use != "sig"):
            continue
        if jwk.get("status") == "revoked":
            continue
        kid = jwk.get("kid")
        if not isinstance(kid, str) or not _KID.fullmatch(kid):
            raise _wrong("a key has no kid")
        if kid in ring:
            raise _wrong(f"kid {kid} is there twice")
        ring[kid] = _to_verify(kid, jwk.get("x"))
    if not ring:
        raise _wrong("expected at least one Ed25519 key")
    return ring


def _to_list(public_keys: object) -> List[Any]:
    if isinstance(public_keys, Mapping):
        public_keys = public_keys["keys"] if "keys" in public_keys else [public_keys]
    if not isinstance(public_keys, (list, tuple)):
        raise _wrong("expected a JWK set")
    return list(public_keys)


def _to_verify(kid: str, x: object) -> Verify:
    raw = from_base64_url(x) if isinstance(x, str) else None
    if raw is None or len(raw) != 32:
        raise _wrong(f"the key {kid} is broken")
    try:
        key = Ed25519PublicKey.from_public_bytes(raw)
    except UnsupportedAlgorithm as error:
        message = "The installed cryptography cannot verify Ed25519 signatures"
        raise KeywardUsageError("crypto_unavailable", message) from error
    except ValueError as error:
        raise _wrong(f"the key {kid} is broken") from error

    def verify(message: bytes, signature: bytes) -> bool:
        try:
            key.verify(signature, message)
        except InvalidSignature:
            return False
        return True

    return verify


def _wrong(message: str) -> KeywardUsageError:
    return KeywardUsageError("invalid_options", f"public_keys: {message}")
