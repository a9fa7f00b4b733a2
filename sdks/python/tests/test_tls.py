"""Encrypted connections, direct and through a tunnel."""

import datetime
import ipaddress
import os
import socket
import ssl
import tempfile
import threading
import time
import unittest
from typing import Any, List, Tuple
from unittest import mock

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from keyward import KeywardNetworkError

from .stand_in import USER, StandIn, connect, grants


def certify(folder: str, name: str, days: int = 1, starts_in_days: int = -2) -> str:
    """Writes a self-signed certificate for 127.0.0.1 with its key, and returns the path."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    alternatives = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(name))])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + datetime.timedelta(days=starts_in_days))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(alternatives, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = os.path.join(folder, f"{name}-{days}.pem")
    encoding = serialization.Encoding.PEM
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    with open(path, "wb") as file:
        file.write(key.private_bytes(encoding, *plain) + certificate.public_bytes(encoding))
    return path


def certify_by_company(folder: str) -> Tuple[str, str]:
    """Writes a root as companies make them, without what RFC 5280 asks for, and a certificate for 127.0.0.1 of it."""
    now = datetime.datetime.now(datetime.timezone.utc)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in ("Company", "127.0.0.1")]
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    extensions: List[x509.ExtensionType] = [x509.BasicConstraints(ca=True, path_length=None), address]
    paths = []
    for at in range(2):
        builder = (
            x509.CertificateBuilder()
            .subject_name(names[at])
            .issuer_name(names[0])
            .public_key(keys[at].public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(extensions[at], critical=False)
        )
        encoding = serialization.Encoding.PEM
        plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        paths.append(os.path.join(folder, f"company-{at}.pem"))
        with open(paths[at], "wb") as file:
            file.write(keys[at].private_bytes(encoding, *plain))
            file.write(builder.sign(keys[0], hashes.SHA256()).public_bytes(encoding))
    return paths[0], paths[1]


class Tunnel:
    """A proxy that opens tunnels, whatever their name, to one port."""

    def __init__(self, port: int) -> None:
        self.lines: List[Tuple[str, bool]] = []
        self._port = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(1)
        self.lines.append((head.split(b"\r\n")[0].decode(), b"Proxy-Authorization: Basic dTpw\r\n" in head))
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        server = socket.create_connection(("127.0.0.1", self._port))
        back = threading.Thread(target=self._pump, args=(server, client), daemon=True)
        back.start()
        self._pump(client, server)
        back.join()
        client.close()
        server.close()

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while True:
                data = source.recv(4096)
                if not data:
                    break
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class TlsTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        environment = mock.patch.dict(os.environ, {"NO_PROXY": "*", "no_proxy": "*"})
        environment.start()
        self.addCleanup(environment.stop)

    def serve(self, certificate: str) -> StandIn:
        os.environ["SSL_CERT_FILE"] = certificate
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server = StandIn(context)
        server.on("session", grants(user=USER))
        self.addCleanup(server.close)
        return server

    def fails(self, server: StandIn, **options: Any) -> KeywardNetworkError:
        with self.assertRaises(KeywardNetworkError) as caught:
            connect(server.base_url, **{"timeout_ms": 1_000, **options}).session()
        self.assertFalse(caught.exception.outcome_unknown)
        self.assertEqual(server.seen, [])
        return caught.exception

    def test_checks_with_a_server_whose_certificate_is_trusted(self) -> None:
        server = self.serve(certify(self.folder, "127.0.0.1"))
        self.assertTrue(connect(server.base_url).session().ok)

    def test_accepts_a_company_root_that_the_strict_rules_of_python_3_13_refuse(self) -> None:
        root, certificate = certify_by_company(self.folder)
        server = self.serve(certificate)
        os.environ["SSL_CERT_FILE"] = root
        default = ssl.create_default_context

        def strict(*arguments: Any, **options: Any) -> ssl.SSLContext:
            context = default(*arguments, **options)
            context.verify_flags |= ssl.VERIFY_X509_STRICT
            return context

        with mock.patch("ssl.create_default_context", strict):
            self.assertTrue(connect(server.base_url).session().ok)
            os.environ["SSL_CERT_FILE"] = certify(self.folder, "127.0.0.1", days=2)
            with self.assertRaises(KeywardNetworkError) as caught:
                connect(server.base_url).session()
            self.assertEqual(caught.exception.code, "certificate")

    def test_checks_through_a_tunnel_whose_proxy_alone_gets_the_password(self) -> None:
        server = self.serve(certify(self.folder, "127.0.0.1"))
        tunnel = Tunnel(server.port)
        self.addCleanup(tunnel.close)
        self.assertTrue(connect(server.base_url, proxy=f"http://u:p@{tunnel.address}").session().ok)
        self.assertEqual(tunnel.lines, [(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1", True)] * 2)
        self.assertNotIn("proxy-authorization", server.seen[0].headers)

    def test_names_the_cause_of_a_certificate_that_is_rejected(self) -> None:
        trusted = certify(self.folder, "127.0.0.1")
        for certificate, code, advice in (
            (certify(self.folder, "127.0.0.2"), "certificate", "virus scanner"),
            (certify(self.folder, "127.0.0.1", days=-1), "certificate", "Check the date and time"),
            (certify(self.folder, "127.0.0.1", days=9, starts_in_days=2), "clock", "Set the date and time"),
        ):
            error = self.fails(self.serve(certificate))
            self.assertEqual(error.code, code)
            self.assertIn(advice, str(error))
            self.assertIn("The certificate of https://127.0.0.1:", str(error))
        server = self.serve(certify(self.folder, "127.0.0.1", days=2))
        os.environ["SSL_CERT_FILE"] = trusted
        self.assertEqual(self.fails(server).code, "certificate")
        tunnel = Tunnel(server.port)
        self.addCleanup(tunnel.close)
        self.assertEqual(self.fails(server, proxy=f"http://{tunnel.address}").code, "certificate")
        self.assertEqual(len(tunnel.lines), 1)

    def test_ends_in_time_while_a_server_does_not_shake_hands(self) -> None:
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        started_at = time.monotonic()
        with self.assertRaises(KeywardNetworkError) as caught:
            connect(f"https://127.0.0.1:{silent.getsockname()[1]}", timeout_ms=400).session()
        self.assertLess(time.monotonic() - started_at, 10)
        self.assertEqual((caught.exception.code, caught.exception.outcome_unknown), ("timed_out", False))
