"""Signs like the server, independent of the SDK's code, which it checks."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from typing import Any, Dict, Optional

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

#: The published Ed25519 test key of RFC 9421, appendix B.1.4. For tests only.
TEST_KEY = {
    "kty": "OKP",
    "crv": "Ed25519",
    "kid": "test-key-ed25519",
    "d": "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU",
    "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
}
#: The key of another app, from RFC 8032, section 7.1, test 1.
OTHER_KEY = {
    "kty": "OKP",
    "crv": "Ed25519",
    "kid": "another-app",
    "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
    "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
}
DAY = 86_400


def public(key: Dict[str, str]) -> Dict[str, str]:
    return {name: value for name, value in key.items() if name != "d"}


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def sign(message: bytes, key: Dict[str, str] = TEST_KEY) -> bytes:
    seed = base64.urlsafe_b64decode(key["d"] + "=")
    return Ed25519PrivateKey.from_private_bytes(seed).sign(message)


def sign_answer(
    method: str, path: str, headers: Dict[str, str], status: int, body: bytes, key: Dict[str, str] = TEST_KEY
) -> Dict[str, str]:
    digest = f"sha-256=:{base64.b64encode(hashlib.sha256(body).digest()).decode()}:"
    values = {'"@status"': str(status), '"content-digest"': digest, '"@method";req': method, '"@path";req': path}
    for name in ("keyward-nonce", "authorization", "content-digest"):
        if name in headers:
            values[f'"{name}";req'] = headers[name]
    params = f'({" ".join(values)});created=1750000000;keyid="{key["kid"]}";alg="ed25519"'
    lines = [f"{name}: {value}" for name, value in values.items()]
    base = "\n".join([*lines, f'"@signature-params": {params}'])
    signature = base64.b64encode(sign(base.encode(), key)).decode()
    return {"Content-Digest": digest, "Signature-Input": f"keyward={params}", "Signature": f"keyward=:{signature}:"}


def jws(kind: str, claims: Dict[str, Any], key: Dict[str, str] = TEST_KEY) -> str:
    header = {"alg": "EdDSA", "typ": kind, "kid": key["kid"]}
    text = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    return f"{text}.{encode(sign(text.encode(), key))}"


def lease(now: Optional[float] = None, **changes: Any) -> str:
    at = int(time.time() if now is None else now)
    claims = {
        "iss": "keyward",
        "aud": "app12345",
        "sub": "usr_1",
        "hwid": hashlib.sha256(b"hw-1").hexdigest(),
        "iat": at,
        "refreshAfter": at + DAY,
        "exp": at + 3 * DAY,
        "graceUntil": at + 10 * DAY,
        "seq": 1,
        "features": ["pro"],
    }
    return jws("keyward-lease+jws", {**claims, **changes})


def activation(nonce: str, now: Optional[float] = None, **changes: Any) -> str:
    at = int(time.time() if now is None else now)
    claims = {
        "iss": "keyward",
        "aud": "app12345",
        "sub": "usr_1",
        "hwid": hashlib.sha256(b"hw-1").hexdigest(),
        "nonce": nonce,
        "iat": at,
        "exp": at + 30 * DAY,
        "seq": 1,
        "features": ["pro"],
        "username": "KEY",
        "term": "forever",
        "expiresAt": None,
        "deactivation": "KWD1-AAAA-BBBB-CCCC-DDDD",
    }
    return jws("keyward-activation+jws", {**claims, **changes})
