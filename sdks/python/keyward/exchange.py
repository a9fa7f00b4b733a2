"""One HTTP request and its whole answer, within a deadline."""

from __future__ import annotations

import http.client
import io
import re
import socket
import ssl
import threading
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple

from .address import Address
from .certificates import to_certificate_error
from .errors import KeywardNetworkError
from .locks import Lock
from .proxy import Proxy, find_proxy
from .signature import MAX_ANSWER_BYTES, ReceivedAnswer
from .version import SDK

CHUNK_BYTES = 64 * 1024
_FOLD = re.compile(r"\r?\n[ \t]+")
_MAX_INTERIM_ANSWERS = 10
#: A proxy's answer to CONNECT is a few lines.
_MAX_PROXY_HEAD_BYTES = 16 * 1024
_PROXY_STATUS = re.compile(rb"HTTP/1\.[01] ([0-9]{3})(?: |\r)")


@dataclass(frozen=True)
class Exchange:
    address: Address
    method: str
    path: str
    headers: Dict[str, str]
    body: Optional[bytes]

    @property
    def url(self) -> str:
        return self.address.origin + self.path


class Network:
    """Sends requests. Follows no redirects: the signature covers the requested path."""

    def __init__(self, proxy: Optional[Proxy]) -> None:
        self._proxy = proxy
        self._context: Optional[ssl.SSLContext] = None
        self._lock = Lock()

    def exchange(self, request: Exchange, timeout_s: float) -> ReceivedAnswer:
        """
        Sends one request and reads the whole response, whatever its status, within the time. Raises
        ``KeywardNetworkError``.
        """
        with self.begun(request, Deadline(timeout_s)) as head:
            try:
                return _to_answer(head)
            except Exception as error:
                raise lost(error, request.url) from error

    @contextmanager
    def begun(self, request: Exchange, deadline: Deadline) -> Iterator[http.client.HTTPResponse]:
        """Sends one request and reads the head of the response. Raises ``KeywardNetworkError``."""
        try:
            proxy = find_proxy(self._proxy, request.address)
            connection = self._connect(request.address, proxy, deadline)
        except KeywardNetworkError:
            raise
        except Exception as error:
            rejected = to_certificate_error(error, request.address.origin)
            raise rejected or _unreachable(error, request.url) from error
        try:
            try:
                _send(connection, _to_bytes(request, proxy), deadline)
                head = _read_head(connection, request.method, deadline)
            except Exception as error:
                raise lost(error, request.url) from error
            if proxy is not None and head.status == 407 and not request.address.is_encrypted:
                raise _refused(proxy, head.status)
            yield head
        finally:
            _close(connection)

    def _connect(self, address: Address, proxy: Optional[Proxy], deadline: Deadline) -> socket.socket:
        if proxy is None:
            connection = _open(address.host, address.port, deadline)
        else:
            connection = _open(proxy.host, proxy.port, deadline)
        if not address.is_encrypted:
            return connection
        try:
            if proxy is not None:
                _tunnel(connection, address, proxy, deadline)
            connection.settimeout(deadline.left())
            return self._trusted().wrap_socket(connection, server_hostname=address.host)
        except BaseException:
            _close(connection)
            raise

    def _trusted(self) -> ssl.SSLContext:
        with self._lock.held():
            if self._context is None:
                self._context = ssl.create_default_context()
                self._context.minimum_version = ssl.TLSVersion.TLSv1_2
                # Roots that the system trusts are often older than these rules, which Python 3.13 turned on alone.
                self._context.verify_flags &= ~ssl.VERIFY_X509_STRICT
            return self._context


class Deadline:
    """A point in time; every wait gets what is left until then."""

    def __init__(self, seconds: float) -> None:
        self.renew(seconds)

    def renew(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError("the time is used up")
        return left


class _Incoming(io.RawIOBase):
    """The bytes that a server sends. A server that sends them one by one does not get more time."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._connection.settimeout(self._deadline.left())
        return self._connection.recv_into(buffer)


class _Source:
    """What ``HTTPResponse`` needs of a socket. Interim answers share one buffer with the final one."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._stream = io.BufferedReader(_Incoming(connection, deadline))

    def makefile(self, *_: Any, **__: Any) -> Any:
        return _Unclosed(self._stream)


class _Unclosed:
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def close(self) -> None:
        """Another answer may follow."""

    def flush(self) -> None:
        """Nothing is written to it."""


def _open(host: str, port: int, deadline: Deadline) -> socket.socket:
    addresses = _resolve(host, port, deadline)
    failure: Exception = OSError(f"{host} has no address")
    for at, (family, kind, protocol, _, address) in enumerate(addresses):
        connection: Optional[socket.socket] = None
        try:
            connection = socket.socket(family, kind, protocol)
            # One address that does not respond leaves time for the next one.
            connection.settimeout(deadline.left() / (len(addresses) - at))
            connection.connect(address)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
        except OSError as error:
            failure = error
            if connection is not None:
                _close(connection)
    raise failure


def _resolve(host: str, port: int, deadline: Deadline) -> List[Tuple[Any, ...]]:
    """Resolves a name. The system's resolver has no timeout, so a thread of its own waits for it."""
    outcome: List[Any] = []
    done = threading.Event()

    def resolve() -> None:
        try:
            outcome.append(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        except Exception as error:
            outcome.append(error)
        done.set()

    try:
        threading.Thread(target=resolve, name="keyward-resolve", daemon=True).start()
    except RuntimeError:
        # The process may start no more threads.
        resolve()
    if not done.wait(deadline.left()):
        raise TimeoutError(f"{host} was not resolved in time")
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    found: List[Tuple[Any, ...]] = outcome[0]
    return found


def _tunnel(connection: socket.socket, address: Address, proxy: Proxy, deadline: Deadline) -> None:
    target = address.target
    headers = {"Host": target, "User-Agent": SDK, **proxy.headers}
    _send(connection, _to_head(f"CONNECT {target} HTTP/1.1", headers), deadline)
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _MAX_PROXY_HEAD_BYTES:
        connection.settimeout(deadline.left())
        chunk = connection.recv(CHUNK_BYTES)
        if chunk == b"":
            raise OSError("the proxy closed the connection")
        head += chunk
    match = _PROXY_STATUS.match(head)
    status = int(match.group(1)) if match else None
    if status is None or not 200 <= status < 300:
        raise _refused(proxy, status)
    # In a tunnel the program speaks first, so more bytes are a page and not the server's.
    if not head.endswith(b"\r\n\r\n") or head.count(b"\r\n\r\n") != 1:
        raise OSError("the proxy did not open a tunnel")


def _to_bytes(request: Exchange, proxy: Optional[Proxy]) -> bytes:
    address = request.address
    forwarded = proxy is not None and not address.is_encrypted
    target = request.url if forwarded else request.path
    headers = {"Host": address.authority, "User-Agent": SDK, "Connection": "close", **request.headers}
    if forwarded and proxy is not None:
        headers.update(proxy.headers)
    if request.body is not None:
        headers["Content-Length"] = str(len(request.body))
    elif request.method == "POST":
        headers["Content-Length"] = "0"
    return _to_head(f"{request.method} {target} HTTP/1.1", headers) + (request.body or b"")


def _to_head(first: str, headers: Dict[str, str]) -> bytes:
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def _send(connection: socket.socket, data: bytes, deadline: Deadline) -> None:
    view = memoryview(data)
    while view:
        connection.settimeout(deadline.left())
        view = view[connection.send(view) :]


def receive(connection: socket.socket, method: str, deadline: Deadline) -> ReceivedAnswer:
    return _to_answer(_read_head(connection, method, deadline))


def _read_head(connection: socket.socket, method: str, deadline: Deadline) -> http.client.HTTPResponse:
    source = _Source(connection, deadline)
    for _ in range(_MAX_INTERIM_ANSWERS):
        answer = http.client.HTTPResponse(source, method=method)  # type: ignore[arg-type]
        answer.begin()
        if answer.status >= 200:
            break
    if answer.status < 200 or answer.headers.defects:
        raise http.client.HTTPException("the head of the answer is malformed")
    return answer


def _to_answer(answer: http.client.HTTPResponse) -> ReceivedAnswer:
    headers = [(name, _FOLD.sub(" ", value)) for name, value in answer.headers.items()]
    return ReceivedAnswer(answer.status, headers, _decode(_read_body(answer), answer))


def _read_body(answer: http.client.HTTPResponse) -> bytes:
    body = b""
    while True:
        chunk = answer.read(CHUNK_BYTES)
        if chunk == b"":
            break
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            return body
    if answer.length:
        raise http.client.IncompleteRead(body, answer.length)
    return body


def _decode(body: bytes, answer: http.client.HTTPResponse) -> bytes:
    """Undoes a compression that a proxy added although the request did not accept any."""
    coding = (answer.headers.get("content-encoding") or "").strip().lower()
    if coding not in ("gzip", "x-gzip", "deflate") or body == b"":
        return body
    decoder = zlib.decompressobj(zlib.MAX_WBITS | 32)
    decoded = decoder.decompress(body, MAX_ANSWER_BYTES + 1)
    if not decoder.eof and len(decoded) <= MAX_ANSWER_BYTES:
        raise http.client.IncompleteRead(decoded)
    return decoded


def _unreachable(error: Exception, url: str) -> KeywardNetworkError:
    if isinstance(error, (TimeoutError, socket.timeout)):
        return KeywardNetworkError("timed_out", f"No connection to {url} in time", outcome_unknown=False)
    return KeywardNetworkError("unreachable", f"Cannot reach {url} ({_reason(error)})", outcome_unknown=False)


def lost(error: Exception, url: str) -> KeywardNetworkError:
    if isinstance(error, (TimeoutError, socket.timeout)):
        return KeywardNetworkError("timed_out", f"No answer from {url} in time", outcome_unknown=True)
    message = f"The connection to {url} broke ({_reason(error)})"
    return KeywardNetworkError("connection_lost", message, outcome_unknown=True)


def _refused(proxy: Proxy, status: Optional[int]) -> KeywardNetworkError:
    name = f"{proxy.host}:{proxy.port}"
    message = f"What answers at {name} is no HTTP proxy" if status is None else f"The proxy at {name} answered {status}"
    return KeywardNetworkError("unreachable", message, status=status, outcome_unknown=False)


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _close(connection: socket.socket) -> None:
    try:
        connection.close()
    except OSError:
        pass
