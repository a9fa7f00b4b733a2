"""The command line of Tally."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Dict, List, Optional, Tuple, Type

from keyward import KeywardError, KeywardNetworkError, KeywardSignatureError, KeywardUsageError

from .config import SetupError, forget_key, read_config, remember_key, remembered_key
from .gate import Gate, RefusedError, connect
from .next_step import moment, next_network_step
from .report import Row, count, to_line, total
from .window import Desk, open_window

_POLL_S = 0.2

#: The exit status for scripts, by the error that ends the program.
_STATUSES: Tuple[Tuple[Type[Exception], int], ...] = (
    (SetupError, 1),
    (KeywardUsageError, 1),
    (OSError, 1),
    (KeywardNetworkError, 2),
    (RefusedError, 3),
    (KeywardSignatureError, 4),
)


def main() -> int:
    try:
        run(_parser().parse_args())
    except (KeywardError, RefusedError, SetupError, OSError) as error:
        return stop(error)
    except KeyboardInterrupt:
        return 0
    return 0


def run(options: argparse.Namespace) -> None:
    if options.offline_request:
        print(connect().offline_request(options.offline_request))
        remember_key(options.offline_request)
    elif options.activate:
        result = connect().activate_offline(Path(options.activate).read_text(encoding="utf-8"))
        print(f"Activated for {result.user.username}, until {_until(result.offline.until if result.offline else None)}.")
    elif options.deactivate:
        print(f"Send this code to your vendor: {connect().deactivate_offline()}")
        forget_key()
    elif options.sign_out:
        connect().logout()
        forget_key()
    elif options.files:
        work(options)
    else:
        raise SetupError("Name a text to count, or see --help.")


def work(options: argparse.Namespace) -> None:
    key = options.key or remembered_key()
    if not key:
        read_config()
        raise SetupError("Tally needs a license. Start it once with --key YOUR-LICENSE-KEY.")
    if options.window:
        return open_window(Desk(key, Path(options.files[0])))
    gate = Gate(connect(), key)
    if not remember_key(key):
        print("The key could not be stored: the next start needs --key again.", file=sys.stderr)
    print(f"Activated until {_until(gate.user.expires_at)}.")
    if gate.newer_version:
        print(f"Version {gate.newer_version} is available.")

    rows = [tally(gate, Path(file)) for file in options.files]
    if options.total:
        if not gate.has("totals"):
            raise RefusedError("Your license does not include totals.")
        print(to_line(total(rows)))
    if options.watch:
        watch(gate, [Path(file) for file in options.files])


def tally(gate: Gate, file: Path) -> Row:
    """One piece of work. Check first: without it, a watching program would not notice a ban."""
    check = gate.check()
    if check.offline is not None:
        print(f"The license server is away. Tally works until {_until(check.offline.grace_until)}.")
        if check.offline.in_grace:
            print("Go online before then, or Tally stops.")
    row = count(file.name, file.read_text(encoding="utf-8", errors="replace"))
    print(to_line(row), flush=True)
    return row


def watch(gate: Gate, files: List[Path]) -> None:
    seen: Dict[Path, float] = {file: file.stat().st_mtime_ns for file in files}
    print("Watching for changes. Press Ctrl-C to stop.", flush=True)
    while True:
        time.sleep(_POLL_S)
        for file in files:
            if not file.exists() or file.stat().st_mtime_ns == seen[file]:
                continue
            seen[file] = file.stat().st_mtime_ns
            try:
                tally(gate, file)
            except KeywardNetworkError as error:
                # A missing answer is no verdict: skip this piece of work and check again at the next one.
                print(f"Skipped: {error} {next_network_step(error)}", file=sys.stderr, flush=True)


def stop(error: Exception) -> int:
    """Prints the error for the user and returns the exit status."""
    status = next(status for kind, status in _STATUSES if isinstance(error, kind))
    if isinstance(error, KeywardNetworkError):
        print(f"The license server cannot be reached. {next_network_step(error)}", file=sys.stderr)
    if isinstance(error, KeywardSignatureError):
        print("The response is not from the license server. Tally stops.", file=sys.stderr)
    print(error, file=sys.stderr)
    if isinstance(error, RefusedError):
        for page in error.pages:
            print(f"{page.name}: {page.url}", file=sys.stderr)
    return status


def _until(time_text: Optional[str]) -> str:
    return "further notice" if time_text is None else moment(time_text)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tally", description="Counts the words and the reading time of your texts.")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--key", help="activate with this license key; it is remembered")
    parser.add_argument("--total", action="store_true", help="add a line for all texts, if your license includes it")
    parser.add_argument("--watch", action="store_true", help="count again whenever a file changes")
    parser.add_argument("--window", action="store_true", help="count the first text in a window")
    parser.add_argument("--sign-out", action="store_true", help="forget the license")
    offline = parser.add_argument_group("machines that are never online")
    offline.add_argument("--offline-request", metavar="KEY", help="print the request for your vendor")
    offline.add_argument("--activate", metavar="FILE", help="accept the file that your vendor sent")
    offline.add_argument("--deactivate", action="store_true", help="give the license back; prints a code for your vendor")
    return parser


if __name__ == "__main__":
    sys.exit(main())
