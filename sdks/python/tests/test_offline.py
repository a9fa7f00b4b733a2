"""Leases, remembered sign-ins, activations and the file that programs share."""

import json
import os
import stat
import tempfile
import threading
import time
import unittest
from typing import Any, List
from unittest import mock

from keyward import KeywardError, KeywardNetworkError, KeywardUsageError, UserData
from keyward.activation import parse_time, to_iso
from keyward.user_data import UserDataFile

from .signer import DAY, activation, lease
from .stand_in import USER, Memory, Seen, StandIn, connect, grants, plain, refuses

AWAY = "http://127.0.0.1:9"


class Broken:
    def read(self) -> str:
        raise OSError("disk broken")

    def write(self, text: str) -> None:
        raise OSError("disk full")


class OfflineTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = StandIn()
        self.addCleanup(self.server.close)
        self.storage = Memory()
        self.server.on("license", grants(user=USER))
        self.server.on("session", grants(user=USER))
        self.server.on("lease", lambda seen, _: grants(lease=lease())(seen, _))
        self.server.on("logout", grants())

    def start(self, **options: Any):
        return connect(self.server.base_url, storage=self.storage, **options)

    def away(self, now: float = 0, **options: Any):
        keyward = connect(AWAY, storage=self.storage, timeout_ms=100, **options)
        offline = keyward._options.offline
        assert offline is not None
        offline._time.now = lambda: now or time.time()
        return keyward

    def problem(self, keyward: Any) -> Any:
        with self.assertRaises(KeywardNetworkError) as caught:
            keyward.session()
        return caught.exception.offline

    def test_runs_with_the_lease_warns_and_stops(self) -> None:
        self.start().license("KEY")
        result = self.away().session()
        assert result.ok and result.offline is not None
        self.assertEqual((result.user.features, result.user.username), (("pro",), "ada"))
        self.assertFalse(result.offline.in_grace)
        self.assertTrue(self.away().license(" KEY ").ok)
        with self.assertRaises(KeywardNetworkError):
            self.away().license("OTHER")
        later = self.away(time.time() + 4 * DAY).session()
        assert later.ok and later.offline is not None
        self.assertTrue(later.offline.in_grace)
        self.assertEqual(self.problem(self.away(time.time() + 3 * DAY)), "clock_set_back")
        self.assertEqual(self.problem(self.away(time.time() + 11 * DAY)), "lease_ended")

    def test_ignores_a_signed_lease_with_claims_of_another_type(self) -> None:
        for name in ("iat", "exp", "graceUntil", "refreshAfter", "seq", "sub"):
            for value in (None, True, 1 if name == "sub" else "1", [], {}, 1e300, 10**20):
                self.storage.text = json.dumps({"lease": lease(**{name: value}), "user": USER, "latest": 0})
                with self.subTest(name=name, value=value):
                    self.assertEqual(self.problem(self.away()), "no_lease")

    def test_survives_every_broken_file(self) -> None:
        good = {"lease": lease(), "latest": 0, "user": USER, "key": None}
        texts = ["", "{", "null", "[]", "\ud800", "\x00", "[" * 100_000, "9" * 10_000, '{"latest":NaN}']
        odd: List[Any] = [None, True, 1, -1, 1.5, "x", [], {}]
        odd += [{"file": 1}, {"pending": {}}, {"pending": {"nonce": "x"}}]
        texts += [json.dumps({**good, name: value}) for name in (*good, "deviceToken", "activation") for value in odd]
        texts.append(json.dumps({**good, "activation": {"file": "a.b.c", "nonce": "0" * 16, "licenseKey": "x"}}))
        for text in texts:
            self.storage.text = text
            with self.subTest(text=text[:80]):
                for call in (
                    lambda: self.away().session(),
                    lambda: self.start().license("KEY"),
                    lambda: self.away().deactivate_offline(),
                    lambda: self.away().logout(),
                ):
                    try:
                        call()
                    except KeywardError:
                        pass
                self.assertIn("latest", json.loads(self.storage.text))

    def test_writes_null_for_a_time_that_json_does_not_have(self) -> None:
        self.storage.text = '{"lease":"","latest":1e400,"later":1e400}'
        self.start().logout()
        self.assertEqual(self.storage.kept, {"lease": "", "latest": None, "user": None, "key": None, "later": None})

    def test_keeps_what_another_version_has_stored(self) -> None:
        self.storage.text = '{"later":{"more":[1,null]},"none":null}'
        keyward = self.start()
        keyward.license("KEY")
        keyward.logout()
        self.assertEqual(self.storage.kept["later"], {"more": [1, None]})
        self.assertIn("none", self.storage.kept)

    def test_works_online_with_a_storage_that_fails(self) -> None:
        keyward = connect(self.server.base_url, storage=Broken())
        self.assertTrue(keyward.license("KEY").ok)
        self.assertTrue(keyward.session().ok)
        self.assertTrue(keyward.logout().ok)
        with self.assertRaises(KeywardUsageError) as caught:
            keyward.offline_request("KEY")
        self.assertEqual(caught.exception.code, "storage_failed")

    def test_does_not_wait_longer_for_a_lease_than_for_the_call(self) -> None:
        self.server.on("lease", lambda *_: time.sleep(5) or b"")
        started_at = time.monotonic()
        self.assertTrue(self.start(timeout_ms=2_000).license("KEY").ok)
        self.assertLess(time.monotonic() - started_at, 4.5)

    def test_forgets_the_lease_after_a_refusal_and_at_a_sign_out(self) -> None:
        self.start().license("KEY")
        keyward = self.start()
        self.server.on("session", refuses(403, "userBanned"))
        self.assertFalse(keyward.session().ok)
        self.assertEqual(self.problem(self.away()), "no_lease")
        self.start().license("KEY")
        self.start().logout()
        self.assertEqual(self.problem(self.away()), "no_lease")

    def test_never_falls_back_after_a_forged_or_unknown_answer(self) -> None:
        self.start().license("KEY")
        self.server.on("session", plain(403, b"", signature="keyward=:AA"), grants())
        for _ in range(2):
            with self.assertRaises(KeywardError) as caught:
                self.start().session()
            self.assertIn(caught.exception.code, ("malformed_signature", "unexpected_answer"))

    def test_falls_back_after_an_unsigned_answer(self) -> None:
        self.start().license("KEY")
        for answer in (plain(403, b"error code: 1010"), plain(200, b'{"success":true}'), plain(408)):
            self.server.on("session", answer)
            result = self.start().session()
            assert result.ok and result.offline is not None
            with self.assertRaises(KeywardNetworkError) as caught:
                self.server.on("login", answer)
                self.start().login("ada", "secret")
            self.assertEqual((caught.exception.code, caught.exception.outcome_unknown), ("blocked", True))

    def test_signs_in_again_with_a_token_that_is_replaced(self) -> None:
        self.server.on("license", grants(user=USER, deviceToken="token-1"))
        self.server.on("resume", grants(user=USER, deviceToken="token-2"), refuses(401, "sessionUnauthed"))
        self.assertTrue(self.start().license("KEY").ok)
        self.assertTrue(self.server.seen[1].body["remember"])
        self.assertTrue(self.start().session().ok)
        self.assertEqual(self.storage.kept["deviceToken"], "token-2")
        self.server.on("session", refuses(401, "sessionUnauthed"))
        self.assertFalse(self.start().session().ok)
        self.assertNotIn("deviceToken", self.storage.kept)

    def test_stays_signed_out_if_the_user_signs_out_during_a_call(self) -> None:
        for name, answer in (
            ("license", grants(user=USER, deviceToken="token-1")),
            ("lease", grants(lease=lease(seq=5))),
            ("resume", grants(user=USER, deviceToken="token-2")),
        ):
            self.storage.text = json.dumps({"deviceToken": "token-0"})
            keyward = self.start()
            self.server.on("license", grants(user=USER, deviceToken="token-1"))
            self.server.on("resume", grants(user=USER))
            out: List[threading.Thread] = []

            def leave(seen: Seen, connection: Any, answer: Any = answer) -> Any:
                out.append(threading.Thread(target=keyward.logout))
                out[0].start()
                while keyward._session._sign_outs == 0:
                    time.sleep(0.001)
                return answer(seen, connection)

            self.server.on(name, leave)
            keyward.session() if name == "resume" else keyward.license("KEY")
            out[0].join()
            with self.subTest(name=name):
                self.assertNotIn("token", self.storage.text)
                self.assertEqual(self.storage.kept["lease"], "")
                if name != "lease":
                    self.assertFalse(keyward.has("pro"))
            self.server.on("lease", lambda seen, _: grants(lease=lease())(seen, _))

    def test_activates_a_machine_that_is_never_online(self) -> None:
        keyward = self.away()
        request = keyward.offline_request(" KEY ")
        self.assertRegex(request, r"^KWR1-([0-9A-HJKMNP-TV-Z]{5}-)*[0-9A-HJKMNP-TV-Z]{1,5}$")
        self.assertEqual(self.away().offline_request("KEY"), request)
        nonce = self.storage.kept["activation"]["pending"]["nonce"]
        file = f"rubbish\r\n {activation(nonce)}\n"
        result = keyward.activate_offline(file)
        self.assertTrue(result.ok and keyward.has("pro"))
        checked = self.away(time.time() + 20 * DAY).session()
        assert isinstance(checked, UserData) and checked.offline is not None
        self.assertEqual(checked.user.term, "forever")
        self.assertEqual(checked.offline.until, checked.offline.grace_until)
        with self.assertRaises(KeywardUsageError):
            keyward.activate_offline(file)
        later = self.away(time.time() + 21 * DAY)
        self.assertEqual(later.deactivate_offline(), "KWD1-AAAA-BBBB-CCCC-DDDD")
        self.assertEqual(self.problem(later), "no_lease")
        with self.assertRaises(KeywardUsageError) as caught:
            later.deactivate_offline()
        self.assertEqual(caught.exception.code, "no_activation")

    def test_rejects_a_file_with_claims_of_another_type(self) -> None:
        keyward = self.away()
        keyward.offline_request("KEY")
        nonce = self.storage.kept["activation"]["pending"]["nonce"]
        times: List[Any] = [True, "1", [], {}, 1e300, 1.5, 10**20]
        wrong: List[Any] = [("iat", value) for value in [None, *times]] + [("exp", value) for value in times]
        wrong += [(name, value) for name in ("sub", "username", "term", "deactivation") for value in (None, 1, [])]
        wrong += [("expiresAt", value) for value in (1, "", "soon", "2030-13-01T00:00:00.000Z", [])]
        wrong += [("features", value) for value in (None, "pro", {})]
        for name, value in wrong:
            with self.subTest(name=name, value=value), self.assertRaises(KeywardUsageError) as caught:
                keyward.activate_offline(activation(nonce, **{name: value}))
            self.assertEqual(caught.exception.code, "activation_rejected")
        for file in ("", "\ud800", "a.b.c", "." * 1_000_000, "x\n" * 400_000, activation("0" * 16)):
            with self.subTest(file=file[:20]), self.assertRaises(KeywardUsageError):
                keyward.activate_offline(file)
        self.assertTrue(keyward.activate_offline(activation(nonce)).ok)

    def test_logs_that_an_activation_answers_while_no_user_is_signed_in(self) -> None:
        keyward = self.away()
        keyward.offline_request("KEY")
        keyward.activate_offline(activation(self.storage.kept["activation"]["pending"]["nonce"]))
        self.server.on("session", refuses(401, "sessionUnauthed"))
        events: List[Any] = []
        online = self.start(log=events.append)
        self.assertTrue(online.session().ok)
        last = events[-1]
        self.assertEqual((last.event, last.call, last.code), ("offline", "session", "sessionUnauthed"))
        online.logout()
        self.assertTrue(online.session().ok)

    def test_reads_and_writes_times_like_other_languages(self) -> None:
        self.assertEqual(to_iso(0), "1970-01-01T00:00:00.000Z")
        self.assertEqual(to_iso(1767225600.5), "2026-01-01T00:00:00.500Z")
        self.assertEqual(parse_time("2026-01-01T00:00:00.500Z"), 1767225600.5)
        self.assertEqual(parse_time("2026-01-01T01:00:00+01:00"), 1767225600)
        for wrong in ("", "x", "2026-02-30T00:00:00Z", "2026-01-01T24:61:00Z", "٢٠٢٦-01-01"):
            self.assertIsNone(parse_time(wrong))


class FileTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(self.folder, "keyward", "app12345.json")

    def test_is_readable_by_the_user_alone_and_replaced_as_a_whole(self) -> None:
        file = UserDataFile("app12345", self.folder)
        self.assertIsNone(file.read())
        file.write("one")
        file.write("tw\u00f6")
        self.assertEqual(file.read(), "tw\u00f6")
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["app12345.json"])
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.path)).st_mode) & 0o077, 0)

    def test_has_the_name_that_other_languages_give_it(self) -> None:
        UserDataFile("../a-\u00fc\U0001f600", self.folder).write("x")
        self.assertEqual(os.listdir(os.path.join(self.folder, "keyward")), ["___a____.json"])

    def test_leaves_no_draft_where_it_cannot_be_written(self) -> None:
        os.makedirs(self.path)
        with self.assertRaises(OSError):
            UserDataFile("app12345", self.folder).write("x")
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["app12345.json"])

    def test_does_not_stop_a_program_whose_folder_is_a_file(self) -> None:
        with open(os.path.join(self.folder, "keyward"), "w"):
            pass
        file = UserDataFile("app12345", self.folder)
        with file.lock(), self.assertRaises(OSError):
            file.write("x")
        keyward = connect(AWAY, storage=file, timeout_ms=200)
        with self.assertRaises(KeywardUsageError) as caught:
            keyward.offline_request("KEY")
        self.assertEqual(caught.exception.code, "storage_failed")

    def test_loses_no_change_of_many_programs(self) -> None:
        UserDataFile("app12345", self.folder).write("0")
        # Otherwise a program goes on without the lock after two seconds, which a slow disk may take.
        longer = mock.patch("keyward.lock_file._LONGEST_WAIT_S", 100)
        longer.start()
        self.addCleanup(longer.stop)

        def count() -> None:
            file = UserDataFile("app12345", self.folder)
            for _ in range(5):
                with file.lock():
                    number = int(file.read() or "0")
                    time.sleep(0.001)
                    file.write(str(number + 1))

        threads = [threading.Thread(target=count) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(UserDataFile("app12345", self.folder).read(), "40")
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["app12345.json"])

    def test_removes_the_lock_of_a_program_that_was_ended(self) -> None:
        file = UserDataFile("app12345", self.folder)
        file.write("x")
        with open(f"{self.path}.lock", "w"):
            pass
        os.utime(f"{self.path}.lock", (1, 1))
        with file.lock():
            self.assertGreater(os.stat(f"{self.path}.lock").st_mtime, 1)
        self.assertEqual(os.listdir(os.path.dirname(self.path)), ["app12345.json"])

    def test_reads_bytes_that_are_no_text(self) -> None:
        file = UserDataFile("app12345", self.folder)
        file.write("x")
        with open(self.path, "wb") as raw:
            raw.write(b"\xff\xfe{")
        keyward = connect(AWAY, storage=file, timeout_ms=200)
        self.assertTrue(keyward.offline_request("KEY").startswith("KWR1-"))
