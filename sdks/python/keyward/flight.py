"""Work that concurrent callers share."""

from __future__ import annotations

import copy
import threading
import time
from typing import Callable, Generic, List, Optional, TypeVar, Union

from .errors import KeywardNetworkError
from .locks import Lock, renew_in_child

T = TypeVar("T")


class _Flight(Generic[T]):
    def __init__(self) -> None:
        self.leader = threading.get_ident()
        self.done = threading.Event()
        self.outcome: List[Union[T, Exception]] = []


class Shared(Generic[T]):
    """
    Runs a function once for all threads that ask while it runs. A thread waits for another one until ``deadline``, a time of
    ``time.monotonic()``, at most.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._current: Optional[_Flight[T]] = None
        renew_in_child(self)

    def renew(self) -> None:
        # Its leader stays with the parent, unless the function itself forks.
        if self._current is not None and self._current.leader != threading.get_ident():
            self._current = None

    def run(self, work: Callable[[], T], deadline: float) -> T:
        while True:
            with self._lock.held():
                flight = self._current
                leads = flight is None
                if flight is None:
                    flight = self._current = _Flight()
            if leads:
                return self._lead(flight, work)
            if flight.leader == threading.get_ident():
                # A function of the program, such as its log, calls the client again.
                return work()
            if not flight.done.wait(max(0.0, deadline - time.monotonic())):
                raise KeywardNetworkError("timed_out", "No answer in time", outcome_unknown=False)
            if not flight.outcome:
                # The thread that ran the function was interrupted.
                continue
            outcome = flight.outcome[0]
            if isinstance(outcome, Exception):
                # One instance raised in several threads would mix up their tracebacks.
                raise copy.copy(outcome) from outcome.__cause__
            return outcome

    def _lead(self, flight: _Flight[T], work: Callable[[], T]) -> T:
        try:
            result = work()
            flight.outcome.append(result)
            return result
        except Exception as error:
            flight.outcome.append(error)
            raise
        finally:
            with self._lock.held():
                if self._current is flight:
                    self._current = None
            flight.done.set()
