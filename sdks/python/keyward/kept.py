"""What outlives the program: the content of the storage."""

from __future__ import annotations

import re
from typing import Any, Dict, Optional

from .seen_time import to_boot_start
from .text import parse_object, to_json
from .user_data import Storage

_NONCE = re.compile(r"[0-9a-f]{16}")
#: The content of the storage, which programs in other languages share.
Kept = Dict[str, Any]

_UNREADABLE = "\0unreadable"
NOTHING: Kept = {"lease": "", "user": None, "key": None}
#: Left out where there is none.
_OPTIONAL = ("boot", "deviceToken", "activation")


class StorageFailure(Exception):
    """A change that must be stored was not."""


def load(storage: Storage) -> Kept:
    try:
        text = storage.read()
    except Exception:
        return {
            **NOTHING,
            "latest": 0,
            "boot": None,
            "deviceToken": None,
            "activation": None,
            _UNREADABLE: True,
        }
    stored = (parse_object(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else None) or {}
    stored.pop(_UNREADABLE, None)
    latest, user = stored.get("latest"), stored.get("user")
    return {
        # Members that other versions have written are kept.
        **stored,
        "lease": _text(stored.get("lease")) or "",
        "latest": latest if isinstance(latest, (int, float)) and not isinstance(latest, bool) else 0,
        "boot": to_boot_start(stored.get("boot")),
        "user": user if isinstance(user, dict) else None,
        "key": _text(stored.get("key")),
        "deviceToken": _text(stored.get("deviceToken")),
        "activation": _to_kept_activation(stored.get("activation")),
    }


def store(storage: Storage, kept: Kept) -> None:
    """Raises ``StorageFailure`` unless the change is stored."""
    if _UNREADABLE in kept:
        # What is there would be lost.
        raise StorageFailure("The storage cannot be read")
    written = {name: value for name, value in kept.items() if value is not None or name not in _OPTIONAL}
    try:
        storage.write(to_json(written))
    except Exception as error:
        raise StorageFailure("The storage cannot be written") from error


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
