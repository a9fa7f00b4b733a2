"""Whether the server is away, so that calls need not wait for it."""

from __future__ import annotations

import threading
import time
from typing import Callable, Optional

from .errors import KeywardNetworkError
from .locks import Lock, renew_in_child

#: How long what is stored answers at once after a network error.
_AWAY_S = 60
_PAUSE_BETWEEN_PROBES_S = 5
#: How long a call waits for the server if what is stored could answer.
PATIENCE_S = 3


class Away:
    """Safe for threads."""

    def __init__(self) -> None:
        self.monotonic = time.monotonic
        self._lock = Lock()
        self._until = 0.0
        self._ends = 0
        self._code: Optional[str] = None
        self._is_probing = False
        self._probed_at: Optional[float] = None
        renew_in_child(self)

    def renew(self) -> None:
        # The thread that asks stays with the parent.
        self._is_probing = False

    @property
    def code(self) -> Optional[str]:
        """The last network error while the server is away."""
        with self._lock.held():
            return self._code if self._code is not None and self.monotonic() < self._until else None

    def note(self, error: KeywardNetworkError) -> None:
        with self._lock.held():
            self._code, self._until = error.code, self.monotonic() + _AWAY_S

    def end(self) -> None:
        with self._lock.held():
            self._code = None
            self._ends += 1

    def probe(self, ask: Callable[[], object]) -> None:
        """Asks the server in the background, unless that is done already or was just tried."""
        with self._lock.held():
            probed_at = self._probed_at
            is_early = probed_at is not None and self.monotonic() < probed_at + _PAUSE_BETWEEN_PROBES_S
            if self._is_probing or is_early:
                return
            self._is_probing, ends = True, self._ends
        try:
            threading.Thread(target=self._probe, args=(ask, ends), name="keyward-probe", daemon=True).start()
        except RuntimeError:
            # The process may start no more threads.
            self._end_probe()

    def _probe(self, ask: Callable[[], object], ends: int) -> None:
        try:
            ask()
            self.end()
        except KeywardNetworkError as error:
            # The server may have answered another call since.
            if ends == self._ends:
                self.note(error)
        except Exception:
            # The next call learns in the foreground what the server says.
            self.end()
        finally:
            self._end_probe()

    def _end_probe(self) -> None:
        with self._lock.held():
            self._is_probing, self._probed_at = False, self.monotonic()
