"""Downloads the file of an update, and goes on where an earlier call stopped."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
from dataclasses import dataclass
from typing import BinaryIO, Callable, Dict, Optional, Tuple
from urllib.parse import quote, urljoin, urlsplit

from .address import PATH_CHARACTERS, PORTS, Address, to_host
from .errors import KeywardNetworkError, KeywardSignatureError, KeywardUsageError
from .exchange import CHUNK_BYTES, Deadline, Exchange, Network, lost
from .results import Artifact, Update

Progress = Callable[[int, int], object]

_REDIRECTS = frozenset([301, 302, 303, 307, 308])
_MAX_REDIRECTS = 5
_DIGEST = re.compile(r"[0-9a-f]{128}")
#: The name of a file on every system.
_NAME = re.compile(r"(?!\.+\Z)[^/\\:\x00-\x1f]+")
_LOCAL = frozenset(["127.0.0.1", "::1", "localhost"])


def to_artifact(update: Update) -> Artifact:
    """The file of an update, which must be one that can be downloaded and stored under its name."""
    artifact = getattr(update, "artifact", None)
    if (
        isinstance(artifact, Artifact)
        and _DIGEST.fullmatch(artifact.sha512)
        and isinstance(artifact.size, int)
        and artifact.size > 0
        and _NAME.fullmatch(artifact.name)
        and _to_place(artifact.url) is not None
    ):
        return artifact
    raise KeywardUsageError("invalid_argument", "The update has no file that can be downloaded")


@dataclass(frozen=True)
class Download:
    artifact: Artifact
    folder: str
    network: Network
    #: How long to wait for the next bytes.
    timeout_s: float
    on_progress: Optional[Progress]

    def run(self) -> str:
        """
        Returns the path of the file. It has its name only once its digest is right; what has a wrong one is deleted.
        """
        try:
            return self._complete()
        except OSError as cause:
            raise KeywardUsageError("storage_failed", f"The file cannot be stored in {self.folder}") from cause

    def _complete(self) -> str:
        wanted = self.artifact.sha512
        target = os.path.join(self.folder, self.artifact.name)
        part = f"{target}.{wanted[:16]}.part"
        os.makedirs(self.folder, exist_ok=True)
        if _digest_of(target) == wanted:
            return target
        while True:
            start = _size_of(part)
            status = self._receive(part, start) if start < self.artifact.size else 200
            # What gets the name is a copy of its own: another program may still write to the part.
            copy = f"{part}.{os.getpid()}"
            is_right = _digest_of(part, copy) == wanted
            if is_right:
                os.replace(copy, target)
            for path in (part, copy):
                _remove(path)
            if is_right:
                return target
            if start == 0:
                raise KeywardSignatureError("digest_mismatch", "The download is not the released file", status)

    def _receive(self, part: str, start: int) -> int:
        """Writes what the server has after the first bytes; begins anew where it does not go on from there."""
        headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={start}-"} if start > 0 else {})}
        url = self.artifact.url
        for hops in range(_MAX_REDIRECTS + 1):
            place = _to_place(url)
            if place is None:
                break
            deadline = Deadline(self.timeout_s)
            request = Exchange(place[0], "GET", place[1], headers, None)
            with self.network.begun(request, deadline) as head:
                location = head.headers.get("location") if head.status in _REDIRECTS else None
                if location is None:
                    return self._keep(head, part, start, request, deadline)
                status, url = head.status, urljoin(url, location)
        raise _refused(status, self.artifact.url)

    def _keep(
        self, head: http.client.HTTPResponse, part: str, start: int, request: Exchange, deadline: Deadline
    ) -> int:
        goes_on = head.status == 206 and (head.headers.get("content-range") or "").startswith(f"bytes {start}-")
        if start > 0 and (head.status == 416 or (head.status == 206 and not goes_on)):
            _remove(part)
            return head.status
        if head.status != 200 and not goes_on:
            raise _refused(head.status, self.artifact.url)
        size, at = self.artifact.size, start if goes_on else 0
        with open(part, "r+b" if goes_on else "wb") as file:
            file.seek(at)
            while at < size:
                deadline.renew(self.timeout_s)
                try:
                    chunk = head.read1(min(CHUNK_BYTES, size - at))
                    if chunk == b"" and head.length:
                        raise http.client.IncompleteRead(b"", head.length)
                except Exception as error:
                    raise lost(error, request.url) from error
                if chunk == b"":
                    break
                file.write(chunk)
                at += len(chunk)
                if self.on_progress is not None:
                    self.on_progress(at, size)
        return head.status


def _to_place(url: str) -> Optional[Tuple[Address, str]]:
    """The server and the path of an address; None if it is neither encrypted nor of this machine."""
    try:
        parts = urlsplit(url)
        host, port = to_host(parts.hostname or ""), parts.port
    except (ValueError, KeywardUsageError):
        return None
    if parts.scheme != "https" and not (parts.scheme == "http" and host in _LOCAL):
        return None
    path = quote(parts.path or "/", safe=PATH_CHARACTERS)
    query = f"?{quote(parts.query, safe=PATH_CHARACTERS + '?')}" if parts.query else ""
    return Address(parts.scheme, host, PORTS[parts.scheme] if port is None else port, ""), path + query


def _refused(status: int, url: str) -> KeywardNetworkError:
    codes: Dict[bool, str] = {status >= 500: "server_error", status == 429: "rate_limited"}
    return KeywardNetworkError(
        codes.get(True, "wrong_address"), f"{url} answered {status}", status=status, outcome_unknown=False
    )


def _digest_of(path: str, copy: Optional[str] = None) -> Optional[str]:
    """SHA-512 of a file in hex, which is copied at the same time; None without it."""
    if _size_of(path) == 0:
        return None
    digest = hashlib.sha512()
    with open(path, "rb") as file:
        if copy is None:
            _pass_on(file, digest.update)
        else:
            with open(copy, "wb") as copied:
                _pass_on(file, digest.update, copied.write)
    return digest.hexdigest()


def _pass_on(file: BinaryIO, *takers: Callable[[bytes], object]) -> None:
    while True:
        chunk = file.read(CHUNK_BYTES)
        if chunk == b"":
            return
        for take in takers:
            take(chunk)


def _size_of(path: str) -> int:
    """0 without the file."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def _remove(path: str) -> None:
    try:
        os.remove(path)
    except FileNotFoundError:
        pass
