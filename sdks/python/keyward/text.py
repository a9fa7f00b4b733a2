"""Text and bytes, as the protocol and the SDKs in other languages count, trim and encode them."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any, Dict, Optional

# What JavaScript trims, which differs from str.strip() in a few control characters.
WHITE_SPACE = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

_MAX_DEPTH = 100
_SURROGATE = re.compile("[\ud800-\udfff]")
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}")
_BASE64_URL = re.compile(r"[A-Za-z0-9_-]*")


def trim(text: str) -> str:
    """Removes white space at both ends."""
    return text.strip(WHITE_SPACE)


def utf16_length(text: str) -> int:
    """The length in UTF-16 code units, in which the protocol states its bounds."""
    return len(text) + sum(1 for character in text if ord(character) > 0xFFFF)


def shorten(text: str, units: int) -> str:
    """The start of a text, at most ``units`` UTF-16 code units long."""
    text = text[:units]
    while utf16_length(text) > units:
        text = text[:-1]
    return text


def to_utf8(text: str) -> bytes:
    """Encodes a text; surrogates without a partner become U+FFFD, as in other languages."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        units = text.encode("utf-16-le", "surrogatepass")
        return units.decode("utf-16-le", "replace").encode("utf-8")


def to_base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def to_base64_url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def from_base64(text: str) -> Optional[bytes]:
    """Decodes canonical base64 only, so that each value has one spelling; otherwise None."""
    if len(text) % 4 != 0 or not _BASE64.fullmatch(text):
        return None
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if to_base64(data) == text else None


def from_base64_url(text: str) -> Optional[bytes]:
    """Decodes canonical base64url without padding; otherwise None."""
    if not _BASE64_URL.fullmatch(text):
        return None
    padded = text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4)
    return from_base64(padded)


def to_json(value: Any) -> str:
    """Serializes compactly, in text that UTF-8 can always encode, with null for numbers that JSON does not have."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        finite = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        without = json.loads(finite, parse_constant=lambda _: None)
        text = json.dumps(without, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def parse_object(data: bytes) -> Optional[Dict[str, Any]]:
    """Parses a JSON object; None for anything else, however malformed or deeply nested."""
    text = data.decode("utf-8", "replace")
    if text.startswith("\ufeff"):
        text = text[1:]
    if text.count("[") + text.count("{") > _MAX_DEPTH and _depth(text) > _MAX_DEPTH:
        return None
    try:
        value = json.loads(text, parse_int=_to_number, parse_constant=_reject)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _to_number(digits: str) -> Any:
    # Long texts of digits take quadratic time as integers, and newer versions of Python reject them.
    return int(digits) if len(digits) <= 17 else float(digits)


def _reject(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _depth(text: str) -> int:
    depth = deepest = 0
    in_string = escaped = False
    for character in text:
        if escaped:
            escaped = False
        elif in_string:
            escaped = character == "\\"
            in_string = character != '"'
        elif character == '"':
            in_string = True
        elif character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest
