"""A client in the child of a fork, beside threads of its parent that hold every lock."""

import os
import signal
import threading
import time
import unittest
import unittest.mock
from typing import Any, Callable, List

from keyward import KeywardNetworkError
from keyward.away import Away
from keyward.flight import Shared
from keyward.identity import Identity
from keyward.locks import Lock
from keyward.offline import Offline
from keyward.session import Session

from .signer import lease
from .stand_in import OPENED, USER, Memory, StandIn, connect, grants

_LONGEST_S = 30.0


def in_child(work: Callable[[], object]) -> int:
    """The exit status of a fork in which ``work`` runs; -9 if it never ended."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if work() else 2
        finally:
            os._exit(status)
    ends_at = time.monotonic() + _LONGEST_S
    while time.monotonic() < ends_at:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -9


def locks_of(*owners: Any) -> List[Lock]:
    return [owner._lock for owner in owners]


@unittest.skipUnless(hasattr(os, "fork"), "the system has no fork")
class ForksTest(unittest.TestCase):
    def setUp(self) -> None:
        self.server = StandIn()
        self.addCleanup(self.server.close)
        self.server.on("init", grants(**OPENED))
        for name in ("session", "license"):
            self.server.on(name, grants(user=USER))
        self.server.on("lease", grants(lease=lease()))
        self.keyward = connect(self.server.base_url, storage=Memory("{}"), timeout_ms=10_000)

    def test_calls_while_threads_of_the_parent_hold_every_lock(self) -> None:
        session: Session = self.keyward._session
        identity: Identity = self.keyward._identity
        offline = self.keyward._options.offline
        assert isinstance(offline, Offline)
        away: Away = session._fallback._away
        network = self.keyward._transport._network
        shared: List[Shared[Any]] = [session._opening, session._resuming, session._signing_in]
        locks = locks_of(session, identity, offline, away, network, *shared)
        held, done = threading.Barrier(len(locks) + 1), threading.Event()
        self.addCleanup(done.set)

        def hold(lock: Lock) -> None:
            with lock.held():
                held.wait()
                done.wait()

        for lock in locks:
            threading.Thread(target=hold, args=(lock,), daemon=True).start()
        held.wait()
        work = lambda: self.keyward.license("KEY").ok and self.keyward.session().ok  # noqa: E731
        self.assertEqual([in_child(work) for _ in range(4)], [0] * 4)

    def test_opens_a_session_of_its_own_while_a_thread_of_the_parent_opens_one(self) -> None:
        opening, go_on = threading.Event(), threading.Event()
        self.addCleanup(go_on.set)

        def slow(seen: Any, connection: Any) -> Any:
            opening.set()
            go_on.wait(_LONGEST_S)
            return grants(**OPENED)(seen, connection)

        self.server.on("init", slow, grants(**OPENED))
        thread = threading.Thread(target=self.keyward.license, args=("KEY",), daemon=True)
        thread.start()
        opening.wait(_LONGEST_S)
        self.assertEqual(in_child(lambda: self.keyward.license("KEY").ok), 0)
        go_on.set()
        thread.join(_LONGEST_S)

    def test_asks_in_the_background_although_a_thread_of_the_parent_did(self) -> None:
        away, asked = Away(), threading.Event()
        going_on = threading.Event()
        self.addCleanup(going_on.set)
        away.probe(going_on.wait)

        def asks() -> bool:
            away.probe(asked.set)
            return asked.wait(_LONGEST_S)

        self.assertEqual(in_child(asks), 0)

    def test_ends_a_wait_for_a_thread_that_never_ends_its_call(self) -> None:
        lock, held, done = Lock(), threading.Event(), threading.Event()
        self.addCleanup(done.set)

        def hold() -> None:
            with lock.held():
                held.set()
                done.wait()

        threading.Thread(target=hold, daemon=True).start()
        held.wait()
        with unittest.mock.patch("keyward.locks._LONGEST_WAIT_S", 0.01):
            with self.assertRaises(KeywardNetworkError) as caught, lock.held():
                self.fail("another thread holds it")
        self.assertEqual((caught.exception.code, caught.exception.outcome_unknown), ("timed_out", False))

    def test_goes_on_after_a_fork_under_a_lock(self) -> None:
        lock = Lock()

        def forks() -> int:
            with lock.held():
                return in_child(lambda: True)

        self.assertEqual(forks(), 0)
        with lock.held():
            pid = os.fork()
        if pid == 0:
            with lock.held():
                os._exit(0)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
