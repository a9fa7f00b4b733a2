"""Connections, hostile servers and proxies."""

import gzip
import http.client
import os
import socket
import threading
import time
import unittest
import warnings
from unittest import mock

from keyward import (
    Keyward,
    KeywardError,
    KeywardNetworkError,
    KeywardSignatureError,
    KeywardUsageError,
    KeywardWarning,
)
from keyward.address import to_address

from .signer import OTHER_KEY, TEST_KEY, public
from .stand_in import USER, Seen, StandIn, connect, grants, plain, refuses, reply, signed

GRANTED = b'{"success":true,"data":{"user":{"_id":"usr_1"}}}'


def drips(data: bytes, pause_s: float):
    def behave(seen: Seen, connection: socket.socket) -> None:
        for byte in data * 1000:
            connection.sendall(bytes([byte]))
            time.sleep(pause_s)

    return behave


class NetworkTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = StandIn()
        self.addCleanup(self.server.close)
        self.server.on("session", grants(user=USER))

    def fails(self, timeout_ms: int = 5_000) -> KeywardError:
        with self.assertRaises(KeywardError) as caught:
            connect(self.server.base_url, timeout_ms=timeout_ms).session()
        return caught.exception

    def test_ends_in_time_whatever_the_server_sends_byte_by_byte(self) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"
        streams = [b"H", b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early\r\nX: y\r\n\r\n", head + b"x" * 10_000]
        for data in streams:
            self.server.on("session", drips(data, 0.01))
            with self.subTest(data=data[:30]):
                started_at = time.monotonic()
                error = self.fails(timeout_ms=400)
                self.assertLess(time.monotonic() - started_at, 8)
                self.assertIn(error.code, ("timed_out", "connection_lost"))

    def test_ends_in_time_while_a_name_is_not_resolved(self) -> None:
        with mock.patch("socket.getaddrinfo", side_effect=lambda *_, **__: time.sleep(30)):
            started_at = time.monotonic()
            error = self.fails(timeout_ms=200)
        self.assertLess(time.monotonic() - started_at, 20)
        self.assertEqual((error.code, error.outcome_unknown), ("timed_out", False))

    def test_reports_rubbish_as_a_broken_connection(self) -> None:
        for rubbish in (
            b"",
            b"\x00" * 100,
            b"SSH-2.0-x\r\n",
            b"HTTP/1.1 \xff\r\n\r\n",
            b"HTTP/1.1 99999 X\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nno colon here\r\n\r\n{}",
            b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 500 + b"\r\n",
            b"HTTP/1.1 200 OK\r\nx: " + b"y" * 100_000 + b"\r\n\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab",
            b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
            b"HTTP/1.1 103 Early\r\n\r\n" * 50,
            b"HTTP/1.1 101 Switch\r\n\r\n",
        ):
            self.server.on("register", lambda *_, rubbish=rubbish: rubbish)
            with self.subTest(rubbish=rubbish[:60]), self.assertRaises(KeywardNetworkError) as caught:
                connect(self.server.base_url).register("ada", "secret", "KEY")
            self.assertEqual((caught.exception.code, caught.exception.outcome_unknown), ("connection_lost", True))

    def test_stops_reading_a_body_that_no_server_sends(self) -> None:
        def endless(seen: Seen, connection: socket.socket) -> None:
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65_536)

        bomb = gzip.compress(b"x" * 10_000_000)
        for behavior in (
            endless,
            plain(200, b"x" * 262_145),
            lambda *_: reply(200, {"Content-Encoding": "gzip"}, bomb),
        ):
            self.server.on("session", behavior)
            error = self.fails()
            self.assertEqual((type(error), error.code), (KeywardNetworkError, "blocked"))
        self.server.on("session", lambda seen, _: signed(seen, 200, b"x" * 262_145))
        error = self.fails()
        self.assertEqual((type(error), error.code), (KeywardSignatureError, "body_too_large"))
        self.server.on("session", lambda seen, _: signed(seen, 200, b"x" * 262_144))
        self.assertEqual(self.fails().code, "unexpected_answer")

    def test_joins_repeated_headers_and_reads_interim_answers(self) -> None:
        def behave(seen: Seen, connection: socket.socket) -> bytes:
            answer = signed(seen, 200, GRANTED)
            head, _, body = answer.partition(b"\r\n\r\n")
            lines = [
                line.replace(b"Signature: ", b"SIGNATURE:\t") + b" \t" if line.startswith(b"Signature:") else line
                for line in head.split(b"\r\n")
            ]
            more = [b"Signature-Input: other=()", b"signature: other=:AAAA:", b"X: a", b"x: b"]
            interim = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
            return interim + b"\r\n".join([*lines, *more, b"", b""]) + body

        self.server.on("session", behave)
        self.assertTrue(connect(self.server.base_url).session().ok)

    def test_reads_chunks_and_undoes_a_compression_on_the_way(self) -> None:
        def chunked(seen: Seen, connection: socket.socket) -> bytes:
            head = signed(seen, 200, GRANTED, {"Transfer-Encoding": "chunked"}).partition(b"\r\n\r\n")[0]
            chunks = b"".join(b"%x;ext=1\r\n%c\r\n" % (1, byte) for byte in GRANTED)
            return head + b"\r\n\r\n" + chunks + b"0\r\nTrailer: x\r\n\r\n"

        def compressed(seen: Seen, connection: socket.socket) -> bytes:
            body = gzip.compress(GRANTED)
            more = {"Content-Encoding": "gzip", "Content-Length": str(len(body))}
            head = signed(seen, 200, GRANTED, more).partition(b"\r\n\r\n")[0]
            return head + b"\r\n\r\n" + body

        for behavior in (chunked, compressed):
            self.server.on("session", behavior)
            self.assertTrue(connect(self.server.base_url).session().ok)

    def test_explains_what_is_not_the_server(self) -> None:
        other = StandIn()
        self.addCleanup(other.close)
        cases = [
            (plain(302, location=f"{other.base_url}/api/client/session"), "captive_portal"),
            (plain(200, b"<html>", content_type="Text/HTML; charset=utf-8"), "captive_portal"),
            (plain(511), "captive_portal"),
            (plain(404, b"{}"), "wrong_address"),
            (plain(405), "wrong_address"),
            (plain(403, b'{"success":false,"code":"appDisabled"}'), "unknown_app"),
            (plain(403, b'{"success":false,"code":"userBanned"}'), "blocked"),
            (plain(200, b'{"success":true}'), "blocked"),
            (plain(403, b"error code: 1010", content_type="text/plain"), "blocked"),
            (plain(408), "blocked"),
            (plain(204), "blocked"),
            (plain(503, b"", signature="keyward=", signature_input="keyward"), "malformed_signature"),
        ]
        for behavior, code in cases:
            self.server.on("session", behavior)
            with self.subTest(code=code):
                before = len(self.server.seen)
                self.assertEqual(self.fails().code, code)
                self.assertEqual(len(self.server.seen) - before, 2)
        self.assertEqual(other.seen, [])

    def test_refuses_an_unreachable_server_with_a_known_outcome(self) -> None:
        closed = socket.create_server(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        closed.close()
        for base_url in (f"http://127.0.0.1:{port}", f"https://127.0.0.1:{port}", "http://no-such-name.invalid"):
            with warnings.catch_warnings(), self.assertRaises(KeywardNetworkError) as caught:
                warnings.simplefilter("ignore")
                connect(base_url, timeout_ms=1_500).register("ada", "secret", "KEY")
            self.assertFalse(caught.exception.outcome_unknown)
            self.assertIn(caught.exception.code, ("unreachable", "timed_out"))

    def test_rejects_a_certificate_that_is_not_trusted(self) -> None:
        secure = f"https://127.0.0.1:{self.server.port}"
        with self.assertRaises(KeywardNetworkError) as caught:
            connect(secure, timeout_ms=1_000).session()
        self.assertEqual((caught.exception.code, self.server.seen), ("unreachable", []))

    def test_sends_no_secret_to_a_log_and_ignores_its_errors(self) -> None:
        events = []

        def log(event) -> None:
            events.append(event)
            raise RuntimeError("full")

        self.server.on("session", plain(503), refuses(403, "userBanned", reference="0123456789"))
        connect(self.server.base_url, log=log).session()
        self.assertEqual(
            [(e.event, e.call, e.attempt, e.status, e.code, e.reference) for e in events],
            [
                ("request", "init", 1, None, None, None),
                ("response", "init", 1, 200, None, None),
                ("request", "session", 1, None, None, None),
                ("retry", "session", 1, 503, "server_error", None),
                ("request", "session", 2, None, None, None),
                ("response", "session", 2, 403, "userBanned", "0123456789"),
            ],
        )
        for secret in ("a secret", "session-1", "hw-1"):
            self.assertNotIn(secret, repr(events))


class ProxyTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = StandIn()
        self.addCleanup(self.server.close)
        self.server.on("session", grants(user=USER))
        self.lines = []
        self.proxy = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.proxy.close)
        self.address = f"127.0.0.1:{self.proxy.getsockname()[1]}"
        self.answer = None
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self.proxy.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as file:
                line = file.readline().decode()
                headers = {}
                for each in iter(file.readline, b"\r\n"):
                    name, _, value = each.decode().partition(":")
                    headers[name.lower()] = value.strip()
                self.lines.append((line.strip(), headers.get("proxy-authorization")))
                if self.answer is not None:
                    connection.sendall(self.answer)
                    continue
                method, url, _ = line.split(" ")
                body = file.read(int(headers.get("content-length", 0)))
                headers.pop("proxy-authorization", None)
                inner = http.client.HTTPConnection("127.0.0.1", self.server.port)
                inner.request(method, url.split(f":{self.server.port}", 1)[1], body or None, headers)
                answer = inner.getresponse()
                named = {name: value for name, value in answer.getheaders() if name != "Content-Length"}
                connection.sendall(reply(answer.status, named, answer.read()))
                inner.close()

    def test_sends_the_whole_address_and_the_credentials_to_the_proxy_alone(self) -> None:
        keyward = connect(self.server.base_url, proxy=f"http://ada:p%40ss%3A@{self.address}")
        self.assertTrue(keyward.session().ok)
        self.assertEqual(
            self.lines,
            [
                (f"POST {self.server.base_url}/api/client/init HTTP/1.1", "Basic YWRhOnBAc3M6"),
                (f"GET {self.server.base_url}/api/client/session HTTP/1.1", "Basic YWRhOnBAc3M6"),
            ],
        )
        self.assertNotIn("proxy-authorization", self.server.seen[0].headers)

    def test_takes_the_proxy_of_the_environment_except_for_excluded_names(self) -> None:
        for name in ("http_proxy", "no_proxy", "HTTP_PROXY", "NO_PROXY", "REQUEST_METHOD"):
            self.addCleanup(os.environ.__setitem__, name, os.environ[name]) if name in os.environ else None
            os.environ.pop(name, None)
        with mock.patch.dict(os.environ, {"http_proxy": self.address}):
            connect(self.server.base_url).session()
        self.assertEqual(len(self.lines), 2)
        with mock.patch.dict(os.environ, {"http_proxy": self.address, "no_proxy": "127.0.0.1"}):
            connect(self.server.base_url).session()
        self.assertEqual(len(self.lines), 2)
        with mock.patch.dict(os.environ, {"http_proxy": "socks5://127.0.0.1:1"}):
            with self.assertRaises(KeywardNetworkError) as caught:
                connect(self.server.base_url, timeout_ms=500).session()
        self.assertEqual(caught.exception.code, "unreachable")

    def test_is_unreachable_unless_it_opens_a_tunnel(self) -> None:
        for answer, status in (
            (b"HTTP/1.1 407 No\r\n\r\n", 407),
            (b"HTTP/1.1 502 Bad\r\n\r\n<html>", 502),
            (b"HTTP/1.1 200 OK\r\n\r\n<html>", None),
            (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 10_000, None),
            (b"SSH-2.0-x\r\n\r\n", None),
            (b"", None),
        ):
            self.answer = answer
            before = len(self.lines)
            with self.subTest(answer=answer[:30]), self.assertRaises(KeywardNetworkError) as caught:
                connect("https://licenses.invalid", proxy=f"http://u:hush@{self.address}").init()
            error = caught.exception
            self.assertEqual((error.code, error.status, error.outcome_unknown), ("unreachable", status, False))
            self.assertNotIn("hush", f"{error}{error.__cause__}")
            self.assertEqual(self.lines[-1][0], "CONNECT licenses.invalid:443 HTTP/1.1")
            if status == 407:
                self.assertEqual(len(self.lines) - before, 1)

    def test_reports_a_rejected_password_for_http_once(self) -> None:
        self.answer = b"HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"
        with self.assertRaises(KeywardNetworkError) as caught:
            connect(self.server.base_url, proxy=f"http://{self.address}").session()
        self.assertEqual((caught.exception.code, caught.exception.status), ("unreachable", 407))
        self.assertEqual(len(self.lines), 1)


class OptionsTest(unittest.TestCase):
    def test_names_the_option_that_is_wrong(self) -> None:
        emoji = "\U0001f600"
        wrong = {
            "base_url": [None, "", "licenses", "ftp://x", "http://", "http://u:p@x", "http://x?q", "http://x#f",
                         "http://x:99999", "http://x:0", "http://a b", "http://x\r\ny", "http://[::g]", "http://a..b"],
            "app_id": [None, "", 5, "a b", "a\r\nX: y", "x" * 65],
            "secret": [None, "", "x" * 129],
            "public_keys": [None, [], {}, "x", [None], [{**public(TEST_KEY), "kid": "a,b"}], [TEST_KEY],
                            [public(TEST_KEY)] * 2, [{**public(TEST_KEY), "x": "AAAA"}], {"keys": None},
                            [{**public(TEST_KEY), "status": "revoked"}]],
            "version": ["", "x" * 33, emoji * 17],
            "hash": ["", "x" * 257],
            "locale": ["", "x" * 36, 1],
            "hwid": ["", "x" * 257, 5],
            "storage": ["file", object(), 1],
            "timeout_ms": [99, 600_001, "1", True, float("nan"), None],
            "proxy": ["", "x", "https://x", "socks5://x", "http://x/path", "http://x:99999", "http://\r\n", 5,
                      "http://a%0db:c@x", "http://" + "x" * 3_000],
            "log": [1, "print"],
        }
        for name, values in wrong.items():
            for value in values:
                with self.subTest(option=name, value=value), self.assertRaises(KeywardUsageError) as caught:
                    connect("http://localhost", **{name: value}) if name != "base_url" else connect(value)
                self.assertEqual(caught.exception.code, "invalid_options")

    def test_accepts_a_set_of_keys_one_key_and_keys_of_other_kinds(self) -> None:
        for keys in (
            public(TEST_KEY),
            {"keys": [public(TEST_KEY)]},
            ({"kty": "RSA"}, {**public(OTHER_KEY), "use": "enc"}, public(TEST_KEY)),
        ):
            connect("http://localhost", public_keys=keys)

    def test_reads_addresses_as_browsers_do(self) -> None:
        for text, expected in {
            "HTTPS://Licenses.Example.COM": "https://licenses.example.com",
            "https://x:443/": "https://x",
            " http://localhost:3000/a/./b/../c// ": "http://localhost:3000/a/c",
            "http://[::1]:8080/": "http://[::1]:8080",
            "https://bücher.example/ü b".replace(" ", "%20"): "https://xn--bcher-kva.example/%C3%BC%20b",
        }.items():
            address = to_address(text)
            self.assertEqual(address.origin + address.prefix, expected)

    def test_warns_of_an_address_that_is_not_encrypted(self) -> None:
        with self.assertWarns(KeywardWarning):
            connect("http://licenses.example.com")
        for quiet in ("http://localhost:3000", "http://127.0.0.1", "http://[::1]", "https://licenses.example.com"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                connect(quiet)

    def test_shows_no_secret_when_it_is_printed(self) -> None:
        keyward = connect("http://localhost", proxy="http://user:hush@proxy:3128")
        self.assertNotIn("a secret", repr(keyward) + repr(keyward._options))
        self.assertNotIn("hush", repr(keyward._options))
        self.assertEqual(type(keyward), Keyward)
