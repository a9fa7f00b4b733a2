"""The proxy between a program and its server."""

from __future__ import annotations

import re
import urllib.request
from dataclasses import dataclass, field
from typing import Dict, Optional
from urllib.parse import unquote, urlsplit

from .address import Address
from .errors import KeywardUsageError
from .text import to_base64, to_utf8

_MAX_LENGTH = 2048
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Proxy:
    host: str
    port: int
    #: What authenticates at the proxy.
    headers: Dict[str, str] = field(default_factory=dict, repr=False)


def to_proxy(text: str) -> Proxy:
    """Reads ``http://[user:password@]host:port``; raises ``ValueError`` for anything else."""
    url = urlsplit(text)
    host, port = url.hostname, url.port
    user, password = unquote(url.username or ""), unquote(url.password or "")
    is_plain = url.scheme == "http" and url.path in ("", "/") and not url.query and not url.fragment
    if not host or not is_plain or _CONTROL.search(text + user + password) or ":" in user:
        raise ValueError("the proxy is not of the form http://[user:password@]host:port")
    headers = {}
    if user or password:
        headers["Proxy-Authorization"] = f"Basic {to_base64(to_utf8(f'{user}:{password}'))}"
    return Proxy(host, 80 if port is None else port, headers)


def check_proxy(value: object) -> Optional[Proxy]:
    """The option ``proxy``."""
    if value is None:
        return None
    try:
        if isinstance(value, str) and len(value) <= _MAX_LENGTH:
            return to_proxy(value)
    except ValueError:
        pass
    message = "proxy must be a text like http://user:password@proxy.example.com:3128"
    raise KeywardUsageError("invalid_options", message)


def find_proxy(chosen: Optional[Proxy], address: Address) -> Optional[Proxy]:
    """The proxy to use: the program's own, else the one of the environment or the operating system."""
    if chosen is not None:
        return chosen
    setting = urllib.request.getproxies().get(address.scheme)
    if not setting or urllib.request.proxy_bypass(address.target):
        return None
    return to_proxy(setting if "://" in setting else f"http://{setting}")

