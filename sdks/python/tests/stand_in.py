"""A server on the loopback interface that signs like the real one and misbehaves on request."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional

from keyward import Keyward

from .signer import TEST_KEY, public, sign_answer

USER = {
    "_id": "usr_1",
    "username": "ada",
    "email": None,
    "expiresAt": "2030-01-01T00:00:00.000Z",
    "inGrace": False,
    "term": "date",
    "createdAt": "2025-01-01T00:00:00.000Z",
    "lastLoginAt": None,
    "hwidBound": True,
    "features": ["pro"],
    "variables": {"color": "red"},
    "updatesUntil": None,
    "devices": {"used": 1, "limit": 3},
    "seat": {"until": "2030-01-01T00:00:00.000Z"},
}
OPENED = {
    "session": "session-1",
    "expiresAt": "2030-01-02T00:00:00.000Z",
    "app": {"name": "Tally", "version": "1.1.0"},
    "updateAvailable": True,
    "variables": {"motd": "Hello", "color": "blue"},
}


@dataclass
class Seen:
    method: str
    path: str
    headers: Dict[str, str]
    raw: bytes

    @property
    def name(self) -> str:
        return self.path.split("/api/client/", 1)[1]

    @property
    def body(self) -> Any:
        return json.loads(self.raw) if self.raw else None


#: Answers a request with bytes, or handles the connection itself and returns None.
Behavior = Callable[[Seen, socket.socket], Optional[bytes]]


def reply(status: int, headers: Dict[str, str], body: bytes) -> bytes:
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
    if not any(name.lower() in ("content-length", "transfer-encoding") for name in headers):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def signed(seen: Seen, status: int, body: bytes, more: Optional[Dict[str, str]] = None) -> bytes:
    headers = sign_answer(seen.method, seen.path, seen.headers, status, body)
    return reply(status, {"Content-Type": "application/json", **headers, **(more or {})}, body)


def says(status: int, content: Any) -> Behavior:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return lambda seen, _: signed(seen, status, body)


def grants(**data: Any) -> Behavior:
    return says(200, {"success": True, "data": data})


def refuses(status: int, code: str, **more: Any) -> Behavior:
    return says(status, {"success": False, "code": code, "message": f"{code} in words", **more})


def plain(status: int, body: bytes = b"", **headers: str) -> Behavior:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda *_: reply(status, named, body)


class StandIn:
    def __init__(self, tls: Optional[ssl.SSLContext] = None) -> None:
        self._tls = tls
        self.seen: List[Seen] = []
        self._script: Dict[str, List[Behavior]] = {"init": [grants(**OPENED)]}
        self._server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._closing = threading.Event()
        self._open: List[socket.socket] = []
        self.port = self._server.getsockname()[1]
        self.base_url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def on(self, name: str, *behaviors: Behavior) -> None:
        """Sets the answers to a call, in order; the last one repeats."""
        self._script[name] = list(behaviors)

    def calls(self) -> List[str]:
        return [seen.name for seen in self.seen]

    def close(self) -> None:
        self._closing.set()
        self._server.close()
        for connection in self._open:
            connection.close()

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            seen = self._read(connection)
        except (OSError, ValueError):
            # A handshake of TLS is no request.
            connection.close()
            return
        self.seen.append(seen)
        try:
            behaviors = self._script.get(seen.name, [refuses(404, "not_scripted")])
            behavior = behaviors.pop(0) if len(behaviors) > 1 else behaviors[0]
            answer = behavior(seen, connection)
            if answer is not None:
                connection.sendall(answer)
        except OSError:
            pass
        finally:
            connection.close()

    @staticmethod
    def _read(connection: socket.socket) -> Seen:
        file = connection.makefile("rb")
        method, path, _ = file.readline().decode().split(" ")
        headers: Dict[str, str] = {}
        for line in iter(file.readline, b"\r\n"):
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return Seen(method, path, headers, file.read(int(headers.get("content-length", 0))))


class Memory:
    """A storage that outlives clients, but not the test."""

    def __init__(self, text: str = "") -> None:
        self.text = text

    def read(self) -> str:
        return self.text

    def write(self, text: str) -> None:
        self.text = text

    @property
    def kept(self) -> Any:
        return json.loads(self.text)


def connect(base_url: str, **changes: Any) -> Keyward:
    options: Dict[str, Any] = {
        "base_url": base_url,
        "app_id": "app12345",
        "secret": "a secret",
        "public_keys": [public(TEST_KEY)],
        "version": "1.0.0",
        "hwid": "hw-1",
        "timeout_ms": 5_000,
        **changes,
    }
    keyward = Keyward(**options)
    # Nothing that these tests are about needs the pauses between attempts.
    keyward._transport._pause = lambda seconds: None
    return keyward
