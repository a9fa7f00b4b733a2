"""What the calls send and return."""

import json
import pickle
import unittest

from keyward import (
    DeviceUse,
    Granted,
    KeywardNetworkError,
    KeywardSignatureError,
    KeywardUsageError,
    Refused,
    Seat,
    UserData,
)

from .stand_in import OPENED, USER, StandIn, connect, grants, plain, refuses, says


class ResultsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = StandIn()
        self.addCleanup(self.server.close)
        for name in ("license", "login", "register", "upgrade", "session", "trial"):
            self.server.on(name, grants(user=USER))
        self.keyward = connect(self.server.base_url)

    def test_returns_the_user_with_names_of_python(self) -> None:
        result = self.keyward.license("  KEY\ufeff\n")
        assert isinstance(result, UserData)
        self.assertTrue(result.ok and result)
        self.assertEqual(result.user.id, "usr_1")
        self.assertEqual(result.user.expires_at, "2030-01-01T00:00:00.000Z")
        self.assertEqual(result.user.features, ("pro",))
        self.assertEqual(result.user.devices, DeviceUse(1, 3))
        self.assertEqual(result.user.seat, Seat("2030-01-01T00:00:00.000Z"))
        self.assertEqual(result.user.raw, USER)
        self.assertIsNone(result.offline)
        self.assertEqual(self.server.seen[-1].body, {"licenseKey": "KEY", "hwid": "hw-1"})

    def test_takes_a_refusal_for_false_in_every_condition(self) -> None:
        details = {"expiresAt": "2024-01-01T00:00:00.000Z", "devices": {"used": 2, "limit": 2}, "more": [1]}
        self.server.on("session", refuses(403, "noActiveSubs", reference="0123456789", details=details))
        result = self.keyward.session()
        assert isinstance(result, Refused)
        self.assertFalse(result.ok or result)
        self.assertEqual((result.code, result.message), ("noActiveSubs", "noActiveSubs in words"))
        self.assertEqual(result.reference, "0123456789")
        assert result.details is not None
        self.assertEqual(result.details.devices, DeviceUse(2, 2))
        self.assertEqual(result.details.raw, details)

    def test_reports_the_newer_version_and_never_the_token_of_the_session(self) -> None:
        result = self.keyward.init()
        assert result.ok
        self.assertTrue(result.update_available)
        self.assertEqual((result.app.name, result.app.version), ("Tally", "1.1.0"))
        self.assertNotIn("session-1", repr(result) + repr(result.raw))
        self.assertEqual(self.server.seen[0].body["sdk"].split("/")[0], "keyward-python")

    def test_reads_features_and_variables_until_the_next_refusal(self) -> None:
        self.assertFalse(self.keyward.has("pro"))
        self.keyward.init()
        self.assertEqual(self.keyward.variable("color"), "blue")
        self.keyward.login("ada", "secret")
        self.assertTrue(self.keyward.has("pro"))
        self.assertEqual([self.keyward.variable(name) for name in ("color", "motd", "none")], ["red", "Hello", None])
        self.server.on("session", refuses(403, "userBanned"))
        self.keyward.session()
        self.assertFalse(self.keyward.has("pro"))
        self.assertEqual(self.keyward.variable("color"), "blue")

    def test_signs_out_locally_even_if_the_server_is_away(self) -> None:
        self.keyward.license("KEY")
        self.server.on("logout", plain(404))
        with self.assertRaises(KeywardNetworkError):
            self.keyward.logout()
        self.assertFalse(self.keyward.has("pro"))
        self.assertEqual(self.keyward.logout(), Granted(None, {}))

    def test_lists_and_frees_devices(self) -> None:
        device = {"_id": "a/b?", "name": None, "system": "Linux", "firstSeenAt": "x", "lastSeenAt": "y"}
        self.server.on("devices", grants(devices=[device]))
        self.server.on("devices/a%2Fb%3F", grants())
        result = self.keyward.devices()
        assert result.ok
        self.assertEqual((result.devices[0].id, result.devices[0].last_seen_at), ("a/b?", "y"))
        self.assertTrue(self.keyward.free_device("a/b?").ok)
        for wrong in ("", ".", "..", "\ud800", 7):
            with self.assertRaises(KeywardUsageError):
                self.keyward.free_device(wrong)  # type: ignore[arg-type]

    def test_validates_without_a_session(self) -> None:
        license = {"key": "K", "used": False, "username": None, "expiresAt": None, "inGrace": False, "term": "forever"}
        self.server.on(
            "validate",
            grants(valid=True, activated=True, license=license),
            grants(valid=False, code="keyBanned", reference="r", details={}),
            grants(valid="yes"),
        )
        result = self.keyward.validate("K", activate=True)
        assert result.ok
        self.assertTrue(result.activated)
        self.assertEqual(self.server.seen[-1].body["activate"], True)
        self.assertEqual(self.keyward.validate("K").ok, False)
        with self.assertRaises(KeywardNetworkError):
            self.keyward.validate("K")
        self.assertEqual(self.server.calls(), ["validate"] * 3)

    def test_sends_any_text_as_valid_json(self) -> None:
        name = "a\ud800\"\\\u2028\U0001f600\x00"
        self.keyward.login(name, "\udcff")
        seen = self.server.seen[-1]
        self.assertEqual(json.loads(seen.raw.decode("utf-8"))["username"], name)
        self.assertIn("\U0001f600".encode(), seen.raw)

    def test_rejects_arguments_that_are_no_texts(self) -> None:
        k = self.keyward
        calls = [
            lambda: k.license(None),
            lambda: k.login("ada", b"secret"),
            lambda: k.register("ada", "secret", "KEY", email=1),
            lambda: k.upgrade(1, "KEY"),
            lambda: k.trial(type=["x"]),
            lambda: k.validate(5),
            lambda: k.activate_offline(b""),
        ]
        for call in calls:
            with self.assertRaises(KeywardUsageError) as caught:
                call()
            self.assertEqual(caught.exception.code, "invalid_argument")
        self.assertEqual(self.server.seen, [])
        self.assertIsNone(k.variable([]))
        self.assertFalse(k.has({}))

    def test_hides_the_token_of_a_remembered_sign_in(self) -> None:
        self.server.on("license", grants(user=USER, deviceToken="token-1"))
        result = self.keyward.license("KEY")
        assert result.ok
        self.assertNotIn("deviceToken", result.raw)

    def test_survives_every_type_in_signed_data(self) -> None:
        odd = [None, True, 0, -1, 1.5, "x", [], [[]], {}, {"used": "x"}, ["a", 1, None]]
        for value in odd:
            self.server.on("session", grants(user={name: value for name in USER}))
            with self.subTest(value=value):
                result = self.keyward.session()
                self.assertTrue(result.ok)
                self.assertFalse(self.keyward.has("pro"))
                self.keyward.variable("color")
        for value in odd[:-4] + [odd[-1]]:
            self.server.on("session", grants(user=value))
            with self.subTest(user=value), self.assertRaises(KeywardNetworkError) as caught:
                self.keyward.session()
            self.assertEqual(caught.exception.code, "unexpected_answer")

    def test_reports_a_genuine_body_that_is_no_answer(self) -> None:
        deep = b"[" * 100_000
        bodies = [
            b"",
            b"null",
            b"[]",
            b"\xff\xfe",
            b'{"success":true,"data":{"user":NaN}}',
            b'{"success":true,"data":{"user":{"a":' + deep + b"}}}",
            b'{"success":true,"data":{"user":{"a":' + b"1" * 200_000,
            b'{"success":true,"success":false,"code":"x"}',
            b'{"success":"true","data":{}}',
        ]
        for body in bodies:
            self.server.on("session", says(200, body))
            with self.subTest(body=body[:50]), self.assertRaises(KeywardNetworkError) as caught:
                self.keyward.session()
            self.assertEqual((caught.exception.code, caught.exception.status), ("unexpected_answer", 200))

    def test_reads_numbers_of_any_length(self) -> None:
        number = b"9" * 100_000
        body = b'{"success":true,"data":{"x":' + number + b',"user":{"_id":"u","seat":' + number + b"}}}"
        self.server.on("session", says(200, body))
        self.assertTrue(self.keyward.session().ok)

    def test_takes_the_last_of_duplicate_members_as_other_languages_do(self) -> None:
        body = b'\xef\xbb\xbf{"success":false,"success":true,"data":{"user":{"_id":"a","_id":"b\xff"}}}'
        self.server.on("session", says(200, body))
        result = self.keyward.session()
        assert result.ok
        self.assertEqual(result.user.id, "b\ufffd")

    def test_keeps_its_errors_when_they_are_copied_to_another_process(self) -> None:
        network = KeywardNetworkError("rate_limited", "wait", outcome_unknown=True, status=429, retry_after_ms=5)
        network.offline = "no_lease"
        for error in (network, KeywardSignatureError("bad_signature", "no", 200), KeywardUsageError("invalid_options", "x")):
            copied = pickle.loads(pickle.dumps(error))
            self.assertEqual(type(copied), type(error))
            self.assertEqual(vars(copied), vars(error))
            self.assertEqual(str(copied), str(error))

    def test_opens_a_new_session_once_if_the_old_one_has_ended(self) -> None:
        self.server.on("license", refuses(401, "sessionUnauthed"), grants(user=USER))
        self.assertTrue(self.keyward.license("KEY").ok)
        self.assertEqual(self.server.calls(), ["init", "license", "init", "license"])
        self.server.on("license", refuses(401, "sessionUnauthed"))
        self.assertFalse(self.keyward.license("KEY").ok)
        self.assertEqual(self.server.calls()[4:], ["license", "init", "license"])

    def test_rejects_a_session_that_no_header_can_carry(self) -> None:
        for token in (None, "", "a b", "a\r\nX: y", "é", "x" * 1025):
            self.server.on("init", grants(**{**OPENED, "session": token}))
            with self.subTest(token=token), self.assertRaises(KeywardNetworkError):
                self.keyward.init()
