"""The address of a server."""

from __future__ import annotations

import ipaddress
import re
import warnings
from dataclasses import dataclass
from typing import List
from urllib.parse import quote, urlsplit

from .errors import KeywardUsageError
from .text import to_utf8

PORTS = {"http": 80, "https": 443}
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9._-]{0,251}[a-z0-9_.])?", re.ASCII)
_LOOPBACK = re.compile(r"localhost|127(?:\.[0-9]{1,3}){3}|::1|.+\.localhost")
PATH_CHARACTERS = "!$%&'()*+,-./:;=@_~|[]^"


class KeywardWarning(UserWarning):
    """A risk in the way a program uses the SDK."""


@dataclass(frozen=True)
class Address:
    scheme: str
    #: Without brackets.
    host: str
    port: int
    #: Path of the public URL, without a trailing slash.
    prefix: str

    @property
    def is_encrypted(self) -> bool:
        return self.scheme == "https"

    @property
    def authority(self) -> str:
        """Host and port as the request names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def target(self) -> str:
        """Host and port as a tunnel needs them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"


def to_address(base_url: str) -> Address:
    """Reads the public address of a server; raises ``KeywardUsageError`` (``invalid_options``) if it is none."""
    # Browsers ignore these at the ends.
    text = base_url.strip("".join(map(chr, range(0x21))))
    if re.search(r"[\x00-\x20\x7f\\]", text):
        raise _wrong("is not an address")
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise _wrong("is not an address") from None
    if url.scheme not in PORTS:
        raise _wrong("must be http or https")
    if "@" in url.netloc:
        raise _wrong("must not carry a user or a password")
    if url.query != "" or url.fragment != "":
        raise _wrong("must not have a query or a fragment")
    host = to_host(url.hostname or "")
    if port == 0:
        raise _wrong("is not an address")
    address = Address(url.scheme, host, PORTS[url.scheme] if port is None else port, _to_prefix(url.path))
    _warn_of_plain_http(address)
    return address


def to_host(host: str) -> str:
    if ":" in host:
        try:
            return str(ipaddress.IPv6Address(host))
        except ValueError:
            raise _wrong("is not an address") from None
    try:
        name = host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        raise _wrong("is not an address") from None
    if not _HOST.fullmatch(name):
        raise _wrong("is not an address")
    return name


def _to_prefix(path: str) -> str:
    """The path as browsers send it: percent-encoded, without dot segments and trailing slashes."""
    segments: List[str] = []
    for segment in quote(to_utf8(path), safe=PATH_CHARACTERS).split("/")[1:]:
        plain = segment.lower().replace("%2e", ".")
        if plain == "..":
            segments = segments[:-1]
        elif plain != ".":
            segments.append(segment)
    return "".join(f"/{segment}" for segment in segments).rstrip("/")


def _warn_of_plain_http(address: Address) -> None:
    """Signatures protect verdicts over plain HTTP, but passwords are sent in clear text."""
    if address.is_encrypted or _LOOPBACK.fullmatch(address.host):
        return
    message = f"{address.origin} is not encrypted: passwords and keys can be read on the way"
    warnings.warn(message, KeywardWarning, stacklevel=5)


def _wrong(message: str) -> KeywardUsageError:
    return KeywardUsageError("invalid_options", f"base_url {message}")
