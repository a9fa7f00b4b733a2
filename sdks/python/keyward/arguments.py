"""Checks of what a program passes to a call."""

from __future__ import annotations

from typing import Optional
from urllib.parse import quote

from .errors import KeywardUsageError


def check_text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    raise KeywardUsageError("invalid_argument", f"{name} must be a text")


def check_optional_text(name: str, value: object) -> Optional[str]:
    return None if value is None else check_text(name, value)


def to_path_segment(name: str, value: object) -> str:
    try:
        segment = quote(check_text(name, value), safe="!'()*~")
    except UnicodeEncodeError:
        segment = ""
    if segment in ("", ".", ".."):
        raise KeywardUsageError("invalid_argument", f"{name} must be a text that names one")
    return segment
