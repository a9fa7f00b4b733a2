"""One client in many threads."""

import json
import math
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any, List

from keyward import KeywardNetworkError, KeywardUsageError, Refused
from keyward.flight import Shared

from .signer import lease
from .stand_in import OPENED, USER, Memory, StandIn, connect, grants, plain, refuses

THREADS = 32


def together(work: Any) -> List[Any]:
    barrier = threading.Barrier(THREADS)

    def run(at: int) -> Any:
        barrier.wait()
        return work(at)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


def slow(behavior: Any, seconds: float = 0.2) -> Any:
    def behave(seen: Any, connection: Any) -> Any:
        time.sleep(seconds)
        return behavior(seen, connection)

    return behave


class ThreadsTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = StandIn()
        self.addCleanup(self.server.close)
        self.server.on("session", grants(user=USER))
        self.server.on("license", grants(user=USER))

    def test_opens_one_session_for_all(self) -> None:
        self.server.on("init", slow(grants(**OPENED)))
        keyward = connect(self.server.base_url, timeout_ms=20_000)
        results = together(lambda _: keyward.license("KEY"))
        self.assertTrue(all(result.ok for result in results))
        self.assertEqual(self.server.calls().count("init"), 1)
        nonces = {seen.headers["keyward-nonce"] for seen in self.server.seen}
        self.assertEqual(len(nonces), THREADS + 1)

    def test_shares_one_refusal_and_one_failure(self) -> None:
        self.server.on("init", slow(refuses(403, "pausedApp")))
        keyward = connect(self.server.base_url, timeout_ms=20_000)
        results = together(lambda _: keyward.session())
        self.assertTrue(all(isinstance(result, Refused) and result.code == "pausedApp" for result in results))
        self.assertEqual(self.server.calls(), ["init"])
        self.server.on("init", slow(plain(404)))

        def failure(_: int) -> Any:
            try:
                return keyward.session()
            except KeywardNetworkError as error:
                return error

        errors = together(failure)
        self.assertEqual({error.code for error in errors}, {"wrong_address"})
        self.assertEqual(len({id(error) for error in errors}), THREADS)

    def test_signs_in_again_once_and_keeps_the_latest_token(self) -> None:
        storage = Memory(json.dumps({"deviceToken": "token-1"}))
        self.server.on("resume", slow(grants(user=USER, deviceToken="token-2")), grants(user=USER, deviceToken="no"))
        self.server.on("lease", grants(lease=lease()))
        keyward = connect(self.server.base_url, storage=storage, timeout_ms=20_000)
        results = together(lambda _: keyward.session())
        self.assertTrue(all(result.ok for result in results))
        self.assertEqual(self.server.calls().count("resume"), 1)
        self.assertEqual(storage.kept["deviceToken"], "token-2")
        self.assertNotEqual(storage.kept["lease"], "")

    def test_asks_for_the_hardware_id_once(self) -> None:
        asked: List[int] = []

        def hwid() -> str:
            asked.append(1)
            time.sleep(0.05)
            return "hw-1"

        keyward = connect(self.server.base_url, hwid=hwid, timeout_ms=20_000)
        together(lambda _: keyward.license("KEY"))
        self.assertEqual(len(asked), 1)

    def test_answers_each_thread_with_the_answer_to_its_own_call(self) -> None:
        def echo(seen: Any, connection: Any) -> Any:
            return grants(user={**USER, "username": seen.body["licenseKey"]})(seen, connection)

        self.server.on("license", echo)
        keyward = connect(self.server.base_url, timeout_ms=20_000)
        results = together(lambda at: keyward.license(f"KEY-{at}"))
        self.assertEqual([result.user.username for result in results], [f"KEY-{at}" for at in range(THREADS)])

    def test_hands_over_if_the_leading_thread_is_interrupted(self) -> None:
        shared: Shared[str] = Shared()
        entered = threading.Event()
        interrupted: List[BaseException] = []

        def interrupt() -> str:
            entered.set()
            time.sleep(0.1)
            raise KeyboardInterrupt

        def lead() -> None:
            try:
                shared.run(interrupt, math.inf)
            except KeyboardInterrupt as error:
                interrupted.append(error)

        leader = threading.Thread(target=lead)
        leader.start()
        entered.wait()
        self.assertEqual(shared.run(lambda: "second", time.monotonic() + 60), "second")
        leader.join()
        self.assertEqual(len(interrupted), 1)

    def test_survives_a_log_that_calls_the_client(self) -> None:
        calls: List[str] = []

        def log(event: Any) -> None:
            if len(calls) < 3:
                calls.append(event.call)
                keyward.session()

        keyward = connect(self.server.base_url, log=log)
        self.assertTrue(keyward.license("KEY").ok)
        self.assertEqual(calls, ["init"] * 3)

    def test_reports_a_failing_hardware_id_as_a_mistake_of_the_program(self) -> None:
        def deep() -> str:
            return deep()

        for hwid in (lambda: 1 / 0, deep, lambda: None, lambda: "", lambda: "x" * 257, lambda: b"hw"):
            with self.assertRaises(KeywardUsageError) as caught:
                connect(self.server.base_url, hwid=hwid).license("KEY")
            self.assertIn(caught.exception.code, ("hwid_unavailable", "invalid_options"))
        self.assertEqual(self.server.seen, [])
