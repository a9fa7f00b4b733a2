"""The settings and the license key of this copy."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, Optional

#: Keep in step with the version in Keyward's console, which reports updates to users.
VERSION = "1.0.0"

_NAMES = ("base_url", "app_id", "secret", "public_keys")


class SetupError(Exception):
    """A mistake that the user can correct."""


def read_config() -> Dict[str, Any]:
    """
    Reads the server's address and keys from ``keyward.json``; environment variables take precedence. A program that
    you ship has these four values built in.
    """
    config = _read_file()
    for name in (*_NAMES, "hwid"):
        value = os.environ.get(f"KEYWARD_{name.upper()}")
        if value is not None:
            config[name] = _parse(f"KEYWARD_{name.upper()}", value) if name == "public_keys" else value
    missing = [name for name in _NAMES if name not in config]
    if missing:
        raise SetupError(f"Not configured: {', '.join(missing)}. Copy keyward.example.json to keyward.json.")
    return config


def _read_file() -> Dict[str, Any]:
    for place in (os.environ.get("KEYWARD_CONFIG"), "keyward.json", Path(__file__).parent.parent / "keyward.json"):
        if place and Path(place).is_file():
            found = _parse(str(place), Path(place).read_text(encoding="utf-8"))
            if isinstance(found, dict):
                return found
            raise SetupError(f"{place} is not an object.")
    return {}


def _parse(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise SetupError(f"{name} is not valid JSON.") from None


def _key_file() -> Path:
    home = os.environ.get("TALLY_HOME")
    return Path(home or Path.home() / ".config" / "tally") / "license-key"


def remembered_key() -> Optional[str]:
    """The key of the last successful activation, if any."""
    try:
        return _key_file().read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def remember_key(key: str) -> bool:
    """Returns whether it was stored: a full disk must not stop a customer whose license was just granted."""
    path = _key_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{key}\n")
        return True
    except OSError:
        return False


def forget_key() -> None:
    try:
        _key_file().unlink()
    except FileNotFoundError:
        pass
